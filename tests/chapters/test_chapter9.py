"""The claims of chapter 9, with the functions that the page shows; its long runs are checked on the page itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import translation
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.sequence_to_sequence import attend, hard_attention, local_attention_weights
from attention.worked_example import EXAMPLE

#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
pytestmark = [pytest.mark.proof(depends="book/chapters/09-sequence-to-sequence.md"), pytest.mark.timeout(1800)]

PAGE = Path(__file__).resolve().parents[2] / "book" / "chapters" / "09-sequence-to-sequence.md"
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
ROUNDING = 1e-5  # float32, values of order 1 through some tens of recurrent steps
WANTED = (
    *("import time", "class GRUEncoder", "def shifted", "def digits_of_any_length", "WORDS = ["),
    *("data = translation.dates", "def date_batches", "class AttentionAlone", "class Sorter", "def padded"),
)
MEASURING = r"\n(?:lengths|readers, right_documents|translators, curves|for seed in|for i in|sorted_right|unmasked)\b"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page's cells define, up to where they begin to measure: code shown is code tested."""
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    names: dict[str, Any] = {}
    threads = torch.get_num_threads()
    for start in WANTED:
        (cell,) = (cell for cell in cells if start in cell and not cell.startswith("---"))
        exec(re.split(MEASURING, cell.replace(":tags: [hide-input]\n", ""))[0], names)
    torch.set_num_threads(threads)
    return names


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As on the page."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def shown(tensor: Tensor, *numbers: float, atol: float = PRINTED) -> bool:
    return torch.allclose(tensor.double().flatten(), torch.tensor(numbers, dtype=torch.float64), rtol=0, atol=atol)


def example() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the running example, (3, 3) each."""
    inputs, *weights = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    return tuple(inputs @ weight for weight in weights)


# One decoder state, four scores


def test_the_four_scores_of_one_decoder_state_by_hand():
    queries, keys, values = example()
    state = queries[2:]
    assert state.tolist() == [[2, 1, 3]]
    w1 = torch.tensor([[1, 0, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0]]).double()
    w2, swap = torch.tensor([2.0, 1.0]).double(), torch.eye(3)[[0, 2, 1]].double()
    assert (state @ swap).tolist() == [[2, 3, 1]]
    assert shown(additive_scores(state, keys, w1, w2), 2.8921, -2.6896, 0)
    assert bilinear_scores(state, keys, swap).tolist() == [[4, 20, 14]]
    assert dot_scores(state, keys).tolist() == [[4, 12, 10]]
    assert shown(scaled_dot_scores(state, keys), 2.3094, 6.9282, 5.7735)
    additive = attend(state, keys, values, lambda q, k: additive_scores(q, k, w1, w2))[1]
    others = [attend(state, keys, values, score)[1] for score in (dot_scores, scaled_dot_scores)]
    assert additive.argmax() == 0 and all(weights.argmax() == 1 for weights in others)


# Local attention


def test_local_weights_of_the_running_example_by_hand():
    row, centres = torch.tensor([2.0, 4.0, 4.0]).double(), torch.tensor([1.5, 0.0, -2.0]).double()
    weights = local_attention_weights(row.expand(3, 3), centres, 1)
    assert shown(weights, 0, 0.3033, 0.3033, 0.1192, 0.1192, 0, 0, 0, 0)
    assert shown(weights.sum(-1), 0.6065, 0.2384, 0, atol=1.1e-4)  # the page adds rounded numbers


def test_a_window_that_misses_gives_the_centre_no_gradient():
    scores = torch.zeros(8)
    scores[6] = 3.0

    def weight_on_six(centre: Tensor) -> Tensor:
        return local_attention_weights(scores, centre, 3)[6]

    inside, at_the_edge, missing = (torch.tensor(c, requires_grad=True) for c in (5.0, 3.0, 0.0))
    for centre in (inside, at_the_edge, missing):
        weight_on_six(centre).backward()
    assert inside.grad > 0 and at_the_edge.grad > 0 and missing.grad == 0
    assert shown(weight_on_six(at_the_edge), 0.10, atol=0.0051)
    assert shown(scores[:7].softmax(0)[6], 0.77, atol=0.0051)


# Hard attention


def hard_example() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores, values, the wanted vector, and the loss of each value."""
    queries, keys, values = example()
    return scaled_dot_scores(queries[:1], keys)[0], values, values[2], (values - values[2]).square().sum(-1)


def test_the_gradient_of_the_expected_loss_by_hand():
    scores, _, _, losses = hard_example()
    scores.requires_grad_()
    weights = scores.softmax(-1)
    expected = weights @ losses
    assert losses.tolist() == [17, 13, 0] and shown(weights, 0.1361, 0.4319, 0.4319)
    assert shown(expected, 7.93, atol=0.0051)
    (gradient,) = torch.autograd.grad(expected, scores)
    assert shown(gradient, 1.235, 2.190, -3.425, atol=5.1e-4)


def test_a_baseline_keeps_the_mean_of_the_estimate_and_changes_its_variance():
    scores, _, _, losses = hard_example()
    p = scores.softmax(-1)
    exact = p * (losses - p @ losses)
    variances = []
    for baseline in (0.0, (p @ losses).item(), 30.0):
        each = (losses - baseline)[:, None] * (torch.eye(3) - p)  # (draw, score)
        assert torch.allclose(p @ each, exact, atol=1e-12)
        variances.append((p @ each.square() - exact.square()).sum().item())
    assert [round(v) for v in variances] == [65, 15, 279]


def test_estimates_from_draws_agree_with_the_exact_gradient():
    scores, values, wanted, losses = hard_example()
    p, draws = scores.softmax(-1), 20_000
    s = scores.expand(draws, 3).clone().requires_grad_()
    value, log_probability = hard_attention(s, values.expand(draws, 3, 3), generator(0))
    loss = (value - wanted).square().sum(-1)
    (log_probability * (loss - p @ losses)).sum().backward()
    error = (s.grad.mean(0) - p * (losses - p @ losses)).abs()
    assert (error < 4 * s.grad.std(0) / draws**0.5).all()  # four standard errors


# Documents


def right_after_training(page: dict[str, Any], way: str, steps: int = 150) -> float:
    torch.manual_seed(3)
    reader, rng = page["DocumentReader"](way), generator(3)
    optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
    for _ in range(steps):
        words, target, _ = page["documents"](64, rng)
        optimizer.zero_grad()
        F.cross_entropy(reader(words), target).backward()
        optimizer.step()
    words, target, _ = page["documents"](1000, generator(4))
    return (reader(words).argmax(-1) == target).float().mean().item()


def test_the_deciding_sentence_alone_has_the_marker_and_each_sentence_one_verdict(page):
    words, target, decides = page["documents"](200, generator(0))
    verdicts = (words >= 1) & (words <= 4)
    assert (verdicts.sum(-1) == 1).all() and ((words == 0).any(-1).float().argmax(-1) == decides).all()
    assert ((words == 0).sum((1, 2)) == 1).all()
    assert (
        words[torch.arange(200), decides].where(verdicts[torch.arange(200), decides], 0).sum(-1) == target + 1
    ).all()


def test_two_levels_find_the_verdict_and_one_level_does_not(page):
    assert right_after_training(page, "two levels") > 0.95
    assert right_after_training(page, "one level") < 0.65


# Translations with a known alignment


def test_the_right_places_of_a_date_spell_its_year_and_day():
    batch = translation.dates(300, seed=5)
    for source, target, right in zip(batch.source, batch.target, batch.right, strict=True):
        written, wanted = translation.text(source), translation.text(target)
        origin = [[written[s] for s in places.nonzero().flatten()] for places in right]
        assert "".join(places[0] for places in origin[:4]) == wanted[:4]
        day = "".join(places[0] for places in origin[8:])
        assert day == wanted[8:] or (wanted[8] == "0" and day == 2 * wanted[9])
        assert origin[4] == origin[7] == []
        month = "".join(origin[5])
        assert month.isdigit() or len(month) == 3


def test_sundays_are_in_the_test_and_never_in_the_training():
    import datetime

    for sundays in (True, False):
        batch = translation.dates(200, seed=6, sundays=sundays)
        for target in batch.target:
            assert (datetime.date.fromisoformat(translation.text(target)).isoweekday() == 7) == sundays


@pytest.mark.parametrize("task", [translation.swaps, translation.sorting])
def test_the_target_stands_in_the_source_where_the_alignment_says(task):
    batch = task(50, 7, generator(0))
    assert (batch.right.sum(-1) == 1).all()
    assert torch.equal((batch.right * batch.source[:, None]).sum(-1), batch.target)


# The decoder


def forced(page: dict[str, Any], model: nn.Module, batch: translation.Batch) -> float:
    """Right symbols under teacher forcing."""
    with torch.no_grad():
        logits, _ = model(batch, page["shifted"](batch.target))
    return (logits.argmax(-1) == batch.target).float().mean().item()


@pytest.mark.parametrize("score", ["additive", "bilinear", "dot", "scaled"])
def test_a_decoder_learns_to_exchange_neighbours_with_each_score(page, score):
    torch.manual_seed(0)
    model, rng = page["Translator"](score), generator(0)
    page["train"](model, lambda: translation.swaps(64, 4, rng), 200)
    assert forced(page, model, translation.swaps(300, 4, generator(9))) > 0.8


def test_a_look_back_beats_one_vector_twice_as_wide(page):
    right = {}
    for name, make in (("one vector", lambda: page["OneVector"](64)), ("look back", lambda: page["Translator"]("dot"))):
        torch.manual_seed(0)
        model, rng = make(), generator(0)
        page["train"](model, lambda rng=rng: translation.swaps(64, 8, rng), 150)
        right[name] = forced(page, model, translation.swaps(300, 8, generator(9)))
    assert right["look back"] > right["one vector"] + 0.15


def test_on_one_budget_the_recurrent_reader_of_dates_is_ahead_of_attention_alone(page):
    right = {}
    for name, make in (("recurrent", lambda: page["Translator"]("additive")), ("alone", page["AttentionAlone"])):
        torch.manual_seed(0)
        model = make()
        page["train"](model, page["date_batches"](0), 150)
        right[name] = page["whole_dates"](model)
    assert right["recurrent"] > right["alone"] + 0.05


def test_without_the_shift_the_decoder_copies_and_needs_no_source(page):
    torch.manual_seed(1)
    copier = page["Translator"]("additive")
    page["train"](copier, page["date_batches"](1), 70, inputs=lambda target: target)
    unseen = page["unseen"]
    strange = translation.Batch(unseen.source.flip(0), unseen.real.flip(0), unseen.target, unseen.right)
    with torch.no_grad():
        for batch in (unseen, strange):
            logits, _ = copier(batch, unseen.target)
            assert (logits.argmax(-1) == unseen.target).float().mean() > 0.98
    assert (page["greedy"](copier, unseen) == unseen.target).float().mean() < 0.25


def test_whole_sequences_are_right_as_often_greedily_as_under_teacher_forcing(page):
    torch.manual_seed(2)
    model, rng = page["Translator"]("dot"), generator(2)
    page["train"](model, lambda: translation.swaps(64, 3, rng), 60)
    batch = translation.swaps(300, 3, generator(9))
    with torch.no_grad():
        logits, _ = model(batch, page["shifted"](batch.target))
    told = (logits.argmax(-1) == batch.target).all(-1)
    own = (page["greedy"](model, batch) == batch.target).all(-1)
    assert torch.equal(told, own) and 0 < told.float().mean() < 1


def test_a_query_one_step_early_costs_the_alignment_and_not_the_accuracy(page):
    check, results = translation.sorting(500, 5, generator(99)), {}
    for before in (False, True):
        torch.manual_seed(0)
        model, rng = page["Sorter"](before), generator(0)
        page["train"](model, lambda rng=rng: translation.sorting(64, 5, rng), 200)
        with torch.no_grad():
            logits, weights = model(check, page["shifted"](check.target))
        right = (logits.argmax(-1) == check.target).float().mean().item()
        results[before] = right, page["share_on"](check.right, weights)
    assert results[False][0] > 0.97 and results[True][0] > 0.97
    assert results[False][1] > 0.9 and results[True][1] < 0.75


def test_packing_and_mask_together_keep_padding_out(page):
    torch.manual_seed(3)
    model, batch = page["Translator"]("dot"), page["unseen"][:20]
    wide, ids = page["padded"](batch, 40), page["shifted"](batch.target)
    with torch.no_grad():
        assert (model(wide, ids)[0] - model(batch, ids)[0]).abs().max() < ROUNDING
        assert (page["without_mask"](model, wide)[1]) > page["without_mask"](model, batch)[1] > 0


def test_the_backward_direction_reads_padding_first(page):
    torch.manual_seed(4)
    model, batch = page["Translator"]("dot"), page["unseen"][:20]
    encoder, length = model.encoder, batch.source.shape[1]
    with torch.no_grad():
        narrow = encoder.gru(encoder.embedding(batch.source))[0]
        wide = encoder.gru(encoder.embedding(page["padded"](batch, 40).source))[0][:, :length]
    moved = (wide - narrow)[batch.real].abs()
    assert moved[:, :16].max() < ROUNDING and moved[:, 16:].max() > 0.01


def test_attention_alone_does_not_see_what_it_is_to_write(page):
    torch.manual_seed(5)
    model, batch = page["AttentionAlone"]().eval(), page["unseen"][:20]
    ids = page["shifted"](batch.target)
    other = ids.clone()
    other[:, 6:] = translation.SYMBOLS.index("7")
    with torch.no_grad():
        moved = (model(batch, other)[0] - model(batch, ids)[0]).abs().amax((0, 2))
    assert moved[:6].max() < ROUNDING and moved[6] > 0.01


def test_both_models_of_the_comparison_have_the_same_budget(page):
    def count(module: nn.Module) -> int:
        return sum(p.numel() for p in module.parameters())

    rnn, alone = count(page["Translator"]("additive")), count(page["AttentionAlone"]())
    assert (rnn, alone) == (18_982, 19_622) and alone / rnn < 1.04
    assert count(page["OneVector"](64)) > 3 * count(page["Translator"]("bilinear"))


def test_the_page_says_which_of_its_statements_hold_and_fails_for_none():
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    (claims,) = (cell for cell in cells if "holds = {" in cell)
    assert len(re.findall(r'^    "[^"]+": ', claims, re.M)) >= 25
    assert not any(re.search(r"^ *(assert|raise) ", cell, re.M) for cell in cells)  # other machines round otherwise
