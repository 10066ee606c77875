"""A small language model of characters, trained on the docstrings of the standard library."""

from __future__ import annotations

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

import docstrings
from attention.decoder import LanguageModel, generate, next_token_loss
from attention.positions import LearnedPositionalEmbedding

__all__ = ["Characters", "Texts", "bits_of_model", "load", "make_model", "train", "write"]

END = "\0"  # stands between two docstrings
CONTEXT, BATCH, WIDTH, STEPS, RATE = 48, 24, 96, 1200, 6e-3
VALIDATION = 40_000  # characters: it is read twelve times
MODULES = 400  # of the standard library, those with docstrings are fewer


class Characters:
    """A number for each character that occurs at least `least` times; 0 is any other."""

    def __init__(self, text: str, least: int = 20) -> None:
        counts = Counter(text)
        self.symbols = ["�", *sorted(character for character, count in counts.items() if count >= least)]
        self._number = {character: number for number, character in enumerate(self.symbols)}

    def __len__(self) -> int:
        return len(self.symbols)

    def encode(self, text: str) -> Tensor:
        return torch.tensor([self._number.get(character, 0) for character in text])

    def decode(self, ids: Tensor) -> str:
        return "".join(self.symbols[index] for index in ids.tolist())


class Texts:
    """Three texts as character ids: modules for training, for choosing (validation) and for the verdict (test)."""

    def __init__(self, found: Sequence[docstrings.Docstring]) -> None:
        parts: dict[str, list[str]] = {"train": [], "validation": [], "test": []}
        for docstring in found:
            last = zlib.crc32(docstring.module.encode()) % 10  # depends on the name alone; a module goes whole
            parts[{0: "test", 1: "validation"}.get(last, "train")].append(docstring.text)
        joined = {name: END + END.join(texts) + END for name, texts in parts.items()}
        self.characters = Characters(joined["train"])
        self.train, self.validation, self.test = (self.characters.encode(joined[name]) for name in joined)
        self.validation = self.validation[:VALIDATION]


def load() -> Texts:
    """The docstrings of Python's standard library on this machine; takes about four seconds, nothing is downloaded."""
    return Texts(docstrings.collect(MODULES, ("python",)))


def make_model(symbols: int, seed: int) -> LanguageModel:
    torch.manual_seed(seed)
    model = LanguageModel(symbols, WIDTH, 4, 4 * WIDTH, 2, max_length=CONTEXT, dropout=0.0)
    for part in model.modules():
        if isinstance(part, nn.Embedding | LearnedPositionalEmbedding):
            nn.init.normal_(part.weight, std=0.1)  # with the model's own 0.02 the same steps reach much less
    return model


def train(
    model: LanguageModel, ids: Tensor, seed: int, watch: Callable[[int], None], steps: int = STEPS
) -> Iterator[float]:
    """AdamW on BATCH random windows of the text a step, the rate rising over 30 steps and falling to 0 like a cosine.

    watch(step) is called after each step. Yields the seconds of CPU that each step took.
    """
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.99))
    for step in range(steps):
        started = time.process_time()
        for group in optimizer.param_groups:
            group["lr"] = RATE * min((step + 1) / 30, 1) * 0.5 * (1 + math.cos(math.pi * step / steps))
        start = torch.randint(len(ids) - CONTEXT, (BATCH, 1), generator=rng)
        tokens = ids[start + torch.arange(CONTEXT)]  # (BATCH, CONTEXT)
        loss = next_token_loss(model(tokens), tokens)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield time.process_time() - started
        watch(step + 1)


@torch.no_grad()
def bits_of_model(model: LanguageModel, ids: Tensor) -> float:
    """Bits per character: windows overlap by half, and of each the second half counts, so that each has a context."""
    half = CONTEXT // 2
    windows = ids.unfold(0, CONTEXT, half)  # (n, CONTEXT)
    total = 0.0
    for some in windows.split(64):
        logits = model(some)[:, half - 1 : -1]
        picked = logits.log_softmax(-1).gather(-1, some[:, half:, None])
        total -= picked.sum().item()
    return total / (len(windows) * half) / math.log(2)


def write(model: LanguageModel, texts: Texts, prompt: str, length: int, seed: int = 0, **drawn: float) -> str:
    """A text that begins with the prompt; the model reads the last CONTEXT - 1 characters, for
    training asks nothing of the logits at the last position."""

    def windowed(ids: Tensor) -> Tensor:
        return model(ids[:, 1 - CONTEXT :])

    ids = texts.characters.encode(prompt)[None]
    rng = torch.Generator().manual_seed(seed)
    return texts.characters.decode(generate(windowed, ids, length, generator=rng, **drawn)[0])


def run(seed: int, texts: Texts | None = None, steps: int = STEPS, stages: int = 12) -> tuple[LanguageModel, dict]:
    """Train one seed; bits on the validation text at each stage and on the test text at the end, and three samples."""
    texts = texts or load()
    model = make_model(len(texts.characters), seed)
    curve: list[tuple[int, float]] = []
    samples: list[tuple[int, str]] = []

    def watch(step: int) -> None:
        if step % (steps // stages) == 0:
            curve.append((step, round(bits_of_model(model, texts.validation), 3)))
        if step in (steps // stages, 4 * steps // stages, steps):
            samples.append((step, write(model, texts, END + "Return ", 150, temperature=0.8)[1:]))

    seconds = sum(train(model, texts.train, seed, watch, steps))
    return model, {
        "curve": curve,
        "samples": samples,
        "test": round(bits_of_model(model, texts.test), 3),
        "seconds": round(seconds, 1),
        "parameters": sum(p.numel() for p in model.parameters()),
    }
