"""Runs chapter 10's experiments with several seeds and writes what they find: `python -m decoder_studies [PART …]`.

In the folder `book`, with `solutions` on Python's path; some six minutes on one thread. The results go to
`measuring/decoder.json`, each part with the machine, the date and the versions. A part that is not named stays.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import decoding
import induction
import language
import ngrams
import translators
from benchmarks import results
from benchmarks.environment import environment

__all__ = ["FILE", "load", "machine"]

FILE = Path(__file__).resolve().parent / "measuring" / "decoder.json"


def load() -> dict[str, Any]:
    """What the committed file holds: part → {"environment": …, "seeds": …, "found": …}."""
    return json.loads(FILE.read_text("utf-8"))


def machine(part: str) -> str:
    """Where and when a part was measured, and how many seeds it has, in a line."""
    study = load()[part]
    about, seeds = study["environment"], study["seeds"]
    return (
        f"{len(seeds)} seeds" if len(seeds) > 1 else "medians of five runs"
    ) + f", {about['date'][:10]}, {about['processor']}, {about['threads']} thread, torch {about['torch']}"


def _language(seeds: range) -> dict[str, Any]:
    texts = language.load()
    sizes = {name: len(getattr(texts, name)) for name in ("train", "validation", "test")}
    baseline = ngrams.chosen(texts.train, texts.validation, texts.test, len(texts.characters))
    return {"sizes": sizes, "ngrams": baseline, "model": [language.run(seed, texts)[1] for seed in seeds]}


def _induction(seeds: range) -> dict[str, Any]:
    return {name: [induction.run(name, seed)[1] for seed in seeds] for name in induction.MODELS}


def _translators(seeds: range) -> dict[str, Any]:
    return {name: [translators.learning_curve(name, seed)[1] for seed in seeds] for name in translators.MODELS}


def _decoding(seeds: range) -> dict[str, Any]:
    return decoding.run()


PARTS: dict[str, tuple[Callable[[range], dict[str, Any]], int]] = {
    "language": (_language, 3),
    "induction": (_induction, 5),
    "translators": (_translators, 5),
    "decoding": (_decoding, 1),
}


def main(names: list[str]) -> None:
    """Run the named parts, all where none is named."""
    if unknown := set(names) - set(PARTS):
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    torch.set_num_threads(1)
    for name in names or PARTS:
        study, seeds = PARTS[name]
        found = {"environment": environment("cpu"), "seeds": list(range(seeds)), "found": study(range(seeds))}
        results.write((load() if FILE.exists() else {}) | {name: found}, FILE)
        print(f"{name}: written")


if __name__ == "__main__":
    main(sys.argv[1:])
