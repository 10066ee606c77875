"""Trains the models of checks that ask what a model can learn."""

from __future__ import annotations

from typing import Any

from .arrays import revive

LEARNT = 0.47  # the loss of a row whose right class leads by 0.5
FURTHER = ((2, 3.0), (4, 5.0))  # of each further draw of the model: so many times the steps, at this part of the rate


def of_a_try(lessons: dict[str, Any], number: int) -> dict[str, Any]:
    """The lessons of one try: some right models are stuck at the first rate, in every other draw or in each."""
    if not number:
        return lessons
    longer, slower = FURTHER[min(number, len(FURTHER)) - 1]
    return lessons | {"steps": longer * lessons["steps"], "rate": lessons["rate"] / slower}


def teach(
    built: Any, inputs: list[Any], target: dict[str, Any], loss: str, steps: int, rate: float, tries: int = 1
) -> bool:
    """Train a module on one batch, with Adam; whether it has learnt every row of it, where that matters."""
    import torch

    batch, wanted = [revive(tree) for tree in inputs], revive(target)
    loss_fn = getattr(torch.nn.functional, loss)
    built.train()
    optimizer = torch.optim.Adam(built.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_fn(built(*batch), wanted).backward()
        optimizer.step()
    if tries == 1:
        return True
    with torch.no_grad():
        return float(loss_fn(built(*batch), wanted, reduction="none").max()) < LEARNT
