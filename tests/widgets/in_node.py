"""Calls the arithmetic that stands at the top of a widget's script, in node."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from autograder.course.paths import BOOK

CALLS = """
const read = (_, value) => value === '-inf' ? -Infinity : value
const write = (_, value) => value === -Infinity ? '-inf' : value
const calls = JSON.parse(require('fs').readFileSync(0, 'utf8'), read)
const parts = require(process.argv[1])
console.log(JSON.stringify(calls.map(([name, ...given]) => parts[name](...given)), write))
"""


def called(widget: str, calls: Sequence[Sequence[Any]]) -> list[Any]:
    """widget: its name; calls: the name of a function and its arguments each. Returns what the functions return."""
    node = shutil.which("node")
    assert node, "node is needed, as for the build of the book"
    done = subprocess.run(
        [node, "-e", CALLS, str(BOOK / "widgets" / f"{widget}.js")],
        input=json.dumps(_changed(calls, -math.inf, "-inf")),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return _changed(json.loads(done.stdout), "-inf", -math.inf)


def _changed(value: Any, old: Any, new: Any) -> Any:
    """The same lists and dicts with a value exchanged: JSON has no infinity."""
    if isinstance(value, list | tuple):
        return [_changed(one, old, new) for one in value]
    if isinstance(value, dict):
        return {name: _changed(one, old, new) for name, one in value.items()}
    return new if value == old else value
