"""What a submission is made of is read in a time that grows no faster than it does, and no more than is needed."""

import os
import subprocess
import sys
import zipfile

import pytest

from autograder.course.paths import ROOT
from autograder.intake import archive, in_cells, keeping, layout, safe_files, static_scan, taking
from autograder.intake.taking import Entry, take
from selfcheck import bindings
from selfcheck.source import MOST_NAME, MOST_PARTS, nodes_of, parse

from .handing_in import HONEST, MODULE, PROBLEM_SET


def test_of_notebooks_whose_names_say_nothing_a_few_are_looked_at():
    found = layout.find_layout([f"{number}.ipynb" for number in range(20_000)], PROBLEM_SET)
    assert len(found.unknown) == layout.MOST_UNKNOWN


def test_what_nobody_asks_for_is_read_to_a_limit_and_the_modules_nevertheless():
    asked = []

    def reader(most):
        asked.append(most)
        return bytes(most)

    entries = [Entry(f"attention/a{number}.py", reader) for number in range(1000)]
    entries += [Entry(f"{number}.ipynb", reader) for number in range(1000)]
    received = take([*entries, Entry(f"attention/{MODULE}.py", lambda most: HONEST)], PROBLEM_SET)
    assert sum(asked) <= taking.MOST_READ_BYTES + taking.MOST_NOTEBOOK_BYTES
    assert received.files == {f"{MODULE}.py": HONEST} and not received.refusal
    assert any("comes after 64 MiB that are none of its parts" in line for line in received.remarks)


def test_of_empty_folders_so_many_are_looked_into(tmp_path, monkeypatch):
    for number in range(100):
        (tmp_path / str(number % 10) / str(number)).mkdir(parents=True)
    looked = []
    monkeypatch.setattr(safe_files, "MOST_FOLDERS", 30)
    monkeypatch.setattr(os, "scandir", lambda place, scan=os.scandir: looked.append(place) or scan(place))
    named = [name for name, _, plain in safe_files.walk(tmp_path) if not plain]
    assert len(looked) == 31 and len(named) == 80, "the others are named, and count as entries"


def test_of_a_folder_as_many_entries_are_looked_at_as_a_zip_may_have(tmp_path, monkeypatch):
    for number in range(100):
        (tmp_path / f"{number}.py").touch()
    monkeypatch.setattr(archive, "MOST_ENTRIES", 30)
    looked = []
    monkeypatch.setattr(archive, "reader", lambda path, owner: looked.append(path))
    received = archive.read_folder(tmp_path, PROBLEM_SET)
    assert len(looked) <= 31 and any("after 30 files" in line for line in received.remarks)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as into:
        for number in range(31):
            into.writestr(f"{number}.py", "")
    with pytest.raises(ValueError, match="more than 30 files"):
        list(archive._contents((tmp_path / "a.zip").read_bytes(), "a.zip", PROBLEM_SET))


def test_a_file_that_is_too_large_to_be_kept_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "film.mp4").touch()
    os.truncate(tmp_path / "film.mp4", 2 * keeping.MOST_NOTEBOOK_BYTES)
    (tmp_path / "notes.txt").touch()
    assert [name for name, _ in keeping._readers(tmp_path)] == ["notes.txt"]


def test_blank_lines_of_a_cell_are_read_once():
    # A match begins at a line, and none goes on to the next: a pattern that did would try from every blank line.
    assert [blank for blank in ("\n", "\n\n", " \n", "\n\t\n") if in_cells.MAGIC.match(f"{blank}%time x")] == []
    assert in_cells.MAGIC.sub("", "\n  %time x\n\t!ls\ny % 2") == "\n\n\ny % 2"


def test_names_within_comprehensions_are_taken_once():
    nested = "softmax = " + "[x for x in " * 20 + "mine" + " if also]" * 20
    assert sorted(bindings._names_taken(parse(nested))) == [*["also"] * 20, "mine", "softmax"]


LONG = "a" * 50_000
DOTTED = "a." * 50 + LONG


@pytest.mark.parametrize(
    "text",
    [
        f"import {DOTTED} as t",
        f"from {DOTTED} import b as t",
        f"from {'.' * 50_000}a import b as t",
        f"from a import {LONG} as t",
        f"import b\nt = b.{LONG}",
        "import b as a0\n" + "".join(f"a{number + 1} = a{number}.b\n" for number in range(2000)) + "t = a2000.b",
    ],
    ids=["module", "from", "dots", "name", "bound", "bound in turn"],
)
def test_a_long_name_that_is_written_once_is_not_read_again_at_every_use(text):
    tree = parse(f"{text}\nt.c\nsetattr(t, b, c)\nt.c = 1")
    module, used = bindings.Module(tree), parse("t.c").body[0].value
    most = MOST_NAME + MOST_PARTS
    assert [name for name in module.names_of(used) if len(name) > most] == []
    assert [node for node in nodes_of(tree) for name in static_scan._imported(node) if len(name) > most] == []
    assert [what for _, what, _ in static_scan._found(tree) if len(what) > 2 * most] == []


def test_a_name_that_the_terminal_cannot_write_ends_no_command(tmp_path):
    command = [sys.executable, "-m", "autograder", "submit", PROBLEM_SET, "--course", str(tmp_path / "\u674e")]
    done = subprocess.run(
        [*command, "--student", "\u674e\u96f7", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
    assert "\\u674e" in done.stderr + done.stdout
