"""What chapter 1's deeper pages say and is mathematics, proven without the pages' own experiments."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from attention import worked_example
from attention.scores import bilinear_scores, scaled_dot_scores
from studies import layer_costs, reach

PAGES = ("how-far-layers-see", "recurrence-or-attention", "soft-lookup", "what-a-layer-costs", "why-three-matrices")
pytestmark = pytest.mark.proof(depends=[f"book/deeper/{page}.md" for page in PAGES])

EXAMPLE = worked_example.EXAMPLE
DEEPER = Path(__file__).resolve().parents[2] / "book" / "deeper"


def text(page: str) -> str:
    return " ".join((DEEPER / f"{page}.md").read_text("utf-8").split())


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def self_attention(x: torch.Tensor, w_query: torch.Tensor, w_key: torch.Tensor, w_value: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scaled_dot_scores(x @ w_query, x @ w_key), dim=-1) @ (x @ w_value)


# How far a layer sees


@pytest.mark.full
@pytest.mark.parametrize("dilated", [False, True])
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_receptive_field_grows_as_the_formula_says(depth: int, kernel: int, dilated: bool) -> None:
    n = 129
    field = np.zeros(n)
    field[n // 2] = 1
    for layer in range(depth):
        taps = np.zeros(2**layer * (kernel - 1) + 1 if dilated else kernel)
        taps[:: 2**layer if dilated else 1] = 1
        field = np.convolve(field, taps, mode="same")
    reach = np.flatnonzero(field)
    predicted = 1 + (kernel - 1) * (2**depth - 1) if dilated else 1 + depth * (kernel - 1)
    assert reach[-1] - reach[0] + 1 == predicted


@pytest.mark.full
def test_influence_of_uniform_kernels_widens_like_the_root_of_the_depth() -> None:
    influence = np.ones(1)
    for depth in range(1, 9):
        influence = np.convolve(influence, np.full(3, 1 / 3))
        places = np.arange(influence.size) - influence.size // 2
        assert math.sqrt(influence @ places**2) == pytest.approx(math.sqrt(2 * depth / 3))


def test_the_page_s_measure_of_influence_reaches_what_the_formula_says() -> None:
    found = [int((reach.influence([reach.averaging(3, 1)] * m, 65) > 0).sum()) for m in (1, 4, 8)]
    assert found == [3, 9, 17]
    assert "here $\\sqrt{8 \\cdot 2/3} = 2.31$ positions, in a field of 17" in text("how-far-layers-see")
    assert round(math.sqrt(8 * 2 / 3), 2) == 2.31


def test_before_training_recurrent_gradients_fade_convolutions_stop_and_attention_is_flat() -> None:
    curves = {name: reach.gradient_by_distance(name, 7) for name in reach.NETWORKS}
    assert curves["tanh RNN"][63] < curves["tanh RNN"][8] * 1e-6
    assert curves["tanh RNN"][63] < curves["tanh RNN, orthogonal"][63] < curves["GRU told to keep"][63]
    assert curves["8 convolutions"][9:].eq(0).all() and curves["8 convolutions"][8] > 0
    near, far = curves["self-attention"][1:32].mean(), curves["self-attention"][32:].mean()
    assert 0.67 < near / far < 1.5


@pytest.mark.full
def test_a_contracting_recurrence_forgets_by_a_constant_factor_per_step() -> None:
    recurrent, _ = torch.linalg.qr(random(6, 6))
    recurrent = 0.7 * recurrent  # every singular value is 0.7, and |tanh'| <= 1
    start = random(6, seed=1).requires_grad_()
    state, bound = start, 1.0
    for _ in range(12):
        state, bound = torch.tanh(state @ recurrent), 0.7 * bound
        (gradient,) = torch.autograd.grad(state.sum(), start, retain_graph=True)
        assert gradient.norm() <= bound * math.sqrt(6)


def test_distance_does_not_enter_self_attention() -> None:
    weights = [random(4, 4, seed=seed) for seed in range(3)]
    x = random(9, 4, seed=5)
    order = torch.tensor([8, 3, 0, 5, 2, 7, 4, 1, 6])
    assert torch.allclose(self_attention(x[order], *weights), self_attention(x, *weights)[order])


@pytest.mark.full
def test_a_flattened_head_fixes_the_length_and_pooling_frees_it() -> None:
    convolution = nn.Conv1d(3, 4, 3, padding=1)
    flattened = nn.Sequential(convolution, nn.Flatten(), nn.Linear(40, 2))
    pooled = nn.Sequential(convolution, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 2))
    assert flattened(torch.zeros(1, 3, 10)).shape == (1, 2)
    with pytest.raises(RuntimeError):
        flattened(torch.zeros(1, 3, 12))
    assert pooled(torch.zeros(1, 3, 12)).shape == (1, 2)
    with pytest.raises(RuntimeError):
        convolution(torch.zeros(1, 6, 12))  # the number of channels stays fixed


def test_attention_gives_one_output_per_query() -> None:
    keys, values = random(12, 3), random(12, 5, seed=1)
    for queries in (1, 5, 20):
        weights = torch.softmax(scaled_dot_scores(random(queries, 3, seed=2), keys), dim=-1)
        assert (weights @ values).shape == (queries, 5)


@pytest.mark.full
def test_heads_that_look_at_fixed_offsets_are_a_convolution() -> None:
    n, kernel = 7, random(5, 3, 3, seed=1)  # (d_out, d_in, k)
    x = random(n, 3)
    heads = torch.zeros(n, 5, dtype=torch.float64)
    for head, offset in enumerate((-1, 0, 1)):
        weights = torch.diag(torch.ones(n - abs(offset), dtype=torch.float64), diagonal=offset)
        heads += weights @ x @ kernel[:, :, head].T
    assert torch.allclose(heads, F.conv1d(x.T[None], kernel, padding=1)[0].T)


def test_who_is_mixed_with_whom_depends_on_content_in_attention_alone() -> None:
    kernel, weights = random(4, 4, 3), [random(4, 4, seed=seed) for seed in range(3)]

    def dependence(layer: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.func.jacrev(layer)(x).norm(dim=(1, 3))

    first, second = random(6, 4, seed=7), random(6, 4, seed=8)
    layers = (lambda x: F.conv1d(x.T[None], kernel, padding=1)[0].T, lambda x: self_attention(x, *weights))
    same = [torch.allclose(dependence(layer, first), dependence(layer, second)) for layer in layers]
    assert same == [True, False]
    assert (dependence(layers[1], first) > 0).all()  # one layer connects every pair
    assert (dependence(layers[0], first) > 0).sum() == 6 + 2 * 5  # three diagonals


# A soft lookup


def soft_lookup(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, temperature: float) -> torch.Tensor:
    return torch.softmax(keys @ query / temperature, dim=0) @ values


@pytest.mark.full
def test_soft_lookup_of_keys_of_one_length_tends_to_the_exact_dictionary() -> None:
    keys, values = F.normalize(random(6, 4), dim=1), random(6, 3, seed=1)
    errors = []
    for temperature in (1.0, 0.1, 0.01, 0.001):
        found = torch.stack([soft_lookup(key, keys, values, temperature) for key in keys])
        errors.append((found - values).abs().max().item())
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-9


@pytest.mark.full
def test_soft_lookup_of_a_hot_query_tends_to_the_mean() -> None:
    keys, values = random(6, 4), random(6, 3, seed=1)
    assert torch.allclose(soft_lookup(random(4, seed=2), keys, values, 1e9), values.mean(0))


@pytest.mark.full
@pytest.mark.parametrize("temperature", [0.3, 1.0, math.sqrt(3)])
def test_slope_of_the_soft_lookup_is_the_covariance_of_values_and_keys(temperature: float) -> None:
    query, keys, values = random(4), random(6, 4, seed=1), random(6, 3, seed=2)
    weights = torch.softmax(keys @ query / temperature, dim=0)
    predicted = (weights[:, None] * values).T @ (keys - weights @ keys) / temperature
    slope = torch.func.jacrev(lambda q: soft_lookup(q, keys, values, temperature))(query)
    assert torch.allclose(slope, predicted)


def test_slope_of_the_soft_lookup_vanishes_cold_and_hot() -> None:
    query, keys, values = (torch.tensor(array, dtype=torch.float64) for array in projected())
    norms = {
        t: torch.func.jacrev(lambda q, t=t: soft_lookup(q, keys, values, t))(query[2]).norm().item()
        for t in (0.05, 1.0, math.sqrt(3), 500.0)
    }
    assert norms[0.05] < 1e-12 and norms[500.0] < 0.05
    assert norms[1.0] > 0.5 and norms[math.sqrt(3)] > 0.5


def projected() -> tuple[Any, Any, Any]:
    return worked_example.project(*(EXAMPLE[name] for name in ("inputs", "w_query", "w_key", "w_value")))


def test_the_longest_key_is_found_by_every_key_and_at_unit_length_each_finds_itself() -> None:
    _, keys, _ = projected()
    assert (keys @ keys.T).argmax(axis=1).tolist() == [1, 1, 1]
    unit = keys / np.linalg.norm(keys, axis=1, keepdims=True)
    assert (unit @ unit.T).argmax(axis=1).tolist() == [0, 1, 2]


# Recurrence with attention


def test_a_decoder_step_is_the_weighted_sum_over_encoder_states() -> None:
    state, states, weight = random(3), random(5, 4, seed=1), random(3, 4, seed=2)
    energies = [sum(state[a] * weight[a, b] * h[b] for a in range(3) for b in range(4)) for h in states]
    shares = [math.exp(e) / sum(math.exp(other) for other in energies) for e in energies]
    by_hand = sum(share * h for share, h in zip(shares, states, strict=True))
    context = torch.softmax(bilinear_scores(state[None], states, weight), dim=-1) @ states
    assert torch.allclose(context[0], by_hand)


@pytest.mark.full
def test_hard_attention_has_no_gradient_and_soft_attention_has() -> None:
    scores, values = random(5).requires_grad_(), random(5, 2, seed=1)
    assert not values[scores.argmax()].requires_grad
    (gradient,) = torch.autograd.grad((torch.softmax(scores, 0) @ values).sum(), scores)
    assert gradient.norm() > 0


# What a layer costs


def product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, int]:
    """a @ b with its multiplications counted one by one."""
    out, count = np.zeros((a.shape[0], b.shape[1])), 0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
                count += 1
    return out, count


@pytest.mark.parametrize(("n", "d"), [(3, 5), (4, 4), (6, 2)])
def test_multiplications_are_those_of_the_table(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((n, d)), rng.standard_normal((d, d))
    q, projection = product(x, weight)
    scores, scoring = product(q, q.T)
    _, summing = product(worked_example.softmax(scores), q)
    assert scoring + summing == 2 * n * n * d
    assert scoring + summing + 4 * projection == 2 * n * n * d + 4 * n * d * d
    step = product(x[:1], weight)[1] + product(x[:1], weight)[1]  # input and state
    assert n * step == 2 * n * d * d
    _, tap = product(x, weight)
    assert 3 * tap == 3 * n * d * d  # a convolution of size 3: one product per offset


def test_pytorch_counts_what_the_formulas_say() -> None:
    for name, (_, formula) in layer_costs.LAYERS.items():
        assert layer_costs.counted(name, 5, 6) == formula(5, 6), name


@pytest.mark.full
def test_lower_complexity_holds_only_while_the_sequence_is_shorter_than_the_width() -> None:
    d = 64
    for n in range(1, 4 * d):
        core, layer = 2 * n * n * d, 2 * n * n * d + 4 * n * d * d
        tanh, gru, lstm, convolution = (c * n * d * d for c in (2, 6, 8, 3))
        assert (core < tanh) == (layer < gru) == (n < d)
        assert (layer < lstm) == (n < 2 * d)
        assert layer > tanh and layer > convolution


def chain(n: int) -> tuple[list[torch.Tensor], torch.Tensor]:
    """n leaves combined one after another: 2 (n - 1) operations in a row."""
    leaves = [torch.ones(1, requires_grad=True) for _ in range(n)]
    state = leaves[0]
    for leaf in leaves[1:]:
        state = torch.tanh(state + leaf)
    return leaves, state


@pytest.mark.parametrize("n", [2, 5, 33])
def test_graph_walks_count_a_chain(n: int) -> None:
    leaves, last = chain(n)
    assert layer_costs.longest_chain(last) == 2 * (n - 1)
    assert layer_costs.shortest_path(last, leaves[0]) == 2 * (n - 1)
    assert layer_costs.shortest_path(last, leaves[-1]) == 2


def test_graph_walks_count_a_tree_and_know_strangers() -> None:
    leaves = [torch.ones(1, requires_grad=True) for _ in range(8)]
    level = leaves
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    assert layer_costs.longest_chain(level[0]) == 3
    assert layer_costs.shortest_path(level[0], leaves[5]) == 3
    with pytest.raises(ValueError):
        layer_costs.shortest_path(level[0], torch.ones(1, requires_grad=True))


def test_path_and_chain_of_self_attention_do_not_grow_with_the_length() -> None:
    found = set()
    for n in (2, 9, 40):
        rows = [torch.ones(4, requires_grad=True) for _ in range(n)]
        output = self_attention(torch.stack(rows), *(torch.eye(4) for _ in range(3)))[-1]
        found.add((layer_costs.longest_chain(output), layer_costs.shortest_path(output, rows[0])))
    assert len(found) == 1


@pytest.mark.full
def test_dilated_layers_needed_grow_with_the_logarithm() -> None:
    for n in range(2, 200):
        dilated = next(m for m in range(20) if 2**m >= n)  # k = 2 reaches 2**m positions
        assert dilated == math.ceil(math.log2(n))
        plain = next(m for m in range(200) if 1 + 2 * m >= n)  # k = 3, looking one way
        assert plain == math.ceil((n - 1) / 2)


# Three matrices


@pytest.mark.full
def test_without_projections_scores_are_symmetric_and_each_token_prefers_itself() -> None:
    x = F.normalize(random(7, 5), dim=1)
    scores = x @ x.T
    assert torch.allclose(scores, scores.T)
    assert scores.argmax(dim=1).tolist() == list(range(7))
    projected_scores = (x @ random(5, 5, seed=1)) @ (x @ random(5, 5, seed=2)).T
    assert not torch.allclose(projected_scores, projected_scores.T)


@pytest.mark.full
def test_projections_can_point_round_a_circle_where_symmetric_scores_cannot() -> None:
    kinds = torch.eye(6, dtype=torch.float64)
    successor = torch.roll(kinds, 1, dims=1)  # row i is the one-hot vector of kind i + 1
    scores = (kinds @ successor) @ kinds.T
    assert scores.argmax(dim=1).tolist() == [1, 2, 3, 4, 5, 0]
    for seed in range(20):  # i → i + 1 → … → i would need a score that grows all the way round
        x = random(6, 4, seed=seed)
        assert (x @ x.T).fill_diagonal_(-math.inf).argmax(dim=1).tolist() != [1, 2, 3, 4, 5, 0]
