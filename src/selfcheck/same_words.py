"""Brings the texts of exceptions that say the same to one form: one mistake is the same however it is written."""

from __future__ import annotations

import re

DOT_TEXT = re.compile(r"not aligned: (\d+) \(dim \d+\) != (\d+) \(dim \d+\)")
MATMUL_TEXT = re.compile(r"mismatch in its core dimension .*\(size (\d+) is different from (\d+)\)")
APART_TEXT = re.compile(r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")


def one_text(text: str) -> str:
    """NumPy's two texts on a matrix product whose sizes do not fit, of `@` and of `dot`, as one; torch's text on two
    sizes that do not fit with the smaller first, for a * b and b * a are one mistake; any other as it is."""
    if match := DOT_TEXT.search(text) or MATMUL_TEXT.search(text):
        inner = match.groups() if match.re is DOT_TEXT else reversed(match.groups())
        return f"no product: {', '.join(inner)}"
    if match := APART_TEXT.search(text):
        smaller, larger = sorted(map(int, match.groups()))
        return APART_TEXT.sub(f"tensor a ({smaller}) must match the size of tensor b ({larger})", text)
    return text
