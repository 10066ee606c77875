"""The record of executed pages: what makes a page stale, and that nothing stale is shown."""

from __future__ import annotations

import gzip
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
from nbformat import NotebookNode, from_dict, v4

from autograder.build import executed_pages
from autograder.build.executed_pages import COMMITTED, Record, changes, depends_on, differences, read, uncovered
from autograder.course.paths import ROOT

#: Tells for each line that it is given which pages are stale at that moment.
STALE = """
import json, sys
from autograder.build.executed_pages import stale
for line in sys.stdin:
    print(json.dumps(stale()), flush=True)
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what pages depend on, with records of all pages that hold in it, whatever this machine is."""
    root = tmp_path_factory.mktemp("repository")
    ignore = shutil.ignore_patterns("__pycache__", "_build", "executed")
    for name in ("autograder", "book", "solutions", "src"):
        shutil.copytree(ROOT / name, root / name, ignore=ignore)
    shutil.copyfile(ROOT / "requirements.txt", root / "requirements.txt")
    for page, notebook in executed_pages.notebooks_of_pages():
        Record.of(page, depends_on(page, notebook), notebook, 0.0).write(root / "book" / "executed")
    return root


@pytest.fixture(scope="module")
def stale(repository: Path) -> Iterator[Callable[[], dict[str, list[str]]]]:
    """Which pages of the copy are stale, asked of its own code."""
    paths = [str(repository), str(repository / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", STALE]
    with subprocess.Popen(command, cwd=repository, env=environment, stdin=PIPE, stdout=PIPE, text=True) as running:

        def ask() -> dict[str, list[str]]:
            running.stdin.write("\n")
            running.stdin.flush()
            return json.loads(running.stdout.readline())

        assert ask() == {}
        yield ask
        running.stdin.close()


@pytest.fixture
def edit(repository: Path):
    """Change a file's text until the test ends."""
    before: dict[Path, str] = {}

    def change(name: str, old: str, new: str) -> None:
        path = repository / name
        text = before.setdefault(path, path.read_text("utf-8"))
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    yield change
    for path, text in before.items():
        path.write_text(text, "utf-8")


def test_a_changed_cell_makes_its_page_stale_and_no_other(stale, edit) -> None:
    edit("book/chapters/04-masks.md", "causal = causal_mask(3)\n", "causal = causal_mask(4)\n")
    assert stale() == {"chapters/04-masks": ["its code cells"]}


def test_a_changed_sentence_makes_no_page_stale(stale, edit) -> None:
    edit("book/chapters/04-masks.md", "# ", "# New words: ")
    assert stale() == {}


def test_a_changed_function_makes_the_pages_stale_that_import_its_module(stale, edit) -> None:
    edit("solutions/attention/classifier.py", "def ", "# changed\ndef ")
    pages = ("chapters/08-classifier", "deeper/order-and-reach", "deeper/pairs-and-pooling", "deeper/which-library")
    assert stale() == dict.fromkeys(pages, ["solutions/attention/classifier.py"])
    edit("solutions/attention/masks.py", "def ", "# changed\ndef ")
    through = {page for page, reasons in stale().items() if "solutions/attention/masks.py" in reasons}
    assert {"chapters/04-masks", "chapters/07-encoder", "measuring/benchmarks"} <= through
    assert not through & {"index", "prerequisites", "chapters/02-worked-example"}


def test_a_changed_data_file_or_style_makes_stale_who_reads_it(stale, edit) -> None:
    edit("solutions/benchmarks/results/epyc-2-cores.json", "{", "{ ")
    through = set(stale())  # pages that show a study on record read the benchmarks' folder as well
    assert {"chapters/10-decoder", "deeper/attention-at-full-length", "measuring/benchmarks"} <= through
    assert not through & {"index", "prerequisites", "chapters/02-worked-example"}
    edit("book/_static/attention.mplstyle", "figure.dpi: 110", "figure.dpi: 120")
    assert {"index", "chapters/02-worked-example"} <= set(stale())


@pytest.fixture
def page() -> tuple[Record, dict]:
    notebook = v4.new_notebook(cells=[v4.new_code_cell("import numpy\nprint(1)"), v4.new_markdown_cell("words")])
    notebook.cells[0].outputs = [v4.new_output("stream", name="stdout", text="1\n")]
    depends = depends_on("chapters/toy", notebook)
    return Record.of("chapters/toy", depends, notebook, 1.0), depends


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ("python", "3.9", "python: 3.9, here "),
        ("system", "Darwin arm64", "system: Darwin arm64, here "),
        ("gpu", "perhaps", "gpu: perhaps, here "),
        ("settings", {"OMP_NUM_THREADS": "4"}, "OMP_NUM_THREADS 4, here 1"),
        ("packages", {"numpy": "1.0"}, "numpy 1.0, here "),
        ("files", {"book/gone.py": "0"}, "book/gone.py, which it no longer imports"),
        ("cells", "0", "its code cells"),
    ],
)
def test_another_environment_is_a_reason_not_to_use_a_record(page, part: str, value: object, reason: str) -> None:
    record, depends = page
    assert changes(record, depends) == []
    other = replace(record, depends={**record.depends, part: value})
    assert any(text.startswith(reason) for text in changes(other, depends))


def test_only_who_can_read_the_standard_librarys_files_depends_on_pythons_patch_release(page) -> None:
    exact = v4.new_notebook(cells=[v4.new_code_cell("import docstrings")])
    assert depends_on("chapters/toy", exact)["python"] == platform.python_version()
    assert page[1]["python"] == platform.python_version().rpartition(".")[0]


def test_a_record_comes_back_as_it_was_written_and_the_same_record_is_the_same_bytes(page, tmp_path: Path) -> None:
    record, _ = page
    file = record.write(tmp_path)
    content = file.read_bytes()
    assert read(tmp_path, "chapters/toy") == record
    assert record.write(tmp_path).read_bytes() == content
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell("other words"), v4.new_code_cell("import numpy\nprint(1)")])
    assert record.fill(notebook).cells[1].outputs[0].text == "1\n"


def test_a_record_that_was_changed_or_is_damaged_counts_as_none(page, tmp_path: Path) -> None:
    record, depends = page
    file = record.write(tmp_path)
    whole = file.read_bytes()
    changed = json.loads(gzip.decompress(whole))
    changed["outputs"][0][0]["text"] = "2\n"
    for content in (gzip.compress(json.dumps(changed).encode()), whole[: len(whole) // 2], b"", gzip.compress(b"[]")):
        file.write_bytes(content)
        assert read(tmp_path, "chapters/toy") is None
    assert changes(read(tmp_path, "chapters/toy"), depends) == ["there is no record of it"]


def test_a_file_that_a_page_opens_must_be_among_its_dependencies(page) -> None:
    _, depends = page
    reference, compiled = (
        ROOT / "solutions/attention/masks.py",
        "solutions/attention/__pycache__/scores.cpython-311.pyc",
    )
    opened = [str(reference), str(ROOT / compiled), "/usr/lib/python3/os.py", str(ROOT / "gone.txt")]
    assert uncovered(opened, depends) == ["solutions/attention/masks.py", "solutions/attention/scores.py"]
    known = {**depends, "files": {"solutions/attention/masks.py": "0", "solutions/attention/scores.py": "0"}}
    assert uncovered(opened, known) == []


def test_what_is_installed_or_built_is_no_dependency_of_a_page(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(executed_pages, "ROOT", tmp_path)
    opened = ["own.py", "course.egg-info/entry_points.txt", ".venv/pyvenv.cfg", "_build/html/index.html"]
    for name in opened:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    assert uncovered([str(tmp_path / name) for name in opened], {"files": {}}) == ["own.py"]


def _notebook(*tags: str) -> NotebookNode:
    return v4.new_notebook(cells=[v4.new_code_cell("", metadata={"tags": list(tags)})])


def _printed(*pieces: str, name: str = "stdout") -> list[dict]:
    return [{"output_type": "stream", "name": name, "text": piece} for piece in pieces]


def test_an_execution_is_compared_with_its_record(page) -> None:
    record, _ = page

    def gave(text: str, processor: str = record.machine.processor) -> Record:
        return replace(record, outputs=[_printed(text)], machine=replace(record.machine, processor=processor))

    took = gave("it took 12.5 ms\n")
    assert differences(took, gave("it took 3 ms\n"), _notebook()) == []
    assert "code cell 1" in differences(took, gave("it did not end\n"), _notebook())[0]
    assert differences(took, gave("it did not end\n", "another processor"), _notebook()) == []
    nothing = replace(took, outputs=[[]], machine=gave("", "another processor").machine)
    assert differences(took, nothing, _notebook())


def test_of_a_measured_cell_the_kinds_of_its_outputs_are_compared(page) -> None:
    slower, faster, silent = (replace(page[0], outputs=[out]) for out in (_printed("slower"), _printed("faster"), []))
    assert differences(slower, faster, _notebook("hide-cell")) != []
    assert differences(slower, faster, _notebook("hide-cell", "measured")) == []
    assert differences(slower, silent, _notebook("measured")) != []


def test_it_does_not_matter_where_the_kernel_cuts_what_is_printed(page) -> None:
    picture = {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}, "metadata": {}}
    together = [*_printed("warned", name="stderr"), *_printed("one\ntwo\n"), picture, *_printed("three\n")]
    in_pieces = [*_printed("one\n"), *_printed("warned", name="stderr"), *_printed("t", "wo\n"), picture]
    in_pieces += _printed("thr", "ee\n")
    cut, whole, after = (
        replace(page[0], outputs=[out]) for out in (in_pieces, together, [*together[:2], *together[3:]])
    )
    assert differences(whole, cut, _notebook()) == differences(cut, whole, _notebook()) == []
    assert differences(whole, after, _notebook()) != []
    notebook = _notebook()
    notebook.cells[0].outputs = [from_dict(output) for output in in_pieces]
    assert Record.of("chapters/toy", {}, notebook, 1.0).outputs == [together]


def test_every_page_is_on_record_where_it_was_recorded() -> None:
    """Records are refreshed by `python -m autograder book --record`; on another kind of machine none may hold."""
    pages = {page: depends_on(page, notebook) for page, notebook in executed_pages.notebooks_of_pages()}
    missing = [page for page in pages if read(COMMITTED, page) is None]
    recorded = {file.relative_to(COMMITTED).as_posix().removesuffix(".json.gz") for file in COMMITTED.rglob("*.gz")}
    assert missing == [] and recorded == set(pages)
    parts = ("cells", "files", "settings")  # those that no machine changes
    stale = {
        page: [part for part in parts if read(COMMITTED, page).depends[part] != depends[part]]
        for page, depends in pages.items()
    }
    assert {page: changed for page, changed in stale.items() if changed} == {}, "run: make record"


def test_the_records_are_small() -> None:
    assert sum(file.stat().st_size for file in COMMITTED.rglob("*.gz")) < 4_000_000
