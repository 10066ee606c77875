"""Runs chapter 7's experiments with several seeds: `python -m studies.encoder [PART …]`.

In the folder `book`, with `solutions` on Python's path; some two minutes on one thread. The results go to
`studies/results/encoder.json`, each part with the machine, the date and the versions. A part that is not named stays.
"""

from __future__ import annotations

import sys
from typing import Any

from studies import followers, layers
from studies.recording import Part, Record

__all__ = ["PARTS", "RECORD"]

RECORD = Record("encoder.json")


def _spread(seeds: range) -> dict[str, Any]:
    return {
        name: [layers.spread_by_depth(**options, draw=seed) for seed in seeds]
        for name, options in layers.STREAMS.items()
    }


def _memory(seeds: range) -> dict[str, Any]:
    return {
        name: [[layers.fraction_learnt(count, seed, **options) for seed in seeds] for count in (16, 64, 256)]
        for name, options in layers.MEMORIES.items()
    }


def _warm_up(seeds: range) -> dict[str, Any]:
    return {
        name: [[round(loss, 3) for loss in followers.run(name, seed)] for seed in seeds] for name in followers.DESIGNS
    }


def _hops(seeds: range) -> dict[str, Any]:
    return {name: [followers.two_hops(name, seed)[1] for seed in seeds] for name in followers.HOPPERS}


PARTS = {
    "spread": Part(_spread, seeds=5),
    "memory": Part(_memory, seeds=5),
    "warm-up": Part(_warm_up, seeds=5),
    "hops": Part(_hops, seeds=5),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
