"""Chapter 2's experiment: which plausible faults does the running example show, and which does it hide?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from attention.worked_example import EXAMPLE, project, self_attention, softmax

__all__ = ["FAULTS", "FIRST", "SECOND", "off_by"]

Example = Sequence[Any]  # inputs, w_query, w_key, w_value
Fault = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # of inputs, queries, keys, values

FIRST: Example = [np.array(EXAMPLE[name]) for name in ("inputs", "w_query", "w_key", "w_value")]
#: A second example, in which L = 4, d_in = 3, d_k = 2 and d_v = 5 all differ and the scores are not symmetric.
SECOND: Example = [
    np.array([[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 1, 1]]),
    np.array([[1, 0], [0, 1], [1, 1]]),
    np.array([[0, 1], [2, 0], [1, 0]]),
    np.array([[1, 0, 0, 2, 1], [0, 1, 0, 1, 0], [0, 2, 1, 0, 1]]),
]


def _mix(scores: np.ndarray, values: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.asarray(softmax(scores, axis=axis)) @ values


FAULTS: dict[str, Fault] = {
    "queries and keys swapped": lambda x, q, k, v: _mix(k @ q.T / np.sqrt(k.shape[1]), v),
    "scaled by √ of the number of keys": lambda x, q, k, v: _mix(q @ k.T / np.sqrt(len(k)), v),
    "scaled by √ of the value's width": lambda x, q, k, v: _mix(q @ k.T / np.sqrt(v.shape[1]), v),
    "scaled by √ of the input's width": lambda x, q, k, v: _mix(q @ k.T / np.sqrt(x.shape[1]), v),
    "no scale": lambda x, q, k, v: _mix(q @ k.T, v),
    "softmax over the queries": lambda x, q, k, v: _mix(q @ k.T / np.sqrt(k.shape[1]), v, axis=0),
    "keys reshaped, not transposed": lambda x, q, k, v: _mix(q @ k.reshape(k.shape[::-1]) / np.sqrt(k.shape[1]), v),
}


def off_by(fault: str, example: Example) -> float:
    """The largest difference that a fault makes to any output of an example; 0 where the example hides it."""
    right = np.asarray(self_attention(*example, scale=True)[0])
    wrong = FAULTS[fault](np.asarray(example[0]), *(np.asarray(part) for part in project(*example)))
    return round(float(np.abs(wrong - right).max()), 9)
