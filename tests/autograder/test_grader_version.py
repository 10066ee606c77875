"""The grader's version changes with whatever can change a verdict, and with nothing else."""

import re
import shutil

import pytest

from autograder import version
from autograder.course.paths import ROOT

COUNTED = (
    "autograder/answer_key/hidden/masks.py",
    "autograder/answer_key/misconceptions/_mask_forms.py",
    "autograder/build/stubs.py",
    "autograder/course/policy.py",
    "autograder/judge/judge.py",
    "autograder/sandbox/runner.py",
    "solutions/attention/masks.py",
    "src/selfcheck/compare.py",
    "src/selfcheck/checks/masks.py",
    "src/selfcheck/catalogue/masks.toml",
    "src/selfcheck/recorded/masks.json",
)
IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import (.+)$", re.MULTILINE)


@pytest.fixture
def copy(tmp_path):
    """A copy of the parts of the repository that the version is about."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("autograder", "solutions/attention", "src/selfcheck"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    return tmp_path


def change(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")


@pytest.mark.parametrize("name", COUNTED)
def test_a_change_of_what_judges_is_a_new_version(copy, name):
    before = version.digest_of(copy)
    change(copy / name)
    assert version.digest_of(copy) != before


def test_a_module_that_moves_within_what_judges_is_a_new_version(copy):
    before = version.digest_of(copy)
    deeper = copy / "autograder" / "judge" / "deeper"
    deeper.mkdir()
    (copy / "autograder" / "judge" / "schedule.py").rename(deeper / "schedule.py")
    moved = version.digest_of(copy)
    assert moved != before
    change(deeper / "schedule.py")
    assert version.digest_of(copy) != moved


def test_a_part_that_is_gone_is_told_by_name(copy):
    shutil.rmtree(copy / "autograder" / "judge")
    with pytest.raises(FileNotFoundError, match="autograder/judge is named in autograder/version.py"):
        version.digest_of(copy)


def test_every_file_of_the_grader_is_counted_or_named_as_one_that_is_not():
    """A module that moves out of the counted packages, or a new one beside them, does not silently leave it."""
    named = [ROOT / part for part in (*version.PARTS, *version.APART)]
    for path in (ROOT / "autograder").rglob("*.py"):
        assert any(path.is_relative_to(part) for part in named), f"name {path.relative_to(ROOT)} in version.py"


def test_what_is_counted_imports_nothing_of_the_grader_that_is_not():
    counted = [ROOT / part for part in version.PARTS if part.startswith("autograder")]
    files = [path for part in counted for path in (part.rglob("*.py") if part.is_dir() else [part])]
    assert len(files) > 50
    outside = set()
    for path in files:
        for dots, module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
            folder = path.parents[len(dots) - 1].joinpath(*module.split(".")) if module else path.parents[len(dots) - 1]
            for name in re.findall(r"\w+", names.partition("#")[0]):
                file = next((one for one in (folder / f"{name}.py", folder.with_suffix(".py")) if one.exists()), None)
                if file and not any(file.is_relative_to(part) for part in counted):
                    outside.add(f"{path.relative_to(ROOT)} imports {file.relative_to(ROOT)}")
    assert outside == set()


def test_a_change_of_the_report_or_of_the_benchmark_has_nobody_regraded(copy):
    before = version.digest_of(copy)
    changed = [path for package in ("report", "bench") for path in (copy / "autograder" / package).glob("*.py")]
    assert len(changed) > 10
    for path in changed:
        change(path)
    assert version.digest_of(copy) == before
