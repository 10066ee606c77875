"""Answers to exercise 2.2 as somebody may type them into the page: right, wrong, without an end, no Python."""

from __future__ import annotations

HEAD = (
    'import numpy as np\n\n\ndef dot_scores(queries, keys):\n    _check_same_width("queries", queries, "keys", keys)\n'
)
RIGHT = HEAD + "    return np.asarray(queries, dtype=float) @ np.asarray(keys, dtype=float).T\n"
WRONG = HEAD + "    return np.asarray(keys, dtype=float) @ np.asarray(queries, dtype=float).T\n"
LOOP = "def dot_scores(queries, keys):\n    while True:\n        queries = keys\n"
STUBBORN = (
    "def dot_scores(queries, keys):\n    while True:\n        try:\n            while True:\n                pass\n"
    + ("        except BaseException:\n            pass\n")
)
NO_PYTHON = "def dot_scores(queries, keys):\n    return queries @ @\n"
