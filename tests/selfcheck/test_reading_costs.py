"""What a function reaches is read in steps in proportion to the text, whatever the text is like."""

import subprocess
import sys
import time

import pytest

from autograder.course.paths import ROOT
from autograder.intake.static_scan import scan_module
from selfcheck.reach import _module, _names_reached, builds_on, forbidden_call
from selfcheck.source import _read, parse
from tests.counted_steps import steps_in

FORBIDDEN = ("torch.*softmax*", "torch.nn.MultiheadAttention", ".softmax")
SMALL, MOST = 40, 12  # lines or so; times the steps, for ten times the text
MARGIN = 4  # of a time, for noise: what takes no steps of Python's own, the parser say, shows in time alone
TRIES = 10
FLOOR = 0.005  # seconds of the processor, below which a measurement says little
#: Sources of n lines or so, whose function f reaches all that it can.
SOURCES = {
    "one name bound again and again": lambda n: "if a:\n" + " a = a\n" * n + "def f(): return a\n",
    "one branch after the other": lambda n: "if a:\n a = a\n" * n + "def f(): return a\n",
    "each name by the one before": lambda n: (
        "".join(f"a{i + 1} = a{i}\n" for i in range(n)) + f"def f(): return a{n}\n"
    ),
    "each function by the one before": lambda n: (
        "".join(f"def f{i + 1}(): return f{i}()\n" for i in range(n)) + f"def f(): return f{n}()\n"
    ),
    "objects that are changed": lambda n: "x.a = y[0] = 1\n" * n + "def f(): return x, y\n",
    "registered again and again": lambda n: "a(a)\n" * n + "def f(): return a\n",
    "long chains of attributes": lambda n: "def f(x):\n" + (" x" + ".a" * 100 + "\n") * (n // 40),
    "one long chain of attributes": lambda n: "def f(x):\n return x" + ".a" * n + "\n",
    "names of the package": lambda n: "def f():\n" + "".join(f" attention.masks.f{i}\n" for i in range(n)),
    "one name for all that is missing": lambda n: "def __getattr__(name):\n" + " a\n" * n + "def f(): return b\n",
    "many ways": lambda n: ("if 0: pass\n" + "elif 0: f = 1\n" * 40) * (n // 40),
    "sums": lambda n: "def f(x):\n" + (" x" + " + x" * 100 + "\n") * (n // 40),
    "functions within functions": lambda n: ("f = " + "lambda x: " * 50 + "x\n") * (n // 40),
    "comprehensions": lambda n: ("f = " + "[" * 50 + "x" + " for x in y]" * 50 + "\n") * (n // 40),
    "names bound within expressions": lambda n: ("f = " + "(a := " * 50 + "1" + ")" * 50 + "\n") * (n // 40),
    "f-strings": lambda n: "f = f'{a!r:{b}}'\n" * n,
    "stars": lambda n: "".join(f"from torch{i} import *\n" for i in range(n)) + "def f():\n" + " a\n b\n" * n,
    "one long line": lambda n: "f = [" + "a, " * n + "]\n",
}
#: Those that are tried in every run: each once took the square or the cube of its length.
QUICK = ("one name bound again and again", "objects that are changed", "many ways", "long chains of attributes")


def read(source):
    _read.cache_clear()
    _module.cache_clear()
    _names_reached.cache_clear()
    forbidden_call(source, "f", FORBIDDEN, lambda module: source)
    builds_on(source, "f", "other")
    scan_module("masks", source, "")


def seconds(source):
    began = time.thread_time()
    read(source)
    return time.thread_time() - began


def steps_of(sources, reads="costs.read"):
    """How many of Python's instructions reading each takes, in a process where nothing else runs or is hooked."""
    counted = "import sys; import tests.selfcheck.test_reading_costs as costs\n"
    counted += f"costs.read('x = 1'); costs.read = {reads}\n"
    counted += "print(*[costs.steps(source) for source in sys.stdin.read().split('\\0')])"
    done = subprocess.run(
        [sys.executable, "-c", counted], input="\0".join(sources), cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [int(count) for count in done.stdout.split()]


def steps(source):
    """How many of Python's instructions reading takes."""
    return steps_in(lambda: read(source))


SHAPES = [
    pytest.param(source, id=name, marks=[] if name in QUICK else pytest.mark.full) for name, source in SOURCES.items()
]


@pytest.mark.parametrize("source", SHAPES)
def test_ten_times_the_text_takes_at_most_twelve_times_the_steps(source):
    small, large = source(SMALL), source(10 * SMALL)
    assert parse(small) and parse(large)
    few, many = steps_of([small, large])
    assert many <= MOST * few


@pytest.mark.parametrize("source", SHAPES)
def test_ten_times_the_text_takes_ten_times_as_long(source):
    small, large = source(SMALL), source(10 * SMALL)
    cost = max(FLOOR, min(seconds(small) for _ in range(TRIES)))
    # On a busy machine one time may be anything: what takes the square of its length takes it each time.
    assert any(seconds(large) < MARGIN * 10 * cost for _ in range(TRIES))


def test_what_takes_the_square_of_its_length_would_show():
    square = "lambda source: [one for one in source.split() for _ in source.split()]"
    few, many = steps_of(["a " * 10, "a " * 100], square)
    assert many > MOST * few


def test_a_chain_that_is_too_long_to_follow_is_no_way_around():
    chain = "torch.functional." * 40 + "softmax"
    assert forbidden_call(f"import torch\ndef f(x):\n    return {chain}(x)\n", "f", ("torch.*softmax*",))[1] == 3
    assert forbidden_call(f"import torch\ndef f(x):\n    return {chain}(x)\n", "f", ()) is None
