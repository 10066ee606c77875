"""What a notebook's cell asks reaches whoever runs it: a debugger's commands, and whether to pack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.release import bundle as releasing

from .kernels import Kernel, kernel_in
from .terminals import unpack

STOPS_ONCE = """

import sys
import numpy as np

def project(inputs, w_query, w_key, w_value):
    if "stopped" not in vars(sys):  # the module itself is put back between calls
        sys.stopped = True
        breakpoint()
    inputs = np.asarray(inputs)
    return inputs @ np.asarray(w_query), inputs @ np.asarray(w_key), inputs @ np.asarray(w_value)
"""
PACK = "from selfcheck import pack\npack('ps1')"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the ps1 bundle, whose answers need NumPy alone."""
    return unpack(releasing.bundle("ps1"), tmp_path_factory.mktemp("kernel") / "ps1")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    with kernel_in(folder) as kernel:
        yield kernel


def test_pack_asks_once_in_a_notebook(kernel: Kernel, folder: Path) -> None:
    for answer, said in (("n", "nothing is packed"), ("y", "packed ")):
        ran = kernel.run(PACK, [answer])
        assert ran.asked == ["Pack all the same? [y/N] "] and ran.status == "ok"
        assert "not started yet" in ran.shown and said in ran.shown
        assert (folder / "ps1.zip").exists() == (answer == "y")


def test_pack_asks_nobody_where_a_notebook_is_run_as_a_whole(kernel: Kernel, folder: Path) -> None:
    (folder / "ps1.zip").unlink(missing_ok=True)
    ran = kernel.run(PACK)
    assert not ran.asked and ran.status == "ok" and "not started yet" in ran.shown
    assert (folder / "ps1.zip").exists()


def test_a_breakpoint_reaches_the_notebook_and_the_check_goes_on_to_its_end(kernel: Kernel, folder: Path) -> None:
    path = folder / "attention" / "worked_example.py"
    before = path.read_text("utf-8")
    path.write_text(before + STOPS_ONCE, "utf-8")
    ran = kernel.run('from selfcheck import check\ncheck("2.1")', ["p 'answered' + str(len(inputs))", "c"])
    path.write_text(before, "utf-8")
    assert len(ran.asked) == 2 and all("db" in prompt for prompt in ran.asked)  # (Pdb), or IPython's ipdb>
    assert "answered3" in ran.shown and ran.status == "ok"
    assert ran.shown.index("answered3") < ran.shown.index("visible checks pass")
