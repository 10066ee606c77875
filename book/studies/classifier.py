"""Runs chapter 8's experiment with several seeds: `python -m studies.classifier [PART …]`.

In the folder `book`, with `solutions` on Python's path; some three minutes on one thread. The results go to
`studies/results/classifier.json`, with the machine, the date and the versions.
"""

from __future__ import annotations

import sys
from typing import Any

import torch

from studies import names, roles
from studies.recording import Part, Record

__all__ = ["PARTS", "RECORD"]

RECORD = Record("classifier.json")


def one_model(name: str, seeds: range, texts: names.Functions) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Seed 0 tries every rate, the other seeds run with the best; what is found, and what attention does."""
    tried = {rate: roles.run(name, 0, texts, rate) for rate in roles.RATES}
    rate = max(tried, key=lambda one: tried[one][1]["validation"])
    done = [tried[rate], *(roles.run(name, seed, texts, rate) for seed in seeds[1:])]
    ids = texts.renamed(texts.test[0], torch.Generator().manual_seed(1))
    attention = [
        {
            "same_name": roles.looks(model, (ids, texts.test[1]), texts.first_name),
            "still_parameter": roles.without_its_head(model, (ids, texts.test[1]), texts),
        }
        for model, _ in done
        if isinstance(model, roles.AttentionReader)
    ]
    validation = {str(one): result["validation"] for one, (_, result) in tried.items()}
    return {"rate": rate, "tried": validation, "runs": [result for _, result in done]}, attention


def _roles(seeds: range) -> dict[str, Any]:
    texts = names.load()
    models, attention = {}, []
    for name in roles.MODELS:
        models[name], seen = one_model(name, seeds, texts)
        attention += seen
    sizes = {name: len(found) for name, found in names.parts().items()}
    return {"functions": sizes, "counted": roles.counted(), "models": models, "attention": attention}


PARTS = {"roles": Part(_roles, seeds=3)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
