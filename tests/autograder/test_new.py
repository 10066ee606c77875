"""`new` writes a whole exercise: in a copy of the repository it is built, proven and judged as it stands."""

import json
import re
import shlex

import pytest

from autograder.authoring import scaffold
from autograder.authoring.names import Refused
from autograder.authoring.scaffold import Wish
from autograder.authoring.source_text import with_continuation
from autograder.course.paths import BOOK, ROOT
from selfcheck.catalogue import exercises

from .repository_copy import FILES, FOLDERS, build, copied, run

#: What is made in a copy depends on all that is copied.
proof_of_the_copy = pytest.mark.proof(depends=[*FOLDERS, *FILES])

FUNCTION, CLASS = (
    Wish("rows.scaled_rows", "ps2"),
    Wish("scores.FeatureScale", "ps4", "5.90", "A scale for each feature"),
)
NUMBER = f"3.{1 + max(int(one.number[2:]) for one in exercises() if one.number.startswith('3.'))}"  # the next one
JUDGE = """
import json, sys
from autograder.answer_key.keys import PUBLIC_POLICY, live_answer_key
from autograder.judge.judge import judge_problem_set
from autograder.course.paths import REFERENCE
from autograder.sandbox.bubblewrap import open_sandbox

reference = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
wrong = reference | {"rows.py": b"def scaled_rows(x, factor):\\n    return x + factor\\n"}
found = {}
for name, files in {"reference": reference, "wrong": wrong}.items():
    results = judge_problem_set(files, live_answer_key("ps2", PUBLIC_POLICY), open_sandbox("auto"))
    one = next(one for one in results if one.exercise.id == "rows.scaled_rows")
    found[name] = [one.points, one.max_points, one.misconceptions]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy with two new exercises, a function in a module of its own and a class in an old one, and built."""
    root = copied(tmp_path_factory.mktemp("repository"))
    done = run(root, "-m", "autograder", "new", FUNCTION.id, "--problem-set", FUNCTION.problem_set)
    assert done.returncode == 0, done.stdout + done.stderr
    scaffold.write(root, CLASS)
    build(root, "rows", "scores")
    return root, done.stdout


@proof_of_the_copy
def test_it_lists_what_it_wrote_and_what_comes_next(repository):
    root, said = repository
    written = re.findall(r"^written: (\S+)$", said, flags=re.MULTILINE)
    assert len(written) == 10 and all((root / name).is_file() for name in written)
    commands = re.findall(r"^  (python .+?)  # ", said, flags=re.MULTILINE)
    assert len(commands) == 3 and commands[1].endswith("tests/exercises -k scaled_rows")


@proof_of_the_copy
def test_a_new_exercise_passes_every_proof_and_fails_only_where_its_author_has_to_write(repository):
    root, _ = repository
    chosen = ["tests/exercises", "tests/reference", "-k", "scaled_rows or FeatureScale or feature"]
    done = run(root, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--basetemp", f"{root}-tmp", *chosen)
    assert sorted(re.findall(r"^FAILED \S+::(\S+)", done.stdout, flags=re.MULTILINE)) == [
        f"{test}[{name}]"
        for test in (
            "test_nothing_stands_as_new_wrote_it",
            "test_sizes_that_are_kept_apart_elsewhere_are_equal_in_some_hidden_draw",
        )
        for name in (f"{NUMBER}-rows.scaled_rows", "5.90-scores.FeatureScale")
    ], done.stdout[-3000:] + done.stderr[-1000:]
    proofs = re.search(r"4 failed, (\d+) passed", done.stdout)
    assert proofs and int(proofs[1]) >= 20, done.stdout[-300:]
    for place in ("solutions/attention/rows.py:", "src/selfcheck/catalogue/rows.toml:", "book/chapters/03-scores.md:"):
        assert re.search(rf"{place}\d+: \w+", done.stdout), place


@proof_of_the_copy
def test_the_style_and_what_is_generated_are_in_order(repository):
    root, _ = repository
    for arguments in (["check"], ["format", "--check"]):
        done = run(root, "-m", "ruff", *arguments, "--no-cache", ".")
        assert done.returncode == 0, done.stdout
    texts = [path.read_text("utf-8") for path in (root / "book" / "notebooks").glob("*.ipynb")]
    assert sum('check(\\"rows.scaled_rows\\")' in text for text in texts) == 1
    assert sum(f"Exercise {NUMBER}: Scaled rows" in text for text in texts) == 2  # the chapter's and the problem set's
    assert not any("Yours to write" in text for text in texts)
    stub = (root / "src" / "attention" / "rows.py").read_text("utf-8")
    assert f'raise NotImplementedError("exercise {NUMBER}: Scaled rows")' in stub and "return factor" not in stub


@proof_of_the_copy
def test_the_reference_gets_full_marks_and_a_misconception_is_named(repository):
    root, _ = repository
    done = run(root, "-c", JUDGE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "reference": [3, 3, []],
        "wrong": [0, 3, ["scaled_rows_added"]],
    }


@pytest.mark.parametrize(
    ("wish", "complaint"),
    [
        (Wish("masks", "ps3"), "named module.symbol"),
        (Wish("masks.one.two", "ps3"), "named module.symbol"),
        (Wish("masks.lambda", "ps3"), "a word of Python's own"),
        (Wish("class.one", "ps3"), "a word of Python's own"),
        (Wish("Masks.one", "ps3"), "a module is small letters"),
        (Wish("masks2.one", "ps3"), "a module is small letters"),
        (Wish("masks.causalMask", "ps3"), "small_letters"),
        (Wish("masks.Causal_Mask", "ps3"), "CapitalisedWords"),
        (Wish("masks.2d", "ps3"), "small_letters"),
        (Wish("masks.größe", "ps3"), "small_letters"),
        (Wish("masks.../evil", "ps3"), "named module.symbol"),
        (Wish("masks." + "a" * 60, "ps3"), "up to 50 letters"),
        (Wish("masks.causal_mask", "ps3"), "an exercise already"),
        (Wish("masks.check_mask", "ps99"), "there is no problem set ps99; there are ps1, ps2"),
        (Wish("masks.one", "ps3", "4.2"), r"exercise 4\.2 already; the next free number is 4\.\d+"),
        (Wish("masks.one", "ps3", "four"), "such as 3.9"),
        (Wish("masks.one", "ps3", "77.1"), "chapter 77, which the book does not have"),
        (Wish("masks.one", "ps3", None, 'a "quoted" title'), "without quotes"),
        (Wish("worked_example.one", "ps1"), "does without torch"),
    ],
    ids=lambda value: value.id if isinstance(value, Wish) else "",
)
def test_what_cannot_be_made_is_refused_with_the_reason_and_nothing_is_written(wish, complaint, monkeypatch):
    monkeypatch.setattr(scaffold.Path, "write_text", lambda *_, **__: pytest.fail("something is written"))
    with pytest.raises(Refused, match=complaint):
        scaffold.write(ROOT, wish)


def test_the_command_in_the_instructors_guide_is_accepted():
    (command,) = re.findall(
        r"(?m)^python -m autograder new (.+)$", (BOOK / "guides" / "instructor.md").read_text("utf-8")
    )
    name, *options = shlex.split(command)
    given = dict(zip(options[::2], options[1::2], strict=True))
    made = scaffold.Scaffold(ROOT, Wish(name, given["--problem-set"], given["--number"], given["--title"]))
    assert len(made.files()) == 10


def test_a_module_whose_checks_list_what_others_use_takes_an_exercise_too():
    texts = scaffold.Scaffold(ROOT, Wish("dot_product.one_more", "ps2")).files()
    (checks,) = [text for path, text in texts.items() if path.parent.name == "checks"]
    assert '"one_more"' not in re.search(r"__all__ = \[[^\]]*\]", checks)[0]


@proof_of_the_copy
def test_a_second_time_everything_is_there_already_and_stays(repository):
    root, _ = repository
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*.*")}
    with pytest.raises(Refused, match="rows.scaled_rows is an exercise already"):
        scaffold.write(root, FUNCTION)
    with pytest.raises(Refused, match="has a section labelled sec-scores-feature-scale already"):
        scaffold.write(root, Wish("scores.feature_scale", "ps2"))  # differs from the class's name in form alone
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*.*")} == before


def test_a_name_that_a_file_has_already_and_a_file_that_grows_too_long_are_refused(tmp_path):
    root = copied(tmp_path)
    path = root / "solutions" / "attention" / "scores.py"
    path.write_text(path.read_text("utf-8") + "\n\ndef mine() -> None:\n    pass\n", encoding="utf-8")
    with pytest.raises(Refused, match=r"scores\.py has a mine already"):
        scaffold.write(root, Wish("scores.mine", "ps2"))
    path.write_text(path.read_text("utf-8") + "\n" + "# a line\n" * 280, encoding="utf-8")
    with pytest.raises(Refused, match=r"scores\.py would have 3\d\d lines, and 300 are the most"):
        scaffold.write(root, Wish("scores.yours", "ps2"))


def test_where_a_bank_is_full_the_exercise_has_a_file_beside_it(tmp_path):
    root = copied(tmp_path)
    bank = root / "autograder" / "answer_key" / "misconceptions" / "masks.py"
    text = bank.read_text("utf-8")
    bank.write_text(text + "# a line\n" * (300 - len(text.splitlines()) - 3), encoding="utf-8")
    written = scaffold.write(root, Wish("masks.one_more", "ps3"))
    assert bank.with_name("_masks_one_more.py").relative_to(root) in written
    found = "from autograder.answer_key.misconceptions import misconceptions_of; print(*misconceptions_of('masks.{}'))"
    assert run(root, "-c", found.format("one_more")).stdout.split() == ["one_more_added", "one_more_divided"]
    assert "true_at_padding" in run(root, "-c", found.format("padding_mask")).stdout
    assert any(str(bank.parent.relative_to(root)) in line for line in scaffold.left_to_write(root, "masks.one_more"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from . import bank\n", "from . import (\n    bank,\n    _more,  # noqa: F401\n)\n"),
        ("from . import _old  # noqa: F401\n", "from . import (  # noqa: F401\n    _old,\n    _more,\n)\n"),
        (
            "from . import (\n    _old,  # noqa: F401\n    bank,\n)\n",
            "from . import (\n    _old,  # noqa: F401\n    bank,\n    _more,  # noqa: F401\n)\n",
        ),
        ("from . import _old as old\n", "\nfrom . import _more  # noqa: F401\n\nfrom . import _old as old\n"),
    ],
)
def test_a_file_beside_a_bank_is_imported_in_the_form_that_the_bank_has(source, expected):
    assert with_continuation(source, "_more") == expected


def test_a_disk_that_fails_in_the_middle_leaves_nothing_behind(tmp_path, monkeypatch):
    root = copied(tmp_path)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    write_text = scaffold.Path.write_text

    def fail(path, *arguments, **options):
        if path.name.startswith("test_"):
            raise OSError(28, "No space left on device", str(path))
        return write_text(path, *arguments, **options)

    monkeypatch.setattr(scaffold.Path, "write_text", fail)
    with pytest.raises(Refused, match="No space left on device; nothing is written"):
        scaffold.write(root, FUNCTION)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("module", "problem_set", "chapter"),
    [("dot_product", "ps2", "3"), ("dot_product", "ps3", "4"), ("efficient", "ps9", "10"), ("efficient", "ps10", "11")],
)
def test_of_a_module_of_two_problem_sets_the_number_follows_the_set(module, problem_set, chapter):
    made = scaffold.Scaffold(ROOT, Wish(f"{module}.one_more", problem_set))
    assert made._number.partition(".")[0] == chapter
