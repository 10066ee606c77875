"""Brings what a code cell printed and drew to one form, in which two executions are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

__all__ = ["MEASURED", "joined", "kinds", "words"]

#: The tag of a cell in whose text words, not numbers alone, follow from times or memory that this execution measured.
MEASURED = "measured"
NUMBER = re.compile(r"[-−+]?(?:\d[\d,._]*)(?:[eE][-+]?\d+)?|\bnan\b|\binf\b")
Output = Mapping[str, Any]


def joined(outputs: Iterable[Output]) -> list[dict[str, Any]]:
    """The outputs with one piece of each stream between two others: where the kernel cuts a stream is its clock's."""
    together: list[dict[str, Any]] = []
    for is_stream, run in groupby(outputs, lambda output: output["output_type"] == "stream"):
        if not is_stream:
            together += map(dict, run)
            continue
        texts: dict[str, str] = {}
        for piece in run:
            texts[piece["name"]] = texts.get(piece["name"], "") + piece["text"]
        together += [{"output_type": "stream", "name": name, "text": text} for name, text in sorted(texts.items())]
    return together


def kinds(outputs: Iterable[Output]) -> list[list[str]]:
    """Which streams, pictures and values there are."""
    found = joined(outputs)
    return [[output["output_type"], output.get("name", ""), *sorted(output.get("data", ()))] for output in found]


def words(outputs: Iterable[Output]) -> list[list[str]]:
    """Kinds and texts, with # for each number; pictures by their kind alone."""
    found = joined(outputs)
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in found]
    return [[*kind, " ".join(NUMBER.sub("#", text).split())] for kind, text in zip(kinds(found), texts, strict=True)]
