"""The record is taken, refused, written and found wrong, in runs of a small repository of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .digest import environment

pytestmark = pytest.mark.proof()
HERE = Path(__file__).parent
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n'
    'addopts = "--strict-markers --import-mode=importlib"\nfilterwarnings = ["error"]\n',
    "tests/__init__.py": "",
    "tests/conftest.py": 'pytest_plugins = ["tests.records.plugin"]\n',
    "library.py": "def double(x):\n    return 2 * x\n",
    "one.txt": "1",
    "two.txt": "2",
    "tests/test_proofs.py": """
from pathlib import Path
import pytest
from library import double

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.proof(depends=lambda name: f"{name}.txt", area=lambda name: f"areas/{name}")


def note(text):
    with (ROOT / "log").open("a") as file:
        file.write(text)


@pytest.fixture(scope="module")
def dear():
    note("made;")


@pytest.mark.parametrize("name", ["one", "two"])
def test_text_is_a_number(name, dear):
    note(f"{name};")
    assert double(int((ROOT / f"{name}.txt").read_text())) < 9
""",
    "tests/test_others.py": """
import pytest


def test_what_is_no_proof():
    assert True


@pytest.mark.proof(depends="one.txt")
@pytest.mark.parametrize("n", [1, 2])
def test_area_is_the_files_own(n):
    assert n < 2 or pytest.skip("only sometimes")


@pytest.mark.full
def test_the_whole():
    assert True
""",
}


class Sandbox:
    """A repository with the record's own mechanism, and runs of its tests."""

    def __init__(self, root):
        self.root = root
        for name, text in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        (root / "tests" / "records").mkdir()
        for path in HERE.glob("*.py"):
            if not path.name.startswith("test_"):
                shutil.copyfile(path, root / "tests" / "records" / path.name)

    def run(self, mode, *options):
        """Counts by word from the summary, what the summary says of the proofs, and which proofs did run."""
        (self.root / "log").unlink(missing_ok=True)
        plugins = ["-p", "no:cacheprovider", "-p", "xdist", f"--basetemp={self.root / 'tmp'}"]
        command = [sys.executable, "-m", "pytest", "-q", *plugins, f"--records={mode}", *options]
        environment = os.environ | {"PYTEST_ADDOPTS": "", "PYTHONPATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=100)
        self.output = done.stdout + done.stderr
        summary = re.search(r"=+ proofs: (.*?) =+", self.output)
        counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", self.output.splitlines()[-1])}
        log = (self.root / "log").read_text() if (self.root / "log").exists() else ""
        return counts, summary and summary[1], sorted(set(log.split(";")) - {""})

    def record(self, area):
        path = self.root / "tests" / "records" / "proven" / f"{area}.json"
        return json.loads(path.read_text())[environment()] if path.exists() else None


@pytest.fixture
def repository(tmp_path):
    return Sandbox(tmp_path)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_proof_is_run_once_and_again_when_its_dependency_changes(repository, workers):
    run = repository.run
    counts, proofs, ran = run("take", "-n", workers)
    assert (counts["passed"], proofs, ran) == (4, "3 proven anew, 1 skipped", ["made", "one", "two"])
    assert repository.record("areas/one") is None and "`make record`" in repository.output  # take does not write
    counts, proofs, ran = run("write", "-n", workers)
    assert (counts["passed"], proofs, ran) == (4, "3 proven anew, 1 skipped", ["made", "one", "two"])
    assert [*repository.record("areas/one").values()] == [["tests/test_proofs.py::test_text_is_a_number[one]"]]
    assert [*repository.record("test_others").values()] == [["tests/test_others.py::test_area_is_the_files_own[1]"]]
    counts, proofs, ran = run("take", "-n", workers)
    assert (counts["passed"], proofs, ran) == (4, "3 on record, 1 skipped", [])
    (repository.root / "two.txt").write_text("3")
    counts, proofs, ran = run("take", "-n", workers)
    assert (counts["passed"], proofs, ran) == (4, "2 on record, 1 proven anew, 1 skipped", ["made", "two"])
    (repository.root / "library.py").write_text("def double(x):\n    return x + x\n")
    counts, proofs, ran = run("take", "-n", workers)
    assert (counts["passed"], proofs, ran) == (4, "1 on record, 2 proven anew, 1 skipped", ["made", "one", "two"])


@pytest.mark.parametrize("workers", ["0"])
def test_a_proof_that_fails_is_not_on_record_any_more(repository, workers):
    repository.run("write", "-n", workers)
    (repository.root / "two.txt").write_text("200")
    counts, proofs, _ = repository.run("take", "-n", workers)
    assert counts["failed"] == 1 and proofs == "2 on record, 1 failed, 1 skipped"
    assert repository.record("areas/two")  # it does not match, and only a run that writes takes it away
    repository.run("write", "-n", workers)
    assert repository.record("areas/two") is None and repository.record("areas/one")


@pytest.mark.parametrize("workers", ["0", "2"])
def test_everything_proven_anew_shows_a_record_that_was_wrong(repository, workers):
    repository.run("write", "-n", workers)
    counts, proofs, ran = repository.run("check", "-n", workers)
    assert (counts["passed"], proofs) == (5, "3 proven anew, 1 skipped") and ran == ["made", "one", "two"]
    # A file that no mark declares: the record matches, and what it says no longer holds.
    path = repository.root / "tests" / "test_proofs.py"
    path.write_text(path.read_text().replace('f"{name}.txt").read', '"three.txt").read'))
    (repository.root / "three.txt").write_text("3")
    repository.run("write", "-n", workers)
    (repository.root / "three.txt").write_text("300")
    counts, proofs, _ = repository.run("take", "-n", workers)
    assert counts.get("failed") is None and proofs == "3 on record, 1 skipped"
    counts, proofs, _ = repository.run("check", "-n", workers)
    assert counts["failed"] == 2
    for name in ("one", "two"):
        assert f"the record of tests/test_proofs.py::test_text_is_a_number[{name}] was wrong" in repository.output


def test_a_run_told_nothing_about_the_record_runs_everything(repository):
    repository.run("write")
    counts, proofs, ran = repository.run("ignore")
    assert (counts["passed"], proofs, ran) == (5, None, ["made", "one", "two"])


def test_a_run_of_everything_takes_proofs_away_that_no_longer_exist_and_a_run_of_a_part_does_not(repository):
    repository.run("write")
    (repository.root / "tests" / "test_others.py").unlink()
    repository.run("write", "-k", "one")
    assert repository.record("test_others")
    repository.run("write", "tests/test_proofs.py")
    assert repository.record("test_others")
    repository.run("write")
    assert repository.record("test_others") is None and repository.record("areas/one")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_changes_while_it_is_proven_is_not_written_down(repository, workers):
    path = repository.root / "tests" / "test_proofs.py"
    path.write_text(path.read_text() + '    if name == "two":\n        (ROOT / "two.txt").write_text("22")\n')
    counts, proofs, _ = repository.run("write", "-n", workers)
    assert counts["passed"] == 4 and proofs == "3 proven anew, 1 skipped"
    assert "not written down: what tests/test_proofs.py::test_text_is_a_number[two]" in repository.output
    assert repository.record("areas/two") is None and repository.record("areas/one")


def test_what_was_proven_elsewhere_stays_while_it_matches(repository):
    repository.run("write")
    path = repository.root / "tests" / "records" / "proven" / "areas" / "two.json"
    here = json.loads(path.read_text())
    path.write_text(json.dumps({"cpython-399-linux-x86_64": here[environment()]}))
    _, proofs, _ = repository.run("take")
    assert proofs == "2 on record, 1 proven anew, 1 skipped"
    repository.run("write")
    assert json.loads(path.read_text()) == here | {"cpython-399-linux-x86_64": here[environment()]}
    (repository.root / "two.txt").write_text("4")
    repository.run("write")
    assert json.loads(path.read_text()).keys() == {environment()}


@pytest.mark.parametrize(
    ("mark", "complaint"),
    [
        ('depends="gone.txt"', "depends on 'gone.txt', and no file"),
        ('dependent="one.txt"', "marked with depends=, ignores=, collects= and area= alone"),
    ],
)
def test_a_mark_that_says_nothing_true_is_an_error(repository, mark, complaint):
    text = f"import pytest\n\n@pytest.mark.proof({mark})\ndef test_it():\n    pass\n"
    (repository.root / "tests" / "test_others.py").write_text(text)
    repository.run("take")
    assert complaint in repository.output and "test_others.py::test_it" in repository.output
