"""Random states of the living example, and what the reference makes of them."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import torch

from attention.encoder import layer_norm
from attention.masks import causal_mask, masked_softmax
from attention.multi_head import merge_heads, split_heads
from attention.positions import apply_rotary, sinusoidal_encoding
from attention.scores import dot_scores
from attention.worked_example import EXAMPLE, project, self_attention

#: What a reader may change in each view: matrices with rows and columns, and options with their values.
SHAPES = {
    "hero": {"x": (3, 4), "wq": (4, 3), "wk": (4, 3), "wv": (4, 3), "mask": (3, 3)},
    "scores": {"q": (3, 3), "k": (3, 3)},
    "masks": {"x": (3, 4), "mask": (3, 3)},
    "heads": {"x": (3, 4), "wq": (4, 6), "wk": (4, 6), "wv": (4, 6), "wo": (6, 4)},
    "positions": {"x": (3, 4), "p": (3, 1)},
    "layer": {"x": (3, 4), "w1": (4, 6), "b1": (1, 6), "w2": (6, 4), "b2": (1, 4)},
    "decode": {"x": (4, 4)},
}
SHAPES["full"] = SHAPES["hero"]
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "hero": {"scale": [True, False]},
    "full": {"scale": [True, False]},
    "scores": {"width": [3, 16, 64, 256, 1024], "scale": [True, False], "temperature": [0.25, 0.75, 1, 2.5, 4]},
    "masks": {"after": [True, False]},
    "heads": {"head": [1, 2], "wrong": [True, False]},
    "positions": {"mode": ["none", "added", "rotated"]},
    "layer": {"residual": [True, False], "norm": [True, False]},
    "decode": {"written": [1, 2, 3, 4]},
}


def random_state(rng: random.Random, view: str) -> dict[str, Any]:
    """Whole numbers, halves and decimals up to 9, some matrices large enough to saturate, masks with empty rows."""
    draw = rng.choice([lambda: rng.randint(-3, 3), lambda: rng.randint(-9, 9) / 2, lambda: round(rng.gauss(0, 1), 4)])

    def number(name: str) -> float:
        if name == "mask":
            return int(rng.random() < 0.6)
        return rng.randint(0, 99) if name == "p" else draw()

    matrices = {
        name: [[number(name) for _ in range(columns)] for _ in range(rows)]
        for name, (rows, columns) in SHAPES[view].items()
    }
    return {"m": matrices, "o": {name: rng.choice(values) for name, values in OPTIONS[view].items()}}


def projected(inputs: torch.Tensor, *weights: torch.Tensor) -> list[torch.Tensor]:
    """Queries, keys and values; the weights of the running example where none are given."""
    given = weights or [weights_of(f"w_{part}") for part in ("query", "key", "value")]
    return [tensor(one) for one in project(inputs.numpy(), *(one.numpy() for one in given))]


def tensor(matrix: Any) -> torch.Tensor:
    return torch.as_tensor(np.array(matrix, dtype=float))


def weights_of(name: str) -> torch.Tensor:
    return tensor(EXAMPLE[name])


def expected(view: str, state: dict[str, Any]) -> dict[str, np.ndarray]:
    """By panel what the reference gives; NaN where the view shows nothing."""
    m = {name: tensor(matrix) for name, matrix in state["m"].items()}
    return {name: np.asarray(matrix) for name, matrix in BY_VIEW[view](m, state["o"]).items()}


def whole(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    q, k, v = projected(m["x"], m["wq"], m["wk"], m["wv"])
    scores = dot_scores(q, k)
    scaled = scores / math.sqrt(3) if o["scale"] else scores
    weights = masked_softmax(scaled, m["mask"].bool())
    return {"q": q, "k": k, "v": v, "s": scores, "t": scaled, "a": weights, "y": weights @ v}


def drawn_signs(width: int) -> torch.Tensor:
    number, signs = 20, []
    for _ in range(6 * (width - 3)):
        number = (number * 1664525 + 1013904223) % 2**32
        signs.append(1.0 if number >= 2**31 else -1.0)
    return torch.tensor(signs, dtype=torch.float64).reshape(6, width - 3)


def scores(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    signs = drawn_signs(o["width"])
    raw = dot_scores(torch.cat([m["q"], signs[:3]], dim=1), torch.cat([m["k"], signs[3:]], dim=1))
    scaled = raw / (math.sqrt(o["width"]) if o["scale"] else 1) / o["temperature"]
    weights = masked_softmax(scaled)
    jacobian = torch.autograd.functional.jacobian(masked_softmax, scaled)
    slopes = [[jacobian[i, j, i, j] for j in range(3)] for i in range(3)]
    return {"s": raw, "t": scaled, "a": weights, "g": slopes}


def masks(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    q, k, v = projected(m["x"])
    scaled, mask = dot_scores(q, k) / math.sqrt(3), m["mask"].bool()
    weights = masked_softmax(scaled) * mask if o["after"] else masked_softmax(scaled, mask)
    return {"t": scaled, "a": weights, "total": weights.sum(1, keepdim=True), "v": v, "y": weights @ v}


def heads(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    wide = {name: m["x"] @ m[f"w{name}"] for name in "qkv"}
    if o["wrong"]:
        cut = {name: one.reshape(2, 3, 3) for name, one in wide.items()}
    else:
        cut = {name: split_heads(one[None], 2)[0] for name, one in wide.items()}
    weights = masked_softmax(cut["q"] @ cut["k"].mT / math.sqrt(3))
    made = weights @ cut["v"]
    joined = made.reshape(3, 6) if o["wrong"] else merge_heads(made[None])[0]
    chosen = {name: one[o["head"] - 1] for name, one in {**cut, "a": weights, "yh": made}.items()}
    wide = {f"{name}6": one for name, one in wide.items()}
    return {**wide, **chosen, "o1": made[0], "o2": made[1], "joined": joined, "y": joined @ m["wo"]}


def positions(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    places = m["p"][:, 0].long()
    vectors = sinusoidal_encoding(100, 4).double()[places]
    if o["mode"] == "rotated":
        turned = apply_rotary(m["x"], positions=places)
        raw = dot_scores(turned, turned)
        return {"z": turned, "s": raw, "a": masked_softmax(raw / 2)}
    tokens = m["x"] + vectors if o["mode"] == "added" else m["x"]
    q, k, _ = projected(tokens)
    raw = dot_scores(q, k)
    return {"z": tokens, "q": q, "k": k, "s": raw, "a": masked_softmax(raw / math.sqrt(3))}


def layer(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    def head(suffix: str) -> torch.Tensor:
        given = (EXAMPLE[f"w_{part}{suffix}"] for part in ("query", "key", "value"))
        return tensor(self_attention(m["x"].numpy(), *given, scale=True)[0])

    def norm(rows: torch.Tensor) -> torch.Tensor:
        return layer_norm(rows) if o["norm"] else rows

    attended = torch.cat([head(""), head("2")], dim=1) @ weights_of("w_output")
    stream = m["x"] + attended if o["residual"] else attended
    first = norm(stream)
    units = first @ m["w1"] + m["b1"]
    added = units.clamp(min=0) @ m["w2"] + m["b2"]
    second = first + added if o["residual"] else added
    return {"z": attended, "r1": stream, "n1": first, "u": units, "f": added, "r2": second, "n2": norm(second)}


def decode(m: dict[str, torch.Tensor], o: dict[str, Any]) -> dict[str, Any]:
    q, k, v = projected(m["x"])
    weights = masked_softmax(dot_scores(q, k) / math.sqrt(3), causal_mask(4))
    absent = torch.arange(4)[:, None] >= o["written"]
    outputs = (weights @ v).masked_fill(absent, math.nan)
    k, v = k.masked_fill(absent, math.nan), v.masked_fill(absent, math.nan)
    return {"k": k, "v": v, "a": weights.masked_fill(absent | ~causal_mask(4), math.nan), "y": outputs}


BY_VIEW = {
    "hero": whole,
    "full": whole,
    "scores": scores,
    "masks": masks,
    "heads": heads,
    "positions": positions,
    "layer": layer,
    "decode": decode,
}
