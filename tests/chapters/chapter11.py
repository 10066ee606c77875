"""What the tests of chapter 11 share: its text, that of its deeper pages, and the functions that its cells define."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention.worked_example import EXAMPLE

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGE = (BOOK / "chapters" / "11-efficient.md").read_text(encoding="utf-8")
DEEPER = ("attention-roofline", "sdpa-backends", "powers-of-two", "triton-kernel", "attention-at-full-length")
PAGES = {name: (BOOK / "deeper" / f"{name}.md").read_text(encoding="utf-8") for name in DEEPER}
FILES = ["book/chapters/11-efficient.md", *(f"book/deeper/{name}.md" for name in DEEPER)]
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
EXACT = 1e-12  # float64, values of order 1 to 10, some hundreds of additions
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def page_names() -> dict[str, Any]:
    """What the chapter's cells import and define; nothing is measured."""
    names: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S):
        source = re.sub(r"^(---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S)
        nodes = [node for node in ast.parse(source).body if isinstance(node, DEFINITIONS)]
        exec(compile(ast.Module(nodes, []), "11-efficient.md", "exec"), names)
    return names


def between(start: str, end: str, text: str = PAGE) -> str:
    """The part of a page from `start` to the next `end`; the start must be there once."""
    assert text.count(start) == 1, start
    return text.split(start)[1].partition(end)[0]


def numbers(text: str) -> list[float]:
    """The numbers of a piece of a page, in order; exponents and indices of formulas are none of them."""
    plain = re.sub(r"\\sqrt \d|e\^\{[^}]*\}|[_^]\{?\w+\}?", "", text)
    return [float(number.replace("−", "-").replace(",", "")) for number in NUMBER.findall(plain)]


def table(start: str) -> dict[str, list[str]]:
    """The rows of the table that begins with a line: first cell → the others."""
    lines = between(start + "\n", "\n\n").splitlines()[1:]
    cells = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def example() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the running example's first head, (3, 3) each, float64."""
    inputs, *weights = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    return tuple(inputs @ weight for weight in weights)
