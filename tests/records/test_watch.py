"""A proof opens no file of the repository that its key does not cover."""

import random
from datetime import date

import pytest

from autograder.course.paths import ROOT

from .digest import environment
from .plugin import FOLDER
from .record import Record
from .test_plugin import Sandbox
from .watch import DidNotPass, undeclared

RECORD = Record(FOLDER, environment())


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("area", [area for area in RECORD.areas() if RECORD.tests(area)])
def test_a_proof_on_record_opens_nothing_that_it_does_not_declare(area):
    """One proof of each area, another one every day."""
    test = random.Random(f"{date.today()} {area}").choice(RECORD.tests(area))
    assert undeclared(ROOT, test) == [], test


READS = """
import subprocess, sys
from pathlib import Path
import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.proof({mark})
def test_it():
    {body}
"""


@pytest.mark.proof()
@pytest.mark.parametrize(
    ("mark", "body", "expected"),
    [
        ("", "(ROOT / 'one.txt').read_text()", ["one.txt"]),
        ("depends='one.txt'", "(ROOT / 'one.txt').read_text()", []),
        ("depends='*.txt'", "(ROOT / 'one.txt').read_text()", []),
        ("ignores='one.txt'", "(ROOT / 'one.txt').read_text()", []),
        ("collects='one.txt'", "(ROOT / 'one.txt').read_text()", ["one.txt"]),
        ("collects='one.txt'", "pass\n\nONE = (ROOT / 'one.txt').read_text()", []),
        ("", "pass\n\nONE = (ROOT / 'one.txt').read_text()", ["one.txt"]),
        ("", "import library", []),
        ("", "__import__('lib' + 'rary')", ["library.py"]),
        ("", "subprocess.run([sys.executable, '-c', 'import library'], cwd=ROOT, check=True)", ["library.py"]),
        ("", "(ROOT / 'new.txt').write_text('x'); (ROOT / 'new.txt').unlink()", []),
        ("", "(ROOT / 'a.egg-info').mkdir(exist_ok=True); (ROOT / 'a.egg-info' / 'top.txt').write_text('x')", []),
    ],
)
def test_a_file_that_a_proof_opens_without_declaring_it_is_named(tmp_path, mark, body, expected):
    repository = Sandbox(tmp_path)
    (tmp_path / "tests" / "test_others.py").write_text(READS.format(mark=mark, body=body))
    for _ in range(1 + (body == "import library")):  # the second time it is compiled
        assert undeclared(repository.root, "tests/test_others.py::test_it") == expected


@pytest.mark.proof()
def test_a_proof_that_fails_when_it_is_watched_and_a_test_that_is_none_are_errors(tmp_path):
    repository = Sandbox(tmp_path)
    (tmp_path / "one.txt").write_text("100")
    with pytest.raises(DidNotPass, match=r"test_text_is_a_number\[one\] did not pass by itself"):
        undeclared(repository.root, "tests/test_proofs.py::test_text_is_a_number[one]")
    with pytest.raises(DidNotPass, match="is not marked as a proof"):
        undeclared(repository.root, "tests/test_others.py::test_what_is_no_proof")
