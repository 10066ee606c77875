"""The small figures compute what the reference, torch and the book's own studies compute, on random states."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention.dot_product import scaled_dot_product_attention
from attention.efficient import blockwise_attention, merge_partials
from attention.encoder import EncoderLayer
from attention.multi_head import merge_heads, split_heads
from attention.positions import apply_rotary
from attention.scores import scaled_dot_scores
from benchmarks.cost import Shape, flops
from studies import counting, layer_costs, looked_at

from .in_node import called

STATES = 200
CLOSE = {"rtol": 1e-9, "atol": 1e-12}  # both sides compute in float64


def random_rows(rng: random.Random, rows: int, columns: int, size: float = 3.0) -> list[list[float]]:
    return [[round(rng.uniform(-size, size), 2) for _ in range(columns)] for _ in range(rows)]


def double(numbers: Any) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def test_a_row_of_scores_gets_the_weights_entropy_and_derivative_of_torch() -> None:
    rng = random.Random(1)
    states = [
        {
            "standard": random_rows(rng, 1, rng.randint(2, 8))[0],
            "width": rng.choice([1, 4, 16, 64, 256, 1024]),
            "temperature": 2.0 ** rng.uniform(-3, 3),
            "scaled": rng.random() < 0.5,
        }
        for _ in range(STATES)
    ]
    for state, found in zip(states, called("softmax-temperature", [["row", one] for one in states]), strict=True):
        width, root = state["width"], math.sqrt(state["width"])
        query, keys = torch.ones(1, width).double(), (double(state["standard"])[:, None] / root).expand(-1, width)
        scaled = scaled_dot_scores(query, keys)[0]  # the state's numbers, as scores of keys that wide
        inputs = scaled * (1 if state["scaled"] else root) / state["temperature"]
        weights = inputs.softmax(-1)
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), inputs)
        np.testing.assert_allclose(found["weights"], weights, **CLOSE)
        np.testing.assert_allclose(found["entropy"], torch.special.entr(weights).sum() / math.log(2), **CLOSE)
        np.testing.assert_allclose(found["derivative"], jacobian.abs().max(), rtol=1e-9, atol=1e-15)
        way = root / ((root if state["scaled"] else 1) * state["temperature"])
        np.testing.assert_allclose(found["atQuery"], found["derivative"] * way, **CLOSE)


def test_without_the_scale_the_row_saturates_and_its_derivative_goes() -> None:
    shown = {"standard": [1.2, 0.9, 0.2, -0.5, -1.1], "temperature": 1}
    wide = [{**shown, "width": 1024, "scaled": scaled} for scaled in (False, True)]
    plain, scaled = called("softmax-temperature", [["row", one] for one in wide])
    assert max(plain["weights"]) > 0.999
    assert plain["derivative"] < 1e-3 < 0.2 < scaled["derivative"]


def test_split_and_merge_are_those_of_the_reference_and_of_a_plain_reshape() -> None:
    rng = random.Random(2)
    sizes = [(rng.randint(1, 5), heads * rng.randint(1, 4), heads) for heads in (1, 2, 3, 4) for _ in range(20)]
    right = called("head-split", [["split", *size, "right"] for size in sizes])
    wrong = called("head-split", [["split", *size, "wrong"] for size in sizes])
    for (tokens, width, heads), order, plain in zip(sizes, right, wrong, strict=True):
        entries = torch.arange(tokens * width, dtype=torch.float64).reshape(1, tokens, width)
        assert order == split_heads(entries, heads).flatten().int().tolist()
        assert plain == entries.reshape(1, heads, tokens, width // heads).flatten().int().tolist()
    for back in ("right", "wrong"):
        merged = called("head-split", [["merge", o, *size, back] for o, size in zip(right, sizes, strict=True)])
        for (tokens, width, heads), order, found in zip(sizes, right, merged, strict=True):
            split = double(order).reshape(1, heads, tokens, width // heads)
            expected = merge_heads(split) if back == "right" else split
            assert found == expected.flatten().int().tolist()


def test_rows_that_change_are_those_in_which_a_changed_token_shows() -> None:
    for way in ("right", "wrong"):
        (order,) = called("head-split", [["split", 3, 6, 2, way]])
        counts = called("head-split", [["rowsThatChange", order, 3, 6, 2, token] for token in range(3)])
        for token, found in enumerate(counts):
            x = torch.zeros(1, 3, 6).double()
            x[0, token] = 1.0
            heads = split_heads(x, 2)[0] if way == "right" else x.reshape(2, 3, 3)
            assert found == heads.any(-1).sum(-1).tolist()
    assert counts[0] == [2, 0]  # the wrong way: head 1 holds two rows of token 1, head 2 none


def test_turned_pairs_give_the_scores_of_apply_rotary() -> None:
    rng = random.Random(3)
    states = []
    for _ in range(STATES):
        query, key = random_rows(rng, 2, 2 * rng.randint(1, 4))
        states.append((query, key, rng.randint(0, 63), rng.randint(0, 63)))
    for (query, key, m, n), parts in zip(
        states, called("rotary-dial", [["pairScores", *s] for s in states]), strict=True
    ):
        products = apply_rotary(double([query]), offset=m) * apply_rotary(double([key]), offset=n)
        np.testing.assert_allclose(parts, products.reshape(-1, 2).sum(-1), rtol=1e-9, atol=1e-11)


def test_a_score_stays_when_both_positions_move() -> None:
    rng = random.Random(4)
    moved = [[*random_rows(rng, 2, 4), rng.randint(0, 40), rng.randint(0, 40)] for _ in range(50)]
    before = called("rotary-dial", [["pairScores", *one] for one in moved])
    after = called("rotary-dial", [["pairScores", q, k, m + 17, n + 17] for q, k, m, n in moved])
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-11)


def test_the_walk_ends_at_the_softmax_of_the_reference() -> None:
    rng = random.Random(5)
    for length in (1, 3, 6, 7):
        q, k, v = (random_rows(rng, length, 3) for _ in range(3))
        for causal in (False, True):
            (scores,) = called("online-softmax", [["scoresOf", q, k, causal]])
            walks = called("online-softmax", [["walk", scores, v, size] for size in (1, 2, 3, 4)])
            inputs = [double(x) for x in (q, k, v)]
            mask = torch.ones(length, length, dtype=torch.bool).tril() if causal else None
            expected = scaled_dot_product_attention(*inputs, mask)[0]
            for size, found in zip((1, 2, 3, 4), walks, strict=True):
                np.testing.assert_allclose(found["output"], expected, **CLOSE)
                blocks = blockwise_attention(*inputs, block_size=size, is_causal=causal)
                np.testing.assert_allclose(found["output"], blocks, **CLOSE)
                last = range(math.ceil(length / size))
                above = [[i, j] for i in last for j in last if causal and j * size > min(length, (i + 1) * size) - 1]
                assert found["skipped"] == above
                assert len(found["steps"]) == len(last) ** 2 - len(above)


def test_a_step_of_the_walk_merges_as_the_reference_does() -> None:
    rng = random.Random(6)
    pieces = [(random_rows(rng, 1, 3)[0], random_rows(rng, 3, 2), random_rows(rng, 1, 2)[0]) for _ in range(50)]
    before = [{"m": rng.uniform(-5, 5), "l": rng.uniform(1, 4), "a": a} for _, _, a in pieces]
    before[0] = {"m": -math.inf, "l": 0, "a": [0, 0]}
    calls = [["meet", old, s, v] for old, (s, v, _) in zip(before, pieces, strict=True)]
    for old, (scores, values, _), new in zip(before, pieces, called("online-softmax", calls), strict=True):
        s, m = double(scores), max(scores)
        part = (double(m), (s - m).exp().sum(), (s - m).exp() @ double(values))
        merged = merge_partials((double(old["m"]), double(old["l"]), double(old["a"])), part)
        for name, expected in zip(("m", "l", "a"), merged, strict=True):
            np.testing.assert_allclose(new[name], expected, **CLOSE)


def test_rescaling_one_sum_alone_gives_the_wrong_numbers_of_the_chapter() -> None:
    scores = [[score / math.sqrt(3) for score in (4, 16, 12)]]
    values = [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    only_l, only_a = called("online-softmax", [["walk", scores, values, 1, which] for which in ("l", "a")])
    np.testing.assert_allclose(only_a["steps"][-1]["met"][0]["after"]["l"], 2.0993, atol=5e-5)
    a = only_l["steps"][-1]["met"][0]["after"]["a"]
    np.testing.assert_allclose(a, [3.1986, 10.5959, 3.2980], atol=5e-5)


def test_costs_are_those_of_the_book_s_own_functions() -> None:
    rng = random.Random(7)
    sizes = []
    for _ in range(STATES):
        groups = rng.choice([1, 2, 4])
        sizes.append({
            "n": rng.randint(1, 9000), "d": rng.randint(1, 256), "heads": groups * rng.randint(1, 8), "groups": groups,
            "layers": rng.randint(1, 90), "batch": rng.randint(1, 9), "bytes": rng.choice([1, 2, 4]),
            "causal": rng.randint(0, 1), "tile": 128,
        })  # fmt: skip
    names = ("products", "matrix", "cache", "token", "intensity")
    found = {name: called("attention-cost", [[name, one] for one in sizes]) for name in names}
    for at, one in enumerate(sizes):
        got = {name: results[at] for name, results in found.items()}
        shape = Shape(one["batch"], one["heads"], one["n"], one["d"])
        assert got["products"] == flops(shape, bool(one["causal"]), "forward") * one["layers"]
        assert got["matrix"] == shape.scores * one["bytes"]
        cache = counting.cache_bytes(one["groups"], one["n"], one["d"], one["layers"], one["bytes"])
        assert got["cache"] == cache * one["batch"]
        whole = flops(Shape(1, 1, one["n"], one["d"]), False, "forward") / one["n"]  # one query of n
        np.testing.assert_allclose(got["token"], whole * one["heads"] * one["layers"] * one["batch"], **CLOSE)
        np.testing.assert_allclose(got["intensity"], 2 * one["heads"] / (one["groups"] * one["bytes"]), **CLOSE)


def test_moved_bytes_are_those_that_the_slow_memory_of_the_chapter_counts() -> None:
    for n, d, tile in ((64, 8, 16), (32, 4, 8), (128, 16, 64)):
        sizes = {"n": n, "d": d, "heads": 1, "batch": 1, "bytes": 1, "tile": tile}
        written, tiled = called("attention-cost", [["written", sizes], ["tiled", sizes]])
        assert written == counting.written_out(n, d).moved
        assert tiled == counting.by_tiles(n, d, tile).moved


def test_products_and_projections_are_the_multiplications_that_torch_counts() -> None:
    for n, d in ((16, 8), (64, 32)):
        sizes = {"n": n, "d": d, "heads": 1, "groups": 1, "layers": 1, "batch": 1, "causal": 0}
        products, projections = called("attention-cost", [["products", sizes], ["projections", sizes]])
        assert products == 2 * layer_costs.counted("attention, core", n, d)
        assert products + projections == 2 * layer_costs.counted("attention, layer", n, d)


def test_the_data_of_real_texts_are_whole_and_their_weights_sum_to_1() -> None:
    data = looked_at.read()
    assert data["environment"]["torch"] and data["seed"] == 0
    for kind, layers in (("functions", 2), ("sentences", 1)):
        assert len(data[kind]["texts"]) >= 2
        for text in data[kind]["texts"]:
            length, weights = len(text["tokens"]), np.array(text["weights"])
            assert weights.shape == (layers, 2, length, length)
            np.testing.assert_allclose(weights.sum(-1), 1000, atol=length / 2 + 0.01)  # each is rounded to a thousandth
            for question in text["questions"]:
                assert question["truth"] in data[kind]["labels"]
                asked = [question["whole"], *question["struck"], *np.array(question["without"]).reshape(2 * layers, -1)]
                np.testing.assert_allclose(np.sum(asked, axis=-1), 1000, atol=2.01)
                assert len(question["struck"]) == length


def test_the_heaviest_word_is_not_always_the_one_that_matters() -> None:
    texts = looked_at.read()["sentences"]["texts"]
    agree = []
    for text in texts:
        (question,) = text["questions"]
        rows = [np.array(head).mean(axis=0).tolist() for head in text["weights"][0]]  # a sentence's mean over queries
        heaviest = called("attention-sentence", [["heaviest", row] for row in rows])
        (matters,) = called("attention-sentence", [["mattersMost", question]])
        agree += [ranked[0] == matters for ranked in heaviest]
    assert not all(agree)


def test_removing_a_head_sets_its_block_of_the_output_projection_to_zero_and_brings_it_back() -> None:
    torch.manual_seed(0)
    layer = EncoderLayer(6, 2, 8).double().eval()
    attention, x = layer.self_attention, torch.randn(1, 4, 6).double()
    before = attention(x, x, x)[0]
    with looked_at.without_head(layer, 1):
        without = attention(x, x, x)[0]
    v, (_, weights) = split_heads(attention.v_proj(x), 2), attention(x, x, x)
    heads = weights @ v  # (1, 2, 4, 3)
    first = heads[:, 0] @ attention.out_proj.weight[:, :3].T + attention.out_proj.bias
    torch.testing.assert_close(without, first)
    torch.testing.assert_close(attention(x, x, x)[0], before, rtol=0, atol=0)
