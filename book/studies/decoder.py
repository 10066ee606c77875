"""Runs chapter 10's experiments with several seeds: `python -m studies.decoder [PART …]`.

In the folder `book`, with `solutions` on Python's path; some six minutes on one thread. The results go to
`studies/results/decoder.json`, each part with the machine, the date and the versions. A part that is not named stays.
"""

from __future__ import annotations

import sys
from typing import Any

from studies import decoding, induction, language, ngrams, translators
from studies.recording import Part, Record

__all__ = ["PARTS", "RECORD"]

RECORD = Record("decoder.json")


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


PARTS = {
    "language": Part(_language, seeds=3),
    "induction": Part(_induction, seeds=5),
    "translators": Part(_translators, seeds=5),
    "decoding": Part(_decoding, seeds=1),
}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
