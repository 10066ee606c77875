"""The experiment of chapter 5 with one and two heads, run again with the page's own numbers."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.multi_head import MultiHeadAttention

#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
pytestmark = [pytest.mark.proof(depends="book/chapters/05-multi-head.md"), pytest.mark.timeout(1800)]

SYMBOLS, LENGTH, WIDTH, SEEDS = 8, 10, 32, (0, 1, 2)


class TwoLookUps(nn.Module):
    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.symbol, self.position, self.mark = (nn.Embedding(n, WIDTH) for n in (SYMBOLS, LENGTH, 2))
        self.attention = MultiHeadAttention(WIDTH, num_heads)
        self.read = nn.Linear(WIDTH, 2 * SYMBOLS)

    def forward(self, symbols: Tensor, marked: Tensor) -> tuple[Tensor, Tensor]:
        x = self.symbol(symbols) + self.position.weight + self.mark(marked)
        y, weights = self.attention(x, x, x)
        return self.read(y[:, 1:]).unflatten(-1, (2, SYMBOLS)), weights


def draw_batch(size: int, rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    symbols = torch.randint(SYMBOLS, (size, LENGTH), generator=rng)
    place = torch.randint(LENGTH, (size,), generator=rng)
    at_mark = symbols.gather(1, place[:, None]).expand(-1, LENGTH - 1)
    return symbols, F.one_hot(place, LENGTH), torch.stack([symbols[:, :-1], at_mark], -1)


def train(num_heads: int, seed: int) -> TwoLookUps:
    torch.manual_seed(seed)
    model, rng = TwoLookUps(num_heads), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(400):
        symbols, marked, answers = draw_batch(32, rng)
        loss = F.cross_entropy(model(symbols, marked)[0].flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


def accuracy(model: TwoLookUps) -> list[float]:
    symbols, marked, answers = draw_batch(1000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        logits, _ = model(symbols, marked)
    return (logits.argmax(-1) == answers).double().mean((0, 1)).tolist()


def without_head(model: TwoLookUps, h: int) -> TwoLookUps:
    ablated, d_head = copy.deepcopy(model), WIDTH // model.attention.num_heads
    with torch.no_grad():
        ablated.attention.out_proj.weight[:, h * d_head : (h + 1) * d_head] = 0
    return ablated


@pytest.fixture(scope="module")
def models() -> dict[int, list[TwoLookUps]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as on the page
    try:
        return {num_heads: [train(num_heads, seed) for seed in SEEDS] for num_heads in (1, 2, 4)}
    finally:
        torch.set_num_threads(threads)


# Training amplifies the rounding of another processor, so the bounds leave room and one run may fail.


def test_two_and_four_heads_answer_both_questions_and_one_head_does_not(models):
    for num_heads in (2, 4):
        assert sum(min(accuracy(model)) > 0.98 for model in models[num_heads]) >= len(SEEDS) - 1
    assert sum(min(accuracy(model)) < 0.98 for model in models[1]) >= len(SEEDS) - 1
    sizes = {sum(p.numel() for p in model.attention.parameters()) for group in models.values() for model in group}
    assert sizes == {4 * 32 * 33}


def test_removing_one_of_two_heads_costs_one_question_and_leaves_the_other(models):
    clear = 0
    for model in models[2]:
        first, second = (accuracy(without_head(model, h)) for h in (0, 1))
        loses = [min(range(2), key=scores.__getitem__) for scores in (first, second)]
        clear += sorted(loses) == [0, 1] and max(min(first), min(second)) < 0.35 and min(max(first), max(second)) > 0.95
    assert clear >= len(SEEDS) - 1


def test_the_last_two_of_four_heads_do_not_do_what_two_trained_as_two_do(models):
    short = 0
    for model in models[4]:
        left = [0, 1, 2, 3]
        while len(left) > 2:
            trials = {h: min(accuracy(without_head(model, h))) for h in left}
            cheapest = max(trials, key=trials.__getitem__)
            model = without_head(model, cheapest)
            left.remove(cheapest)
        short += min(accuracy(model)) < 0.98
    assert short >= len(SEEDS) - 1


def test_each_of_two_heads_looks_at_one_place_and_their_average_at_neither(models):
    symbols, marked, _ = draw_batch(300, torch.Generator().manual_seed(98))
    clear = 0
    for model in models[2]:
        with torch.no_grad():
            _, weights = model(symbols, marked)
        previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean((0, 2))
        at_mark = (weights[:, :, 1:] * marked[:, None, None, :]).sum(-1).mean((0, 2))
        clear += sorted([previous.argmax().item(), at_mark.argmax().item()]) == [0, 1] and bool(
            (torch.stack([previous.max(), at_mark.max()]) > 0.8).all()
            and (torch.stack([previous.mean(), at_mark.mean()]) < 0.65).all()
        )
    assert clear >= len(SEEDS) - 1


@pytest.mark.full
def test_naming_the_marked_symbol_twice_is_right_about_the_previous_one_in_21_per_cent():
    # The marked place is the previous one in a tenth of the cases; else two random symbols agree in an eighth.
    assert round(1 / LENGTH + (1 - 1 / LENGTH) / SYMBOLS, 2) == 0.21
    _, _, answers = draw_batch(20000, torch.Generator().manual_seed(1))
    assert (answers[..., 0] == answers[..., 1]).double().mean().item() == pytest.approx(0.2125, abs=0.01)


@pytest.mark.full
def test_no_linear_read_out_tells_previous_from_marked_when_the_weights_ignore_the_symbols():
    # The page's proof, as numbers: for any f the four conditions leave no room, whatever the share alpha.
    rng = torch.Generator().manual_seed(5)
    for alpha in (0.3, 0.5, 0.7):
        for _ in range(400):
            f, g = torch.randn(2, 2, generator=rng), torch.randn(2, 2, generator=rng)  # f[candidate, symbol]
            k, m = torch.randn(2, generator=rng), torch.randn(2, generator=rng)
            right = True
            for a in (0, 1):
                for b in (0, 1):
                    marked = alpha * f[:, a] + (1 - alpha) * f[:, b] + k
                    previous = alpha * g[:, a] + (1 - alpha) * g[:, b] + m
                    right &= bool(marked.argmax() == b) and bool(previous.argmax() == a)
            assert not right
