"""The kernels of chapter 11's deeper page, run by Triton's interpreter: what the page shows is what is tested."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="there is no Triton")
FILES = ["book/deeper/triton-kernel.md", "book/studies/small_kernel.py", "book/studies/self_checks.py"]
PROGRAM = """
import json, math, sys
import torch, triton
import triton.language as tl
from studies import self_checks
torch.set_num_threads(1)
{kernels}
print(json.dumps([self_checks.kernel_errors(start(kernel)) for kernel in (my_kernel, causal_kernel, {wrong})]))
"""
#: A line of the solution, and a mistake in its place.
MISTAKES = {
    "aligned to the start": ("rows[:, None] + (keys - length)", "rows[:, None]"),
    "output not rescaled": ("a = a * shrink[:, None] +", "a = a +"),
    "powers of e": ("p = tl.exp2(s - new[:, None])", "p = tl.exp(s - new[:, None])"),
    "the future is not hidden": ('        s = tl.where(seen, s, -float("inf"))\n', ""),
}


def _kernel(name: str, source: str) -> str:
    return re.search(rf"@triton\.jit\ndef {name}\(.*?\n(?=\n\n|```)", source, re.S)[0]


def _errors(folder: Path, mistake: str) -> list[dict[str, list[float]]]:
    """The self-check's errors of the kernel with gaps, the solution, and the solution with a mistake."""
    page = (ROOT / FILES[0]).read_text("utf-8")
    right, (line, instead) = _kernel("causal_kernel", page), MISTAKES[mistake]
    assert right.count(line) == 1
    wrong = right.replace(line, instead).replace("causal_kernel", "wrong_kernel")
    start = re.search(r"^def start\(.*?return attend\n", page, re.S | re.M)[0]
    program = folder / "kernels.py"
    kernels = "\n\n".join([_kernel("my_kernel", page), right, wrong, start])
    program.write_text(PROGRAM.format(kernels=kernels, wrong="wrong_kernel"), "utf-8")
    path = os.pathsep.join([str(ROOT / "solutions"), str(ROOT / "book")])
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", str(program)]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@needs_triton
@pytest.mark.full
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_self_check_tells_the_solution_from_gaps_and_mistakes(tmp_path: Path, mistake: str) -> None:
    gaps, right, wrong = _errors(tmp_path, mistake)
    assert all(off > 0.9 for off, _ in gaps.values())
    assert all(off < allowed for off, allowed in right.values())  # even once the naive form's
    assert any(not off < 2 * allowed for off, allowed in wrong.values())


@needs_triton
@pytest.mark.proof(depends=[*FILES, "solutions/attention/_triton_attention.py"])
def test_the_small_kernel_of_the_page_is_as_exact_as_the_courses() -> None:
    from studies import interpreted

    for _, _, small, whole, naive, _ in interpreted.run():
        assert small <= max(naive, 1e-6) and whole <= max(naive, 1e-6)


def test_the_page_shows_the_kernel_that_is_tested() -> None:
    page = (ROOT / FILES[0]).read_text("utf-8")
    for name in ("forward", "attend"):
        assert f"{{literalinclude}} ../studies/small_kernel.py\n:pyobject: {name}\n" in page
    assert "{literalinclude} ../../solutions/attention/_triton_attention.py\n" in page
