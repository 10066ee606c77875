"""Runs chapter 8's experiment with several seeds: `python -m studies.classifier [PART …]`.

In the folder `book`, with `solutions` on Python's path; some six minutes on one thread. The results go to
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
CHOOSING = 99  # the seed with which learning rates are tried


def _roles(seeds: range) -> dict[str, Any]:
    texts = names.load()
    sizes = {name: len(found) for name, found in names.parts().items()}
    models, attention = {}, []
    for name in roles.MODELS:
        tried = {rate: roles.run(name, CHOOSING, texts, rate)[1]["validation"] for rate in roles.RATES}
        rate = max(tried, key=lambda one: tried[one])
        seen = []
        for seed in seeds:
            model, result = roles.run(name, seed, texts, rate)
            seen.append(result)
            if isinstance(model, roles.AttentionReader):
                ids = texts.renamed(texts.test[0], torch.Generator().manual_seed(1))
                data = ids, texts.test[1]
                attention.append(
                    {
                        "same_name": roles.looks(model, data, texts.first_name),
                        "still_parameter": roles.without_its_head(model, data, texts),
                    }
                )
        models[name] = {"rate": rate, "tried": {str(one): share for one, share in tried.items()}, "runs": seen}
        print(name, models[name], flush=True)
    return {"functions": sizes, "counted": roles.counted(), "models": models, "attention": attention}


PARTS = {"roles": Part(_roles, seeds=3)}

if __name__ == "__main__":
    RECORD.run(PARTS, sys.argv[1:])
