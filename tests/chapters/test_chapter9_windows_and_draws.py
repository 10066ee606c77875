"""What chapter 9 and its deeper pages say of local attention and of hard attention."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attention.scores import scaled_dot_scores
from attention.sequence_to_sequence import hard_attention, local_attention_weights

from .test_chapter9 import PAGE, PAGES, PRINTED, example, generator, shown

pytestmark = pytest.mark.proof(depends=PAGES)


# Local attention


def test_local_weights_of_the_running_example_by_hand():
    row, centres = torch.tensor([2.0, 4.0, 4.0]).double(), torch.tensor([1.5, 0.0, -2.0]).double()
    weights = local_attention_weights(row.expand(3, 3), centres, 1)
    lines = PAGE.split("| $p$ | softmax in the window | Gaussian | weights |")[1].split("\n")[2:5]
    for line, wanted, centre in zip(lines, weights, centres, strict=True):
        p, softmax, gaussian, written = (
            [n.replace("−", "-") for n in cell.split(",")] for cell in line.split("|")[1:5]
        )
        assert float(p[0]) == centre and shown(wanted, *map(float, written))
        for at, (share, height) in enumerate(zip(softmax, gaussian, strict=True)):
            inside = abs(at - centre) <= 1
            assert ("–" not in share) == ("–" not in height) == inside
            if inside:
                assert float(height) == pytest.approx(torch.exp(-((at - centre) ** 2) / 0.5).item(), abs=PRINTED)
                assert float(share) * float(height) == pytest.approx(wanted[at].item(), abs=1e-4)


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
    assert shown(expected, 7.93, atol=0.0051) and "= 7.93$" in PAGE and "[0.1361, 0.4319, 0.4319]" in PAGE
    assert "= [1.235,\\ 2.190,\\ -3.425]" in PAGE
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
    assert "a variance of 65, with the baseline $b = \\bar\\ell$ of 15" in PAGE


def test_estimates_from_draws_agree_with_the_exact_gradient():
    scores, values, wanted, losses = hard_example()
    p, draws = scores.softmax(-1), 20_000
    s = scores.expand(draws, 3).clone().requires_grad_()
    value, log_probability = hard_attention(s, values.expand(draws, 3, 3), generator(0))
    loss = (value - wanted).square().sum(-1)
    (log_probability * (loss - p @ losses)).sum().backward()
    error = (s.grad.mean(0) - p * (losses - p @ losses)).abs()
    assert (error < 4 * s.grad.std(0) / draws**0.5).all()  # four standard errors
