"""The grader's version changes with whatever can change a verdict, and with nothing else."""

import re
import shutil

import pytest

from autograder.course.paths import REFERENCE, ROOT, SELFCHECK
from autograder.judge import result

HASHED = (
    "autograder/judge/judge.py",
    "autograder/sandbox/runner.py",
    "autograder/answer_key/hidden/masks.py",
    "autograder/answer_key/misconceptions/_mask_forms.py",
    "solutions/attention/masks.py",
    "src/selfcheck/compare.py",
    "src/selfcheck/checks/masks.py",
    "src/selfcheck/catalogue/masks.toml",
    "src/selfcheck/recorded/masks.json",
)
APART = re.compile(r"^\s*from (?:(?:autograder)?\.(?:report|bench)[. ]|\. import .*\b(?:report|bench)\b)", re.MULTILINE)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the grader, which is what `version` is asked about."""
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in (ROOT / "autograder", REFERENCE, SELFCHECK):
        shutil.copytree(folder, tmp_path / folder.relative_to(ROOT), ignore=ignored)
    monkeypatch.setattr(result, "__file__", str(tmp_path / "autograder" / "verdicts.py"))
    for name, folder in (("REFERENCE", REFERENCE), ("SELFCHECK", SELFCHECK)):
        monkeypatch.setattr(result, name, tmp_path / folder.relative_to(ROOT))
    return tmp_path


def version():
    return result.grader_version.__wrapped__()  # the one of this process is worked out once


def change(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("\n# changed\n")


@pytest.mark.parametrize("name", HASHED)
def test_a_change_of_what_judges_is_a_new_version(copy, name):
    before = version()
    change(copy / name)
    assert version() != before


def test_a_change_of_the_report_or_of_the_benchmark_has_nobody_regraded(copy):
    before = version()
    changed = [path for package in ("report", "bench") for path in (copy / "autograder" / package).glob("*.py")]
    assert len(changed) > 10
    for path in changed:
        change(path)
    assert version() == before


def test_only_commands_know_of_the_report_and_of_the_benchmark():
    modules = (ROOT / "autograder").glob("*.py")
    knowing = {path.name for path in modules if APART.search(path.read_text(encoding="utf-8"))}
    assert knowing == {"course_commands.py", "demonstration.py"}
