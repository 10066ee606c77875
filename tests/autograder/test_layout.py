"""What was handed in is unwrapped from whatever is around it, or refused with what was found and what was expected."""

import json
import zipfile

import pytest

from autograder.build import stubs
from autograder.intake import archive, layout

WRITTEN = b"def softmax(scores, axis=-1):\n    return scores\n"
STUBS = {name: text.encode() for name, text in stubs.all_stubs().items()}
NOTEBOOK = json.dumps({"cells": []}).encode()
WHOLE = {"attention/worked_example.py": WRITTEN, "ps1.ipynb": NOTEBOOK}


def under(folder):
    return {f"{folder}/{name}": data for name, data in WHOLE.items()}


AROUND = {
    "nothing": WHOLE,
    "student": under("ada"),
    "problem set": under("ps1"),
    "numbered": under("ps1-2"),
    "several": under("Users/ada/Desktop/My Course (final)/ps1"),
    "backslashes": {name.replace("/", "\\"): data for name, data in under("ada\\ps1").items()},
    "macOS": under("ps1") | {"__MACOSX/ps1/attention/._worked_example.py": b"\0\5", "ps1/.DS_Store": b"x"},
    "Windows": under("ps1") | {"ps1/Thumbs.db": b"x", "ps1/desktop.ini": b"x"},
    "checkpoints": WHOLE | {".ipynb_checkpoints/ps1-checkpoint.ipynb": b"{", "attention/__pycache__/x.pyc": b""},
    "a release": under("ps1") | {"ps1/selfcheck/checks/worked_example.py": b"x", "ps1/timestamp.txt": b"x"},
    "flat": {"worked_example.py": WRITTEN, "ps1.ipynb": NOTEBOOK},
    "flat in a folder": {"homework/worked_example.py": WRITTEN, "homework/ps1.ipynb": NOTEBOOK},
    "another name for the package": {"attention-2/worked_example.py": WRITTEN, "ps1.ipynb": NOTEBOOK},
    "numbered files": {"attention/worked_example (1).py": WRITTEN, "ps1 (2).ipynb": NOTEBOOK},
    "numbered by Canvas": {"worked_example-1.py": WRITTEN, "ps1-1.ipynb": NOTEBOOK},
    "a copy on Colab": {"attention/worked_example.py": WRITTEN, "Copy of ps1.ipynb": NOTEBOOK},
    "a notebook apart": {"code/attention/worked_example.py": WRITTEN, "notebooks/ps1.ipynb": NOTEBOOK},
    "the course's own clone": {
        "src/attention/worked_example.py": WRITTEN,
        "solutions/attention/worked_example.py": b"the solution",
        "book/notebooks/ps1.ipynb": NOTEBOOK,
        "book/notebooks/ps2.ipynb": NOTEBOOK,
    },
}
UNTOLD = ("nothing", "student", "problem set", "numbered", "several", "backslashes", "macOS", "Windows", "checkpoints")


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return path


def laid_out(place, files):
    for name, data in files.items():
        path = place / name.replace("\\", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", [zipped, laid_out])
def test_a_submission_is_unwrapped_from_whatever_is_around_it(tmp_path, around, form):
    place = tmp_path / "ps1.zip" if form is zipped else tmp_path
    received = archive.read_path(form(place, AROUND[around]), "ps1")
    assert (received.files, received.notebook, received.refusal) == ({"worked_example.py": WRITTEN}, NOTEBOOK, "")
    if around in (*UNTOLD, "a release", "flat", "flat in a folder", "another name for the package"):
        assert received.remarks == ()
    if "numbered files" in around:
        assert "worked_example (1).py is taken for worked_example.py" in received.remarks
        assert "ps1 (2).ipynb is taken for ps1.ipynb" in received.remarks


def test_a_helper_beside_flat_modules_is_taken_too(tmp_path):
    files = {"worked_example.py": WRITTEN, "helpers.py": b"x = 1", "ps1.ipynb": NOTEBOOK}
    assert set(archive.read_folder(laid_out(tmp_path, files), "ps1").files) == {"worked_example.py", "helpers.py"}


def test_a_zip_in_a_zip_or_alone_in_a_folder_is_opened_once(tmp_path):
    inner = zipped(tmp_path / "inner.zip", under("ada")).read_bytes()
    outer = zipped(tmp_path / "outer.zip", {"ada/ps1.zip": inner, "__MACOSX/ada/._ps1.zip": b"x"})
    assert archive.read_zip(outer, "ps1").files == {"worked_example.py": WRITTEN}
    alone = laid_out(tmp_path / "alone", {"ps1.zip": inner})
    assert archive.read_folder(alone, "ps1").files == {"worked_example.py": WRITTEN}
    thrice = zipped(tmp_path / "thrice.zip", {"outer.zip": outer.read_bytes()})
    assert archive.read_zip(thrice, "ps1").refusal


def test_the_notebook_or_a_module_alone_is_taken(tmp_path):
    laid_out(tmp_path, {"ps1.ipynb": NOTEBOOK, "worked_example.py": WRITTEN})
    assert archive.read_path(tmp_path / "ps1.ipynb", "ps1").notebook == NOTEBOOK
    assert archive.read_path(tmp_path / "worked_example.py", "ps1").files == {"worked_example.py": WRITTEN}


def test_a_notebook_of_any_name_is_known_by_its_cells(tmp_path):
    data = json.dumps({"cells": [{"metadata": {"nbgrader": {"grade_id": "worked_example-softmax"}}}]}).encode()
    received = archive.read_folder(laid_out(tmp_path, {"Untitled.ipynb": data}), "ps1")
    assert received.notebook == data and received.remarks == ("Untitled.ipynb is taken for ps1.ipynb, by its cells",)
    assert "nothing of ps2" in archive.read_folder(tmp_path, "ps2").refusal


REFUSED = {
    "nothing": (
        {},
        "nothing of ps2 in it. Found: nothing. Expected: attention/scores.py, attention/dot_product.py and",
    ),
    "something else": ({"essay.docx": b"x"}, "nothing of ps2 in it. Found: essay.docx"),
    "another set": (WHOLE, "this is ps1's, by ps1.ipynb, and has nothing of ps2"),
    "another set in its folder": (under("ps1"), "this is ps1's, by ps1.ipynb"),
    "another set with the stubs of this one": (
        WHOLE | {f"attention/{name}": STUBS[name] for name in ("scores.py", "dot_product.py")},
        "this is ps1's",
    ),
    "a module of another set": ({"worked_example.py": WRITTEN}, "nothing of ps2 in it, but modules of ps1"),
    "a set that shares a module": (
        {"attention/dot_product.py": WRITTEN, "attention/masks.py": WRITTEN, "ps3.ipynb": NOTEBOOK},
        "this is ps3's",
    ),
    "two packages": (
        {"ada/attention/scores.py": WRITTEN, "ben/attention/scores.py": WRITTEN},
        "the modules are there more than once, in ada/attention and ben/attention",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_submission_is_refused_with_what_was_found_and_expected(tmp_path, what):
    files, why = REFUSED[what]
    refusal = archive.read_zip(zipped(tmp_path / "x.zip", files), "ps2").refusal
    assert why in refusal and "Found: " in refusal
    assert refusal.endswith("Expected: attention/scores.py, attention/dot_product.py and ps2.ipynb")


def test_work_of_a_set_under_another_sets_notebook_is_taken(tmp_path):
    files = {"attention/scores.py": WRITTEN, "ps1.ipynb": NOTEBOOK}
    received = archive.read_folder(laid_out(tmp_path, files), "ps2")
    assert received.files == {"scores.py": WRITTEN} and received.refusal == "" and received.notebook is None
    assert "ps1.ipynb is no part of the problem set: left out" in received.remarks


def test_a_long_listing_is_cut_and_hides_nothing_in_control_characters():
    shown = layout.listing([f"file{number}\x1b" for number in range(30)])
    assert shown.startswith("file0\\x1b, ") and shown.endswith("and 22 files more")
