"""Where chapter 8's models look, and what they answer without a head or a word: `python -m studies.looked_at`.

In the folder `book`, with `solutions` on Python's path; about a minute on one thread. What is found goes to
`widgets/attention-sentence-data.js`, with the machine, the date and the versions, for the widget attention-sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import docstrings
from attention.classifier import TextClassifier, train_step
from benchmarks.environment import environment
from studies import names, roles

__all__ = ["FILE", "found", "read", "without_head"]

FILE = Path(__file__).resolve().parents[1] / "widgets" / "attention-sentence-data.js"
BEGIN = "(globalThis.Widgets ??= {}).attentionSentence = "
UNKNOWN = 1
LENGTH, EPOCHS, RATE = 30, 4, 0.01  # as on the page "Which library wrote this sentence?"
SHORT, LONG = 7, 11  # words of a sentence that is shown
Answer = Callable[[Tensor], Tensor]  # ids (B, L) → probabilities (B, classes)


@contextmanager
def without_head(layer: nn.Module, head: int) -> Iterator[None]:
    """Sets the block of W_O that a head writes with to zero meanwhile."""
    attention = layer.self_attention
    width = attention.d_model // attention.num_heads
    block = attention.out_proj.weight.data[:, head * width : (head + 1) * width]
    kept = block.clone()
    block.zero_()
    yield
    block.copy_(kept)


def _rounded(numbers: Tensor) -> Any:
    return (1000 * numbers).round().int().tolist()  # thousandths: short in the file


@torch.no_grad()
def _asked(answer: Answer, encoder: nn.Module, ids: Tensor) -> dict[str, Any]:
    """The answer's probabilities as it is, without each head, and with each token unknown."""
    struck = ids.repeat(ids.shape[1], 1).fill_diagonal_(UNKNOWN) if ids.shape[1] > 1 else ids
    without = []
    for layer in encoder.layers:
        without.append([])
        for head in range(layer.self_attention.num_heads):
            with without_head(layer, head):
                without[-1].append(_rounded(answer(ids)[0]))
    return {"whole": _rounded(answer(ids)[0]), "without": without, "struck": _rounded(answer(struck))}


@torch.no_grad()
def _share_right(answer: Callable[[Tensor], Tensor], encoder: nn.Module, data: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """Share of right answers on the test, with all heads and without each; answer: ids → logits (…, classes)."""
    ids, wanted = data
    asked = wanted >= 0

    def share() -> float:
        return round((answer(ids).argmax(-1) == wanted)[asked].float().mean().item(), 4)

    whole, without = share(), []
    for layer in encoder.layers:
        without.append([])
        for head in range(layer.self_attention.num_heads):
            with without_head(layer, head):
                without[-1].append(share())
    return {"whole": whole, "without": without, "questions": int(asked.sum())}


def _sentences() -> dict[str, Any]:
    """The encoder of "Which library wrote this sentence?", seed 0: the first fitting test sentence of each library."""
    train, test = docstrings.split(docstrings.sentences(docstrings.collect()))
    labels, words = sorted({text.label for text in train}), docstrings.Vocabulary([text.words for text in train])

    def tensors(part: Sequence[docstrings.Text]) -> tuple[Tensor, Tensor]:
        ids = words.encode([text.words for text in part], LENGTH)
        return ids, torch.tensor([labels.index(text.label) for text in part])

    (ids, classes), held_out = tensors(train), tensors(test)
    torch.manual_seed(0)
    model = TextClassifier(len(words), len(labels), d_model=32, num_heads=2, d_ff=64, num_layers=1)
    optimizer, rng = torch.optim.Adam(model.parameters(), lr=RATE, fused=True), torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        length = (ids != 0).sum(1) + 4 * torch.rand(len(ids), generator=rng)
        alike = length.argsort().split(64)
        for k in torch.randperm(len(alike), generator=rng):
            some = ids[alike[k]]
            some = some[:, : max(1, int((some != 0).sum(1).max()))]
            train_step(model, (some, classes[alike[k]]), optimizer, F.cross_entropy)
    model.eval()

    def answer(some: Tensor) -> Tensor:
        return model(some).softmax(-1)

    texts = []
    for label in labels:
        for text in test:
            row = words.encode([text.words], len(text.words))
            fits = SHORT <= len(text.words) <= LONG and text.label == label and UNKNOWN not in row
            if fits and not {"code", "library"} & set(text.words) and labels[int(answer(row).argmax())] == label:
                break
        else:
            raise ValueError(f"expected a test sentence of {SHORT} to {LONG} words that fits, got none of {label}")
        x = model.tower.positions(model.tower.embedding(row))
        with torch.no_grad():
            weights = model.tower.encoder(x, key_mask=row != 0, return_weights=True)[1]
        question = {"at": None, "truth": label} | _asked(answer, model.tower.encoder, row)
        shown = {"name": f"a sentence of {label}", "tokens": list(text.words), "source": text.group}
        texts.append(shown | {"weights": [_rounded(layer[0]) for layer in weights], "questions": [question]})
    share = _share_right(model, model.tower.encoder, held_out)
    return {"labels": labels, "share": share, "texts": texts}


def _functions() -> dict[str, Any]:
    """The encoder of "Where attention wins", seed 0: two test functions with a parameter and a local that are asked."""
    data = names.load()
    model, _ = roles.run("encoder", 0, data, RATE)
    model.eval()
    renamed = data.renamed(data.test[0], torch.Generator().manual_seed(1))
    wanted, texts = data.test[1], []
    for row, answers in zip(renamed, wanted, strict=True):
        length = int((row != 0).sum())
        if length >= 34 or {0, 1} - set(answers.tolist()):  # as on the page
            continue
        ids = row[None, :length]
        with torch.no_grad():
            weights = model.weights(ids)
        questions = []
        for at in (answers >= 0).nonzero().flatten().tolist():

            def answer(some: Tensor, at: int = at) -> Tensor:
                return model(some)[:, at].softmax(-1)

            truth = names.ROLES[int(answers[at])]
            questions.append({"at": at, "truth": truth} | _asked(answer, model.encoder, ids))
        tokens = data.text(row)
        shown = {"name": f"function {len(texts) + 1}", "tokens": tokens, "source": "the standard library"}
        texts.append(shown | {"weights": [_rounded(layer[0]) for layer in weights], "questions": questions})
        if len(texts) == 2:
            break
    share = _share_right(model, model.encoder, (renamed, wanted))
    return {"labels": list(names.ROLES), "share": share, "texts": texts}


def found() -> dict[str, Any]:
    """Trains both models and looks into them; numbers from 0 to 1 as thousandths."""
    torch.set_num_threads(1)
    about = environment("cpu")
    kept = {key: about[key] for key in ("date", "processor", "threads", "python", "torch")}
    return {"environment": kept, "seed": 0, "functions": _functions(), "sentences": _sentences()}


def read() -> dict[str, Any]:
    """What the committed file holds."""
    return json.loads(FILE.read_text("utf-8").split(BEGIN, 1)[1].rstrip().removesuffix(";"))


if __name__ == "__main__":
    text = json.dumps(found(), ensure_ascii=False, separators=(",", ":"))
    FILE.write_text(
        f"// Written by `python -m studies.looked_at`: JSON behind the equals sign.\n{BEGIN}{text};\n", "utf-8"
    )
    print(f"{FILE.name}: {len(text)} characters")
