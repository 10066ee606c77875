"""Chapter 1's attention map: a small model that guesses the hidden word of a real sentence, with five seeds.

`python -m studies.hidden_words` in the folder `book`, with `solutions` on Python's path, trains on the docstrings of
Python's standard library (two minutes on one thread); its part of `studies/results/why_attention.json` is "words".
"""

from __future__ import annotations

from collections import Counter
from statistics import mean, stdev
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import docstrings
from attention.masks import masked_softmax
from attention.scores import scaled_dot_scores
from studies.recording import Part
from studies.why_attention import RECORD

__all__ = ["LOOKS", "PARTS", "SENTENCE", "Guesser", "hide", "texts", "train"]

LONGEST, WIDTH, STEPS, BATCH, RATE, SEEDS = 16, 64, 600, 128, 1e-2, 5
HIDDEN = docstrings.UNKNOWN  # the word that stands for a hidden one, as for any rare one: it says nothing
#: What a weight may depend on: nothing (all are 1/n), how far a word is from the gap, or the word as well.
LOOKS = ("equal weights", "weights by distance", "weights by distance and word")
SENTENCE = "return a file descriptor from a file object"  # of a module (selectors) that is not trained on


def texts() -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Sentences of 6 to 16 words: of modules to train on, and of other modules."""
    found = docstrings.sentences(docstrings.collect(400, ("python",)), 10**6, 10**6, longest=LONGEST)
    train_on, others = docstrings.split(found, test=0.1)
    return [one.words for one in train_on], [one.words for one in others]


class Guesser(nn.Module):
    """One attention head: the gap asks, the other words answer, and the weighted sum of their values guesses the word.

    words: size of the vocabulary; looks: one of LOOKS, what a weight may depend on
    """

    def __init__(self, words: int, looks: str) -> None:
        super().__init__()
        self.looks = looks
        self.word, self.distance = nn.Embedding(words, WIDTH), nn.Embedding(2 * LONGEST, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.norm, self.guess = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, words)
        for table in (self.word, self.distance):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, ids: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        """ids (B, n) with the word at position `at` (B,) hidden; gives logits (B, words) and weights (B, n)."""
        distance = torch.arange(ids.shape[1]) - at[:, None] + LONGEST  # (B, n)
        where = self.distance(distance)  # (B, n, d)
        x = self.word(ids) + where
        seen = (ids != docstrings.PADDING) & (distance != LONGEST)  # all words but the gap itself
        asks = self.query(self.word.weight[HIDDEN] + self.distance.weight[LONGEST])  # (d,), the same in every sentence
        key = self.key(where if self.looks == LOOKS[1] else x)
        scores = scaled_dot_scores(asks.expand(len(ids), 1, -1), key)[:, 0]  # (B, n)
        weights = masked_softmax(scores * (self.looks != LOOKS[0]), seen)
        pooled = (weights[:, None] @ self.value(x))[:, 0]  # (B, d)
        return self.guess(self.norm(pooled)), weights


def hide(ids: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
    """The ids (B, n) with the word at position `at` (B,) hidden, and these words (B,)."""
    return ids.scatter(1, at[:, None], HIDDEN), ids.gather(1, at[:, None])[:, 0]


def train(model: Guesser, ids: Tensor, seed: int, steps: int = STEPS) -> None:
    """AdamW on a one-cycle schedule: each step hides one known word in each of BATCH random sentences."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for _ in range(steps):
        some = ids[torch.randint(len(ids), (BATCH,), generator=generator)]
        known = (some > HIDDEN).float() + 1e-9
        at = torch.multinomial(known, 1, generator=generator)[:, 0]
        shown, word = hide(some, at)
        optimizer.zero_grad()
        F.cross_entropy(model(shown, at)[0], word).backward()
        optimizer.step()
        schedule.step()


@torch.no_grad()
def right(model: Guesser, ids: Tensor) -> float:
    """Share of hidden words guessed, every known word of every sentence hidden once."""
    rows, at = (ids > HIDDEN).nonzero(as_tuple=True)
    shown, word = hide(ids[rows], at)
    found = [model(*some)[0].argmax(-1) for some in zip(shown.split(2000), at.split(2000), strict=True)]
    return (torch.cat(found) == word).float().mean().item()


@torch.no_grad()
def look(model: Guesser, words: docstrings.Vocabulary, sentence: str) -> tuple[Tensor, list[str]]:
    """The map (n, n) of a sentence, row i with word i hidden, and the best guess for each word."""
    ids = words.encode([sentence.split()], len(sentence.split()))
    shown, _ = hide(ids.expand(ids.shape[1], -1), at := torch.arange(ids.shape[1]))
    logits, weights = model(shown, at)
    return weights, [words.words[best] for best in logits.argmax(-1).tolist()]


@torch.no_grad()
def nearest(model: Guesser, ids: Tensor) -> float:
    """Mean weight on the words right before and right after a gap that has both."""
    rows, at = (ids[:, 1:-1] > HIDDEN).nonzero(as_tuple=True)
    inner = ids[rows, at + 2] != docstrings.PADDING
    rows, at = rows[inner], at[inner] + 1
    shown, _ = hide(ids[rows], at)
    weights = model(shown, at)[1]
    return (weights.gather(1, at[:, None] - 1) + weights.gather(1, at[:, None] + 1)).mean().item()


def study(seeds: range) -> dict[str, Any]:
    """All of LOOKS with each seed, and the map of SENTENCE by the models that may look at words."""
    train_on, others = texts()
    words = docstrings.Vocabulary(train_on, least=3)
    ids, unseen = words.encode(train_on, LONGEST), words.encode(others, LONGEST)
    (commonest, _), *_ = Counter(word for words_ in train_on for word in words_).most_common(1)
    known = unseen[unseen > HIDDEN]
    found: dict[str, Any] = {
        "sentences": len(train_on),
        "unseen": len(others),
        "vocabulary": len(words),
        "commonest": [commonest, round((known == words.encode([[commonest]], 1)[0, 0]).float().mean().item(), 4)],
        "sentence": SENTENCE.split(),
        "right": {},
    }
    for looks in LOOKS:
        models, found["right"][looks] = [], []
        for seed in seeds:
            torch.manual_seed(seed)
            models.append(Guesser(len(words), looks))
            train(models[-1], ids, seed)
            found["right"][looks].append(round(right(models[-1], unseen), 4))
        print(looks, f"{mean(found['right'][looks]):.4f} ± {stdev(found['right'][looks]):.4f}", flush=True)
    seen = [look(model, words, SENTENCE) for model in models]
    maps = torch.stack([weights for weights, _ in seen])  # (seeds, n, n)
    found["map"] = [[round(weight, 4) for weight in row] for row in maps.mean(0).tolist()]
    found["deviation"] = round(maps.std(0).max().item(), 4)
    found["guesses"] = [guesses for _, guesses in seen]
    found["nearest"] = [round(nearest(model, unseen), 4) for model in models]
    return found


PARTS = {"words": Part(study, seeds=SEEDS)}

if __name__ == "__main__":
    RECORD.run(PARTS, [])
