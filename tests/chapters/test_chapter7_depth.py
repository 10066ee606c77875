"""The claims of chapter 7 and its deeper pages about depth and training, measured with the modules of their cells."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from studies import followers, layers
from studies.encoder import RECORD
from studies.recording import spread

#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
pytestmark = [pytest.mark.proof(depends="book/studies/results/encoder.json"), pytest.mark.timeout(1800)]

GUESSER = 2.079  # ln 8: the loss of a uniform guess among eight


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As on the page."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# What the residual is for


@pytest.mark.parametrize(
    ("feed_forward", "norm"), [(False, None), (True, None), (False, "post"), (True, "post")], ids=str
)
def test_without_residuals_all_tokens_become_the_same_vector(feed_forward, norm):
    spreads = layers.spread_by_depth(False, feed_forward, norm)
    assert spreads[1] > 0.5 and spreads[6] < 1e-14 and spreads[12] < 1e-14
    # The digits more than double from layer to layer, once there are any and until float64 has no more.
    digits = [-torch.tensor(value).log10().item() for value in spreads]
    falling = [(a, b) for a, b in zip(digits, digits[1:], strict=False) if a > 0.5 and b < 15]
    assert falling and all(b > 2 * a for a, b in falling)


def test_the_norm_alone_delays_the_collapse_and_does_not_stop_it():
    bare, normed = (layers.spread_by_depth(False, False, norm) for norm in (None, "post"))
    assert bare[4] < 1e-14 < normed[4] and normed[6] < 1e-14


@pytest.mark.parametrize(("norm", "low", "high"), [("post", 0.03, 0.06), ("pre", 0.4, 0.6)])
def test_with_residuals_the_tokens_stay_apart(norm, low, high):
    assert low < layers.spread_by_depth(True, True, norm)[12] < high


def test_without_residuals_hardly_anything_is_learnt():
    _, losses = followers.train_follower(6, 1, 8, False, 3e-3, 0, 120, 32, followers.WithoutResidual)
    assert followers.at_the_end(losses) > GUESSER - 0.25


# What the feed-forward layer is for


def test_a_stack_without_norm_and_feed_forward_is_affine_for_a_single_token():
    torch.manual_seed(0)
    bare = layers.Memory(3, norm=False, feed_forward=False).double()
    full = layers.Memory(3, norm=False, feed_forward=True).double()
    a, b = torch.randn(2, 1, 1, 16, dtype=torch.float64)

    def gap(network: torch.nn.Module) -> float:
        return (network(a + b) - network(a) - network(b) + network(0 * a)).abs().item()

    assert gap(bare) < 1e-12 and gap(full) > 1e-4


def test_feed_forward_layers_learn_more_facts_than_attention_with_as_many_parameters():
    with_ffn = {"layers": 2, "norm": True, "feed_forward": True}
    without = {"layers": 6, "norm": True, "feed_forward": False}
    sizes = [sum(p.numel() for p in layers.Memory(**options).parameters()) for options in (without, with_ffn)]
    assert sizes == [6545, 6449]
    assert layers.fraction_learnt(256, **with_ffn) > 0.98
    # 0.67 to 0.88 from six seeds: well above the affine stack (below 0.63) and well below all
    assert 0.64 < layers.fraction_learnt(256, **without) < 0.95


def test_an_affine_map_learns_few_random_labels_by_heart():
    affine = {"layers": 2, "norm": False, "feed_forward": False}
    assert layers.fraction_learnt(16, **affine) == 1
    assert layers.fraction_learnt(256, **affine) == pytest.approx(0.61, abs=0.02)


# Pre-norm and post-norm


def test_the_last_layers_gradient_keeps_its_size_with_post_norm_and_falls_with_pre_norm():
    last = {
        (norm_first, depth): layers.gradient_by_layer(depth, norm_first)[-1].item()
        for norm_first in (False, True)
        for depth in (3, 24)
    }
    assert last[False, 24] / last[False, 3] == pytest.approx(1.2, abs=0.1)  # "by about a fifth"
    assert last[True, 24] < 0.5 * last[True, 3]


def test_over_24_layers_post_norm_does_not_vanish_and_pre_norm_is_not_level():
    post, pre = (layers.gradient_by_layer(24, norm_first) for norm_first in (False, True))
    assert post.min() > 0.3
    assert 3 < (pre[0] / pre[-1]).item() < 8  # "several times": 3.9 to 5.6 from other draws


def loss_reached(norm_first: bool, lr: float, warm_up: int, seed: int) -> float:
    return followers.at_the_end(followers.train_follower(6, 1, 8, norm_first, lr, warm_up, 120, 32, seed=seed)[1])


@pytest.mark.parametrize("seed", [0, 1, 2, 3])  # the page's three, and one more
def test_post_norm_needs_a_warm_up_where_pre_norm_does_not(seed):
    assert loss_reached(False, 0.015, 0, seed) > GUESSER - 0.1
    assert loss_reached(False, 0.015, 50, seed) < 0.5
    assert loss_reached(True, 0.015, 0, seed) < 0.1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_post_norm_needs_no_warm_up_at_a_fifth_of_the_learning_rate(seed):
    assert loss_reached(False, 0.003, 0, seed) < 0.3


# The numbers of the studies


def test_a_start_neither_saturates_attention_nor_silences_the_feed_forward_layer():
    drawn = (torch.tensor([layers.start(how, draw) for draw in range(5)]) for how in layers.STARTS)
    gaussian, narrow, xavier, kaiming = (each.mean(dim=0).tolist() for each in drawn)
    assert gaussian[0] > 0.9 and gaussian[1] == pytest.approx(87, abs=0.5)
    assert narrow[0] < 0.04 and narrow[1] < 0.05  # 1/32 is 0.031
    assert 0.1 < xavier[0] < kaiming[0] < 0.5
    assert [xavier[1], kaiming[1]] == pytest.approx([0.6, 1.4], abs=0.05)


def test_the_study_of_random_labels_says_what_the_page_says():
    found = RECORD.found("memory")
    affine, normed, full = ([spread(seeds) for seeds in row] for row in found.values())
    assert affine[0] == (1, 0) and affine[2][0] == pytest.approx(0.61, abs=0.005)
    assert normed[2] == pytest.approx((0.78, 0.13), abs=0.005)
    assert full[2] == (1, 0)


def test_the_study_of_warm_up_says_what_the_page_says():
    found = RECORD.found("warm-up")
    ends = {name: [followers.at_the_end(losses) for losses in curves] for name, curves in found.items()}
    assert list(ends) == list(followers.DESIGNS) and {len(seeds) for seeds in ends.values()} == {5}
    stuck = {name for name, seeds in ends.items() if min(seeds) > GUESSER - 0.1}
    assert stuck == {"post-norm, 0.015", "no residual, 0.003"}
    assert all(max(seeds) < 0.05 for name, seeds in ends.items() if name not in stuck)


def test_the_study_of_two_hops_says_what_the_page_says():
    one, wide, two = RECORD.found("hops").values()
    assert min(one) > 0.55 and max(one) < 0.65  # "about six in ten"
    assert min(wide) > 0.63 and max(wide) < 0.7  # "about two in three"
    assert min(two) > 0.999


# Stacking


def test_two_layers_answer_two_hops_and_the_second_looks_where_the_first_hop_leads():
    right = {}
    for name in ("1 layer", "2 layers"):
        network, right[name] = followers.two_hops(name, 0)
    assert 0.5 < right["1 layer"] < 0.8 and right["2 layers"] > 0.98
    pointers = torch.randint(6, (1000, 6), generator=torch.Generator().manual_seed(1))
    _, shares = followers.weights_on_hops(network, pointers)
    first, second = shares.mean(dim=1)  # over the heads: (on the first hop, on the second)
    assert first[0] > 0.6 > 0.4 > first[1]
    assert second[1] > 0.8 > 0.5 > second[0]
