"""What is taken of a submission, and what is not."""

import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import pytest

from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.intake import archive as arrivals
from autograder.intake import notebook as rebuilding
from autograder.intake import store

RELEASED = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "Read me"},
        {
            "cell_type": "code",
            "metadata": {"nbgrader": {"grade_id": "masks-causal_mask", "grade": True, "solution": False}},
            "source": 'check("masks.causal_mask")',
        },
        {
            "cell_type": "markdown",
            "metadata": {"nbgrader": {"grade_id": "ps3-why", "grade": True, "solution": True}},
            "source": "YOUR ANSWER HERE",
        },
    ]
}


@pytest.fixture
def course(tmp_path):
    course = Course.open(tmp_path / "course")
    course.release("ps3").mkdir(parents=True)
    (course.release("ps3") / "ps3.ipynb").write_text(json.dumps(RELEASED))
    return course


def submitted(*cells):
    return json.dumps({"cells": list(cells)}).encode()


def answered(text, source=None):
    cell = json.loads(json.dumps(RELEASED["cells"][2]))
    cell["source"] = text if source is None else source
    return cell


def test_a_written_answer_is_put_into_the_released_notebook():
    notebook, remarks = rebuilding.rebuild(RELEASED, submitted(RELEASED["cells"][1], answered("Because.")))
    assert notebook["cells"][2]["source"] == "Because." and remarks == ()
    assert RELEASED["cells"][2]["source"] == "YOUR ANSWER HERE"


def test_an_edited_grade_cell_changes_nothing():
    forged = json.loads(json.dumps(RELEASED["cells"][1]))
    forged["source"], forged["metadata"]["nbgrader"]["points"] = "1000", 1000
    notebook, _ = rebuilding.rebuild(RELEASED, submitted(forged, answered("x")))
    assert notebook["cells"][1] == RELEASED["cells"][1]


def test_a_deleted_cell_is_put_back_and_a_doubled_one_counts_once():
    notebook, remarks = rebuilding.rebuild(RELEASED, submitted(answered("first"), answered("first")))
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["markdown", "code", "markdown"]
    assert notebook["cells"][2]["source"] == "first"
    assert "the cell masks-causal_mask was deleted: put back" in remarks
    assert "the cell ps3-why is there 2 times: the first counts" in remarks


def plain(text, kind="markdown"):
    return {"cell_type": kind, "metadata": {}, "source": text}


PROMPT, CALL, BLANK = RELEASED["cells"]
OWN_CELLS = {
    "split in two": ((answered("One."), answered("Two.")), "One.\n\nTwo."),
    "the blank cell kept above": ((PROMPT, CALL, BLANK, plain("One."), plain("Two.", "raw")), "One.\n\nTwo."),
    "goes on below": ((CALL, answered("One."), plain("Two.")), "One.\n\nTwo."),
    "metadata lost": ((PROMPT, plain(CALL["source"], "code"), plain("One.")), "One."),
    "the second copy answered": ((BLANK, CALL, answered("One.")), "One."),
    "code of one's own behind": ((CALL, BLANK, plain("1 + 1", "code"), plain("A title.")), "YOUR ANSWER HERE"),
    "unanswered": ((CALL, BLANK, PROMPT), "YOUR ANSWER HERE"),
}


@pytest.mark.parametrize("cells, answer", OWN_CELLS.values(), ids=OWN_CELLS)
def test_an_answer_in_cells_of_ones_own_is_found(cells, answer):
    notebook, remarks = rebuilding.rebuild(RELEASED, submitted(*cells))
    assert notebook["cells"][2]["source"] == answer
    assert ("Two" in answer) <= any("goes on in other cells" in remark for remark in remarks)


BROKEN = [b"{", b"[]", b'{"cells": 3}', b"\xff\xfe", b"[" * 100_000, b'{"cells": [1, {"metadata": 5}, {"source": {}}]}']


@pytest.mark.parametrize("data", BROKEN)
def test_a_broken_notebook_leaves_the_released_one(data):
    notebook, remarks = rebuilding.rebuild(RELEASED, data)
    assert notebook == RELEASED and remarks


def test_only_modules_and_the_notebook_are_taken_from_a_folder(tmp_path):
    folder = tmp_path / "in"
    (folder / "attention" / "deep").mkdir(parents=True)
    for name in ("attention/masks.py", "attention/deep/masks.py", "torch.py", "sitecustomize.py", "attention/x.so"):
        (folder / name).write_text("text")
    (folder / "attention" / "scores.py").symlink_to("/etc/passwd")
    received = arrivals.read_folder(folder, "ps3")
    assert set(received.files) == {"masks.py"} and received.notebook is None
    told = " ".join(received.remarks)
    assert all(name in told for name in ("torch.py", "sitecustomize.py", "x.so", "deep/masks.py", "scores.py"))


def test_a_zip_is_read_without_being_unpacked(tmp_path):
    path = tmp_path / "ps3.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("attention/masks.py", "x = 1")
        archive.writestr("ps3.ipynb", "{}")
        archive.writestr("../../evil.py", "x")
        archive.writestr("attention/bomb.py", b"0" * (arrivals.MOST_NOTEBOOK_BYTES + 10))
    received = arrivals.read_zip(path, "ps3")
    assert received.files == {"masks.py": b"x = 1"} and received.notebook == b"{}"
    assert "evil.py" in " ".join(received.remarks) and "bomb.py" in " ".join(received.remarks)


def test_a_zip_in_a_folder_of_the_problem_sets_name_is_understood(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ps3/attention/masks.py", "x = 1")
    assert set(arrivals.read_zip(path, "ps3").files) == {"masks.py"}


def test_a_submission_that_came_another_way_is_cleaned_once_and_kept(course):
    folder = course.submitted("ada", "ps3")
    (folder / "attention").mkdir(parents=True)
    (folder / "attention" / "masks.py").write_text("x = 1")
    (folder / "torch.py").write_text("raise SystemExit")
    (folder / "ps3.ipynb").write_text("{")
    (folder / "timestamp.txt").write_text("2026-01-02 03:04:05 UTC")
    remarks = store.take_in(course, "ada", "ps3").remarks
    assert not (folder / "torch.py").exists() and "torch.py" in " ".join(remarks)
    assert json.loads((folder / "ps3.ipynb").read_text()) == RELEASED
    assert (folder / "timestamp.txt").read_text() == "2026-01-02 03:04:05 UTC"
    kept = list(course.received("ada", "ps3").glob("*/submission/torch.py"))
    assert len(kept) == 1
    assert store.take_in(course, "ada", "ps3").remarks == remarks
    assert len(list(course.received("ada", "ps3").iterdir())) == 1


def test_a_file_slipped_in_after_cleaning_is_cleaned_again(course):
    store.store(course, "ada", "ps3", arrivals.Received({"masks.py": b"x = 1"}, None, ()))
    (course.submitted("ada", "ps3") / "torch.py").write_text("x")
    store.take_in(course, "ada", "ps3")
    assert not (course.submitted("ada", "ps3") / "torch.py").exists()


TAKE_IN = """
import json, sys
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.intake.store import is_current, take_in

course, opened = Course.open(sys.argv[1]), []
sys.addaudithook(lambda event, given: event == "open" and opened.append(str(given[0])))
submission = take_in(course, "ada", "ps3")
print(json.dumps([path for path in opened if "/submitted/" in path]))
assert is_current(course, submission)
"""


def test_a_clean_submission_is_read_once_to_be_taken_in(course):
    files = {"masks.py": b"x = 1", "scores.py": b"y = 2"}
    store.store(course, "ada", "ps3", arrivals.Received(files, submitted(answered("Because.")), ()))
    folder = course.submitted("ada", "ps3")
    done = subprocess.run(
        [sys.executable, "-c", TAKE_IN, str(course.root)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    everything = [str(path) for path in folder.rglob("*") if path.is_file()]
    assert sorted(json.loads(done.stdout)) == sorted(everything) and len(everything) == 5


def test_a_submission_is_a_value_that_knows_whether_its_folder_is_still_the_same(course):
    files = {"masks.py": b"x = 1"}
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    store.store(course, "ada", "ps3", arrivals.Received(files, submitted(answered("Because.")), (), "7e" * 64), when)
    taken = store.take_in(course, "ada", "ps3")
    assert (taken.files, taken.arrived, taken.ticket) == (files, when, "7e" * 64)
    assert json.loads(taken.notebook)["cells"][2]["source"] == "Because."
    assert store.is_current(course, taken)
    for name, text in (
        ("attention/masks.py", "x = 2"),
        ("ps3.ipynb", "{}"),
        ("timestamp.txt", "2026-01-03 00:00:00 UTC"),
    ):
        path = course.submitted("ada", "ps3") / name
        before = path.read_bytes()
        path.write_text(text)
        assert not store.is_current(course, taken)
        path.write_bytes(before)
    assert store.is_current(course, taken)
    later = arrivals.Received(files, submitted(answered("Now I know.")), ())
    store.store(course, "ada", "ps3", later, when)
    assert not store.is_current(course, taken)


DIGEST_OF_0_5_0 = "f27d368dd902f19acb0c2a035d735966cec748fe2e7ed8b8e9749881d18290d9"


def test_a_mark_of_an_earlier_version_is_known_again(course):
    """The digest over names, kinds and contents is that of version 0.5.0: nobody's folder is cleaned anew."""
    folder = course.submitted("ada", "ps3")
    (folder / "attention").mkdir(parents=True)
    for name, text in (("attention/masks.py", "x = 1\n"), ("ps3.ipynb", "{}"), ("submission_secret.txt", "7e")):
        (folder / name).write_text(text)
    (folder / "timestamp.txt").write_text("2026-01-02 03:04:05 UTC")
    mark = course.intake_file("ada", "ps3")
    mark.parent.mkdir(parents=True)
    mark.write_text(json.dumps({"digest": DIGEST_OF_0_5_0, "remarks": ["known"]}))
    assert store.take_in(course, "ada", "ps3").remarks == ("known",)
    assert not course.received("ada", "ps3").exists()


@pytest.mark.parametrize("link", ["eve", "eve/ps3"])
def test_a_link_to_what_somebody_else_has_handed_in_is_nobodys_submission(course, link):
    there = course.submitted("ada", "ps3")
    (there / "attention").mkdir(parents=True)
    (there / "attention" / "masks.py").write_text("x = 1\n")
    (there / "ps3.ipynb").write_bytes(submitted(answered("Because.")))
    place = course.root / "submitted" / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(there if "/" in link else there.parent)
    assert course.students("ps3") == ["ada", "eve"]
    with pytest.raises(store.Unrecognised, match="eve/ps3 is a link"):
        store.take_in(course, "eve", "ps3")
    assert store.take_in(course, "ada", "ps3").files
