"""What the tests of chapter 11 share: the functions that its cells define, and random tensors."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGE = (BOOK / "chapters" / "11-efficient.md").read_text(encoding="utf-8")
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
EXACT = 1e-12  # float64, values of order 1 to 10, some hundreds of additions
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
WANTED = {"device", "causal", "hidden", "d_model", "heads", "n", "layer", "coder", "tokens", "backends"}


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def page_names() -> dict[str, Any]:
    """What the page's cells import and define, with the few values that its functions need; nothing is measured."""
    names: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S):
        source = re.sub(r"^(---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S)
        nodes = [node for node in ast.parse(source).body if getattr(node, "module", "") != "benchmarks"]  # figures
        kept = [node for node in nodes if isinstance(node, DEFINITIONS) or _assigned(node) & WANTED]
        exec(compile(ast.Module(kept, []), "11-efficient.md", "exec"), names)
    return names


def _assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
