"""What the tests of chapter 10 share: its text, the functions that its cells define, and its running example."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention.worked_example import EXAMPLE

PAGE = (Path(__file__).resolve().parents[2] / "book" / "chapters" / "10-decoder.md").read_text(encoding="utf-8")
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef)
NUMBER = re.compile(r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?")


def page_names() -> dict[str, Any]:
    """What the page's cells import and define; nothing is trained or measured."""
    names: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S):
        source = re.sub(r"^(---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S)
        nodes = [node for node in ast.parse(source).body if isinstance(node, DEFINITIONS)]
        exec(compile(ast.Module(nodes, []), "10-decoder.md", "exec"), names)
    return names


def numbers(text: str) -> list[float]:
    """The numbers of a piece of the page, in order; exponents and indices of formulas are none of them."""
    plain = re.sub(r"\\sqrt \d|[_^]\{?\w+\}?|\\tfrac\w+", "", text)
    return [float(number.replace("−", "-").replace(",", "")) for number in NUMBER.findall(plain)]


def between(start: str, end: str) -> str:
    """The part of the page from `start` to the next `end`; both must be there, the start once."""
    assert PAGE.count(start) == 1, start
    return PAGE.split(start)[1].partition(end)[0]


def example() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the running example, (3, 3) each, float64."""
    inputs, *weights = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    return tuple(inputs @ weight for weight in weights)


def as_printed(computed: Tensor, written: list[float]) -> bool:
    return torch.allclose(computed.double().flatten(), torch.tensor(written).double(), rtol=0, atol=PRINTED)
