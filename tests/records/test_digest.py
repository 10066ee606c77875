"""The key of a proof changes with everything the proof depends on, and with nothing else."""

import shutil

import pytest

from autograder.course.paths import ROOT
from selfcheck.catalogue import exercises
from tests.exercises.parts import PARTS, proof_of_an_exercise

from . import digest
from .digest import Digests, UnknownDependency
from .plugin import FOLDER

MODULES = list(dict.fromkeys(exercise.module for exercise in exercises()))
PROOFS = "tests/exercises/test_proofs.py"
COPIED = ("solutions/attention", "src/selfcheck", "autograder", "tests/alternatives", "tests/exercises")
JUDGING = ("src/selfcheck/compare.py", "src/selfcheck/arrays.py", PROOFS, "tests/exercises/parts.py")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of what the proofs of the exercises depend on."""
    root = tmp_path_factory.mktemp("repository")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", root / "pyproject.toml")
    shutil.copyfile(ROOT / "tests" / "__init__.py", root / "tests" / "__init__.py")
    return root


def keys(root):
    """The key of the proofs of each module's exercises, as their mark declares it."""
    digests, depends = Digests(root), proof_of_an_exercise.kwargs["depends"]
    first = {exercise.module: exercise for exercise in reversed(exercises())}
    return {module: digests.key(depends(first[module]), [root / PROOFS]) for module in MODULES}


def stale_after_a_change_of(root, pattern):
    """The modules whose proofs are stale once the file that a pattern names has another line."""
    (path,) = Digests(root).files(pattern)
    before, text = keys(root), path.read_bytes()
    path.write_bytes(text + b"\n")
    try:
        after = keys(root)
    finally:
        path.write_bytes(text)
    return {module for module in MODULES if after[module] != before[module]}


@pytest.mark.parametrize("module", ["masks", "classifier", "sequence_to_sequence"])
@pytest.mark.parametrize("part", [part for part in PARTS if not part.startswith("solutions/")])
def test_a_change_to_an_exercise_makes_its_proofs_stale_and_no_others(copy, part, module):
    assert stale_after_a_change_of(copy, part.format(module)) == {module}


def test_a_change_to_the_reference_makes_those_stale_that_build_on_it(copy):
    assert stale_after_a_change_of(copy, "solutions/attention/classifier.py") == {"classifier"}
    assert stale_after_a_change_of(copy, "solutions/attention/worked_example.py") == {"worked_example"}
    masks = stale_after_a_change_of(copy, "solutions/attention/masks.py")
    assert {"masks", "dot_product", "encoder"} <= masks and not {"worked_example", "scores"} & masks


def test_what_a_part_of_an_exercise_imports_belongs_to_it(copy):
    assert stale_after_a_change_of(copy, "autograder/**/misconceptions/_position_rotary.py") == {"positions"}
    assert stale_after_a_change_of(copy, "tests/alternatives/_classifier_pairs.py") == {"classifier"}
    assert stale_after_a_change_of(copy, "src/selfcheck/checks/_encoder_inputs.py") == {
        "encoder",
        "decoder",
        "sequence_to_sequence",
    }


@pytest.mark.parametrize("name", JUDGING)
def test_a_change_to_what_judges_makes_every_proof_stale(copy, name):
    assert stale_after_a_change_of(copy, name) == set(MODULES)


@pytest.mark.parametrize("name", ["book/guides/proven.txt", "autograder/**/course.py"])
def test_a_change_to_anything_else_leaves_every_proof_on_record(copy, name):
    (copy / "book/guides").mkdir(parents=True, exist_ok=True)
    (copy / "book/guides/proven.txt").touch()
    assert stale_after_a_change_of(copy, name) == set()


def test_pytests_settings_a_version_and_this_package_count_as_well(copy, monkeypatch, tmp_path):
    before = keys(copy)
    assert stale_after_a_change_of(copy, "pyproject.toml") == set()  # another line, the same settings
    text = (copy / "pyproject.toml").read_text()
    (copy / "pyproject.toml").write_text(text.replace("xfail_strict = true", "xfail_strict = false"))
    assert not before.items() & keys(copy).items()
    (copy / "pyproject.toml").write_text(text)
    installed = digest.importlib.metadata.version
    with monkeypatch.context() as patched:
        patched.setattr(digest.importlib.metadata, "version", lambda name: installed(name).split("+")[0] + "+cpu")
        assert keys(copy) == before  # the same release, built otherwise
        patched.setattr(digest.importlib.metadata, "version", lambda name: f"9{installed(name)}")
        assert not before.items() & keys(copy).items()
    (tmp_path / "plugin.py").write_text("# another mechanism\n")
    monkeypatch.setattr(digest, "MECHANISM", (tmp_path / "plugin.py",))
    assert not before.items() & keys(copy).items()


def test_a_dependency_that_is_not_there_is_an_error_that_names_it(copy):
    digests = Digests(copy)
    with pytest.raises(UnknownDependency, match="autograder/gone/masks.py"):
        digests.key(["autograder/gone/masks.py"], [])
    with pytest.raises(UnknownDependency, match=r"no file .* 'gone/\*\.py'|'gone/\*\.py'"):
        digests.key(["gone/*.py"], [])
    assert {path.name for path in digests.files("src/selfcheck/recorded")} >= {"__init__.py", "masks.json"}


def test_the_record_lies_beside_what_keeps_it_and_is_no_part_of_a_key(copy):
    assert FOLDER.parent == digest.MECHANISM[0].parent
    assert not [path for path in Digests(copy).closure([], []).files if path.suffix == ".json"]


def test_the_key_of_a_proof_about_a_page_holds_what_its_code_cells_import(copy):
    page = copy / "book" / "page.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(
        "Not `import attention.scores`.\n\n"
        "```{code-cell} ipython3\n:tags: [hide-input]\n%pip x\nimport attention.masks\n```\n"
    )
    closure = Digests(copy).closure(["book/page.md"], [])
    modules = {path.name for path in closure.files if path.parent.name == "attention"}
    assert {"masks.py", "_arguments.py"} <= modules and "scores.py" not in modules
    assert "torch" in closure.packages
