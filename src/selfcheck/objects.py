"""Makes what a step hands to a learner's code besides plain values: modules, iterators, generators and the like.

It knows their descriptions and nothing else, and imports torch only where one of them is asked for.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

HANDED = ("score", "cache")  # what another exercise asks learners to write; see handed.py
KINDS = ("iterator", "generator", "loss", "optimizer", "writing", "made", "triple", *HANDED)
SEED = 82_530_217  # of torch's own generator, before each step: one that nobody else chooses
NUMPY_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}  # as NumPy has them itself
TORCHS_SEED = "torch's seed"  # its name among what an answer has changed
LOSSES = ("mse_loss", "cross_entropy", "binary_cross_entropy_with_logits")


def module(tree: dict[str, Any]) -> Any:
    """A module of torch's own: linear layers by name, nn.MultiheadAttention, or a small network; without its state."""
    import torch

    if tree["type"] == "linears":
        widths = tree["widths"]
        return torch.nn.ModuleDict(
            {name: torch.nn.Linear(widths[0], widths[1], bias=tree["bias"]) for name in tree["names"]}
        )
    if tree["type"] == "writer":
        return _writer(tree["vocab_size"])
    if tree["type"] == "network":
        return _network(tree["inputs"], tree["hidden"], tree["outputs"], tree["dropout"], tree.get("shows_mode", False))
    return torch.nn.MultiheadAttention(bias=tree["bias"], batch_first=True, **tree["sizes"])


def _network(inputs: list[int], hidden: int, outputs: int, dropout: float, shows_mode: bool) -> Any:
    """output(dropout(tanh(Σ inputs[i](x_i)))): a network that takes as many arguments as there are widths.

    shows_mode: whether its state holds `mode`, 1 in training and 0 in evaluation, between them where its layers differ
    """
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.ModuleList(nn.Linear(width, hidden) for width in inputs)
            self.dropout = nn.Dropout(dropout)
            self.output = nn.Linear(hidden, outputs)
            if shows_mode:
                _show_mode(self)

        def forward(self, *given: Any) -> Any:
            if len(given) != len(self.inputs):
                wanted = f"{len(self.inputs)} input{'s' if len(self.inputs) > 1 else ''}"
                raise TypeError(f"this model takes {wanted}, got {len(given)}")
            total = sum(linear(x) for linear, x in zip(self.inputs, given, strict=True))
            return self.output(self.dropout(torch.tanh(total)))

    return Network()


def _writer(vocab_size: int) -> Any:
    """A language model that is a table: the logits at i are the row that all tokens 0 … i choose together.

    In training they have the other sign. Its state shows the `mode`, 1 in training and 0 in evaluation, how many calls
    were `recorded` for gradients, and `recording`, 1 where torch records those that are made when it is read.
    """
    import torch
    from torch import nn

    class Writer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.zeros(vocab_size, vocab_size))
            _show_mode(self)
            self.register_buffer("recorded", torch.tensor(0.0))
            self.register_buffer("recording", torch.tensor(1.0))
            self.register_state_dict_pre_hook(  # type: ignore[no-untyped-call]
                lambda read, *_: read.get_buffer("recording").fill_(float(torch.is_grad_enabled()))
            )

        def forward(self, token_ids: Any) -> Any:
            if token_ids.dim() != 2:
                raise ValueError(f"this model takes token ids (B, L), got shape {tuple(token_ids.shape)}")
            if torch.is_grad_enabled():
                self.get_buffer("recorded").add_(1.0)
            logits = written(self.table, token_ids)
            return -logits if self.training else logits

    return Writer()


def _show_mode(module: Any) -> None:
    """Let a module's state hold `mode`, however it came into it: the share of its modules, itself too, in training."""
    import torch

    module.register_buffer("mode", torch.tensor(1.0))
    module.register_state_dict_pre_hook(lambda read, *_: read.get_buffer("mode").fill_(_share_in_training(read)))


def _share_in_training(module: Any) -> float:
    modes = [float(part.training) for part in module.modules()]
    return sum(modes) / len(modes)


def written(table: Any, token_ids: Any) -> Any:
    """For each prefix of the rows the row of the table that its tokens choose: (B, L) ids → (B, L, V)."""
    import torch

    vocab_size = len(table)
    factors = torch.arange(token_ids.shape[1]) % (vocab_size - 1) + 1
    return table[((token_ids + 1) * factors).cumsum(dim=1) % vocab_size]  # a token 0 that is read counts as well


def other(tree: dict[str, Any], items: list[Any], modules: dict[str, Any]) -> Any:
    """What is neither a plain value nor a module.

    items: the revived tensors that the tree holds; modules: those among the arguments so far, by name
    """
    import torch

    if tree["kind"] == "iterator":
        return _once(items)
    if tree["kind"] == "triple":
        return tuple(items)
    if tree["kind"] == "score":
        from .handed import score  # here: it is not there where nothing of it is handed over

        return score(tree["name"], items)
    if tree["kind"] == "generator":
        return torch.Generator().manual_seed(tree["seed"])
    if tree["kind"] == "writing":
        first = -1 if tree.get("newest") else 0
        return lambda token_ids: written(items[0], token_ids)[:, first:]
    if tree["kind"] == "cache":
        from .handed import Cache  # likewise

        return Cache(tree["max_length"])
    if tree["kind"] == "loss":
        return getattr(torch.nn.functional, tree["name"])
    return torch.optim.SGD(modules[tree["of"]].parameters(), lr=tree["rate"], weight_decay=tree.get("decay", 0.0))


def seed_torch() -> None:
    """Have torch's own generator begin at a seed that nobody else chooses."""
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(SEED)  # torch.manual_seed takes a millisecond more


@contextlib.contextmanager
def usual_settings() -> Iterator[None]:
    """Within it torch records gradients and makes float32, whatever a module or a notebook has set for the process.

    Nor does it look for anomalies, with which a model learns at a third of the speed, and NumPy raises nothing where
    numbers overflow or vanish. Afterwards all are what they were, but that gradients are recorded: an answer may have
    switched that off for good.
    """
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch:
        before = torch.get_default_dtype()
        anomalies = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
        if anomalies[0]:
            torch.autograd.set_detect_anomaly(False)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
    errors = numpy.seterr(**NUMPY_ERRORS) if numpy else {}
    try:
        yield
    finally:
        if torch:
            torch.set_default_dtype(before)
            torch.set_grad_enabled(True)
            if anomalies[0] or torch.is_anomaly_enabled():
                torch.autograd.set_detect_anomaly(*anomalies)
        if numpy:
            numpy.seterr(**errors)


def torchs_seed() -> int | None:
    """The seed at which torch's own generator began last; None where torch is not imported."""
    torch = sys.modules.get("torch")
    return torch.default_generator.initial_seed() if torch else None


def generators(states: list[list[int]]) -> Iterator[Any]:
    """Generators, each by its seed and by how many numbers were drawn from it before."""
    import torch

    for seed, drawn in states:
        made = torch.Generator().manual_seed(seed)
        torch.rand(drawn, generator=made)
        yield made


def quotient(triple: Any) -> Any:
    """The output that a triple (maximum, total, summed) stands for: summed / total, zeros where the total is 0."""
    _, total, summed = triple
    some = (total != 0).unsqueeze(-1)
    return (summed / total.unsqueeze(-1).where(some, 1.0)).where(some, 0.0)


def _once(items: list[Any]) -> Iterator[Any]:
    yield from items
