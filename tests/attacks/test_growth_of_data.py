"""Notebooks, answers, zips and errors are read in a time that grows no faster than they do, whatever they are like."""

import base64
import io
import json
import subprocess
import sys
import time
import zipfile

import pytest

from autograder.course.paths import ROOT
from autograder.gradebook.feedback import verdicts
from autograder.intake import archive, in_cells, notebook
from autograder.judge.answers import answers_in
from autograder.report import anonymous
from selfcheck.plan import call
from tests.counted_steps import steps_in

from .handing_in import HONEST, MODULE, PROBLEM_SET

MOST = 12  # times the steps, for ten times the data
A_FEW = 200  # steps by which reading may differ though nothing grows, as of a number with more digits
PARTS = 10  # of which steps are counted, and of ten times as many
MARGIN = 4  # of a time, for noise: what takes no steps of Python's own, the parser say, shows in time alone
TRIES = 10
FLOOR = 0.005  # seconds of the processor, below which a measurement says little
IDS = [f"question_{number}" for number in range(4)]


def graded(grade_id, source="x"):
    settings = {"grade_id": grade_id, "solution": True, "grade": True, "locked": False, "points": 2, "task": False}
    return {"cell_type": "markdown", "metadata": {"nbgrader": settings}, "source": source}


RELEASED = {"cells": [graded(one) for one in IDS], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}


def cells(*made):
    return json.dumps(RELEASED | {"cells": list(made)}).encode()


def code(source):
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}


#: Notebooks of n parts.
NOTEBOOKS = {
    "many cells": lambda n: cells(*[code("def softmax(x):\n    pass\n")] * n),
    "one cell of many lines": lambda n: cells(code(["x = 1\n"] * 20 * n)),
    "one line that ends nowhere": lambda n: cells(code("x" * 2000 * n)),
    "no code, but what might begin some": lambda n: cells(code("def " * 300 * n)),
    "blanks behind a word": lambda n: cells(code("def" + " " * 1000 * n), code("class" + "\t" * 1000 * n)),
    "backslashes": lambda n: cells(code("\\n" * 1000 * n + "def")),
    "magics": lambda n: cells(code("%time x\n" * 100 * n + "def softmax(")),
    "brackets": lambda n: cells(*[code("(" * 100)] * n),
    "copies of graded cells": lambda n: cells(*(graded(IDS[number % len(IDS)]) for number in range(n))),
    "a long answer": lambda n: cells(graded(IDS[0], "\u202e# <b>\r\n" * 100 * n)),
    "an answer of many parts": lambda n: cells(graded(IDS[0], ["\x1b[31m"] * 100 * n)),
    "outputs": lambda n: cells(code("x") | {"outputs": [{"output_type": "stream", "text": ["x"] * 20}] * n}),
    "keys": lambda n: cells(code("x") | {"metadata": {str(number): number for number in range(50 * n)}}),
    "numbers": lambda n: cells(code("x") | {"metadata": {"x": [1e300] * 100 * n}}),
    "lists in lists": lambda n: b'{"cells": ' + b"[" * 200 * n,
    "blanks": lambda n: cells(code("\t " * 300 * n)),
    "quotes": lambda n: b'{"cells": "' + b'\\"' * 1000 * n,
}


def read_notebook(data):
    notebook.rebuild(RELEASED, data, [RELEASED])
    for modules in ({}, {f"{MODULE}.py": HONEST}):
        in_cells.written_in_cells(data[: notebook.MOST_READ_HERE], PROBLEM_SET, modules)


def read_remark(text):
    anonymous._without(text, {"ada": "learner 1", "a.b@example.org": "learner 2"})
    verdicts.FILE_AT_FAULT.search(text)


def said(tree):
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return {"place": 0, "said": base64.b64encode(text).decode()}


def array(count):
    data = base64.b64encode(bytes(8 * count)).decode()
    return {"kind": "tensor", "shape": [count], "dtype": "float64", "data": data}


#: Answers of n parts.
ANSWERS = {
    "a large array": lambda n: said({"0": [{"value": array(1000 * n)}]}),
    "many small ones": lambda n: said({"0": [{"value": {"kind": "list", "items": [array(1)] * 20 * n}}]}),
    "answers nobody asked for": lambda n: said({str(number): [{"value": None}] for number in range(100 * n)}),
    "gradients": lambda n: said({"0": [{"value": array(1), "gradients": {str(i): array(1) for i in range(20 * n)}}]}),
    "a long text": lambda n: said({"0": [{"error": {"type": "x" * 1000 * n, "text": "\x1b" * 1000 * n}}]}),
    "kinds": lambda n: said({"0": [{"error": {"type": "x", "text": "x", "kinds": ["x"] * 100 * n}}]}),
    "lists in lists": lambda n: said(b"[" * 500 * n),
    "no JSON": lambda n: said(b"x" * 10_000 * n),
    "no base64": lambda n: {"place": 0, "said": "\u00e4" * 10_000 * n},
}


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as into:
        for name, data in files.items():
            into.writestr(name, data)
        into.writestr(f"attention/{MODULE}.py", HONEST)
    return made.getvalue()


#: Zips of n parts.
ZIPS = {
    "files": lambda n: zipped({f"{number}.txt": b"x" for number in range(10 * n)}),
    "folders in folders": lambda n: zipped({"a/" * 20 * n + "x.py": b"x"}),
    "notebooks": lambda n: zipped({f"{number}.ipynb": b"{}" for number in range(5 * n)}),
    "modules of one name": lambda n: zipped({f"{number}/attention/{MODULE}.py": b"x" for number in range(5 * n)}),
    "a large file": lambda n: zipped({"film.mp4": bytes(20_000 * n)}),
    "what begins like an entry": lambda n: zipped({"x.txt": b"PK\1\2" * 20 * n}),
    "a zip in a zip": lambda n: zipped({"a.zip": zipped({f"{number}.txt": b"x" for number in range(10 * n)})}),
    "nothing but bytes": lambda n: bytes(20_000 * n),
}


def read_zip(data):
    try:
        list(archive._contents(data, "a.zip", PROBLEM_SET))
    except ValueError as refused:
        assert "a.zip" in str(refused)


#: Texts of errors, which a learner's code raises, of n parts.
REMARKS = {
    "dots": lambda n: "." * 30 * n,
    "slashes": lambda n: "./" * 30 * n,
    "letters": lambda n: "_" * 300 * n,
    "words": lambda n: "ada/ada.b@" * 30 * n,
}
CASES = {
    f"{kind}: {name}": (read, make, size)
    for kind, read, shapes, size in (
        ("notebook", read_notebook, NOTEBOOKS, 150),
        ("answers", lambda line: answers_in(PLANS, line), ANSWERS, 150),
        ("zip", read_zip, ZIPS, 80),
        ("remark", read_remark, REMARKS, 5),
    )
    for name, make in shapes.items()
}


def counted():
    """For each case the steps that one part takes, some parts, and ten times as many."""
    sizes = (1, PARTS, 10 * PARTS)
    made = {name: (read, [make(size) for size in sizes]) for name, (read, make, _) in CASES.items()}
    for read, data in made.values():
        read(data[0])  # what is made once, an expression compiled say, is made
    return {name: [steps_in(lambda: read(one)) for one in data] for name, (read, data) in made.items()}  # noqa: B023


@pytest.fixture(scope="module")
def steps():
    """As `counted`, in a process where nothing else runs or is hooked."""
    command = "import gc, json; gc.disable(); from tests.attacks import test_growth_of_data as growth; "
    done = subprocess.run(
        [sys.executable, "-c", command + "print(json.dumps(growth.counted()))"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_ten_times_the_data_takes_at_most_twelve_times_the_steps(steps, name):
    start, few, many = steps[name]
    assert many - start <= MOST * max(few - start, 0) + A_FEW


def seconds(read, data):
    began = time.thread_time()
    read(data)
    return time.thread_time() - began


def grows_as(read, small, large):
    """Whether reading takes no longer for what is ten times as large than the size explains."""
    cost = max(FLOOR, min(seconds(read, small) for _ in range(TRIES)))
    # On a busy machine one time may be anything: what takes the square of its size takes it each time.
    return any(seconds(read, large) < MARGIN * 10 * cost for _ in range(TRIES))


@pytest.mark.parametrize("name", CASES)
def test_ten_times_the_data_takes_ten_times_as_long(name):
    read, make, size = CASES[name]
    assert grows_as(read, make(size), make(10 * size))


@pytest.mark.parametrize(("power", "shows"), [(1, False), (2, True)])
def test_what_takes_the_square_of_its_size_would_show(monkeypatch, power, shows):
    """By a clock that no other process disturbs."""
    monkeypatch.setitem(globals(), "seconds", lambda read, data: 1e-6 * len(data) ** power)
    assert grows_as(None, bytes(400), bytes(4000)) is not shows
