"""The numbers by hand of chapter 7, read from its text and computed again, and its claims about one encoder layer."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention.encoder import EncoderLayer, layer_norm
from attention.worked_example import EXAMPLE, self_attention
from autograder.build.book_index import BookIndex
from autograder.course.paths import BOOK
from drawings.encoder import EQUATIONS
from studies.encoder import RECORD
from studies.recording import spread

pytestmark = pytest.mark.proof(depends=["book/chapters/07-encoder.md", "book/studies/results/encoder.json"])

PAGE = (BOOK / "chapters" / "07-encoder.md").read_text("utf-8")
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
NUMBERS = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in EXAMPLE.items()}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def between(start: str, end: str) -> str:
    """The part of the page from `start`, which is there once, to the next `end`."""
    assert PAGE.count(start) == 1, start
    return PAGE.split(start)[1].partition(end)[0]


def numbers(text: str) -> list[float]:
    """The numbers of a piece of the page; indices of symbols are none of them."""
    return [float(number) for number in NUMBER.findall(re.sub(r"[_^]\{?\w+\}?", "", text))]


def printed(vector: Tensor) -> str:
    """A vector as the page prints it."""
    return "[" + ", ".join(f"{number:.4f}" for number in vector.tolist()) + "]"


def shown(computed: Tensor, written: list[float]) -> bool:
    return torch.allclose(computed.flatten().double(), torch.tensor(written).double(), rtol=0, atol=PRINTED)


def layer_by_hand() -> dict[str, Tensor]:
    """Every stage of the running example's encoder layer, (3, 4) or (3, 6), without the package's encoder."""
    heads = []
    for suffix in ("", "2"):
        matrices = [EXAMPLE[f"w_{part}{suffix}"] for part in ("query", "key", "value")]
        heads.append(torch.as_tensor(self_attention(EXAMPLE["inputs"], *matrices, scale=True)[0]))
    stages = {"heads": torch.cat(heads, -1)}
    stages["attended"] = stages["heads"] @ NUMBERS["w_output"]
    stages["first sum"] = NUMBERS["inputs"] + stages["attended"]
    stages["first norm"] = F.layer_norm(stages["first sum"], (4,))
    stages["hidden"] = stages["first norm"] @ NUMBERS["w_ff1"] + NUMBERS["b_ff1"]
    stages["ffn"] = stages["hidden"].relu() @ NUMBERS["w_ff2"] + NUMBERS["b_ff2"]
    stages["second sum"] = stages["first norm"] + stages["ffn"]
    stages["output"] = F.layer_norm(stages["second sum"], (4,))
    return stages


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the cells define that show the layer's mechanism: code shown is code tested."""
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", PAGE, re.S)
    names: dict[str, Any] = {"torch": torch, "example": NUMBERS}
    for cell in cells:
        if cell.startswith(("def norm(", "def feed_forward(")):
            exec(cell.rpartition("\n\n\nprint")[0], names)
    return names


# The layer by hand


def test_the_heads_and_the_output_projection_are_all_on_the_page():
    rows = [numbers(line) for line in between("| token | $x_i$ | head 1 | head 2 |\n", "\n\n").splitlines()[1:]]
    heads = layer_by_hand()["heads"]
    assert [row[:5] for row in rows] == [[t + 1, *NUMBERS["inputs"][t].tolist()] for t in range(3)]
    assert all(shown(heads[t], row[5:]) for t, row in enumerate(rows))
    assert numbers(between("W_O = \\begin{pmatrix}", "\\end")) == NUMBERS["w_output"].flatten().tolist()


def test_the_residual_adds_what_attention_says_to_what_the_token_was():
    stages = layer_by_hand()
    first = numbers(between("For token 1, feature 1 is $", "$."))
    assert shown(torch.stack([*stages["heads"][0, [0, 4]], stages["attended"][0, 0]]), first)
    lines = between("$$ (eq-encoder-residual)", "\\end{aligned}").replace("\\begin{aligned}", "")
    assert shown(
        torch.cat([s[0] for s in (NUMBERS["inputs"], stages["attended"], stages["first sum"])]), numbers(lines)
    )
    assert printed(stages["attended"][0]) in PAGE
    assert NUMBERS["inputs"].max() == 2 and stages["first sum"].max() > 11


def test_the_three_steps_of_the_norm_on_token_1():
    row = layer_by_hand()["first sum"][0]
    deviation = row - row.mean()
    variance = deviation.square().mean()
    root = torch.sqrt(variance + 1e-5)
    first, second, third = re.findall(r"^\d\. (.*)$", between("For token 1, $[5.2019", "```"), re.M)
    assert shown(torch.stack([row.sum(), torch.tensor(4), row.mean(), *deviation]), numbers(first))
    squares = deviation.square()
    wanted = [*squares, squares.sum(), torch.tensor(4), variance, variance, torch.tensor(1e-5), root]
    assert shown(torch.stack(wanted), numbers(second.replace("\\sqrt", "")))
    assert shown(torch.stack([root, *(deviation / root)]), numbers(third))


def test_the_code_on_the_page_is_the_layer(page):
    stages = layer_by_hand()
    for t in range(3):
        assert torch.allclose(page["norm"](stages["first sum"][t]), stages["first norm"][t])
        assert torch.allclose(page["feed_forward"](stages["first norm"][t]), stages["ffn"][t])


def test_the_feed_forward_layer_on_token_1_is_all_on_the_page():
    stages = layer_by_hand()
    matrices = between("u_1, \\dots, u_6$:", "Token 1 arrives as")
    first, second = re.findall(r"begin\{pmatrix\}(.*?)\\end", matrices, re.S)
    assert numbers(first) == NUMBERS["w_ff1"].flatten().tolist()
    assert numbers(second) == NUMBERS["w_ff2"].flatten().tolist()
    assert re.findall(r"b_\d &?= (\[.*?\])", matrices) == [str(EXAMPLE["b_ff1"]), str(EXAMPLE["b_ff2"])]
    one, *_ = stages["hidden"]
    assert shown(one, numbers(between("u = [&", "] .")))
    assert shown(torch.stack([*stages["first norm"][0, [0, 2]], torch.tensor(1), one[0]]), numbers_with_signs("u_1 = "))
    assert shown(torch.stack([one[1], -one[5], torch.tensor(1), stages["ffn"][0, 1]]), numbers_with_signs("plus 1: $"))
    assert printed(stages["ffn"][0]) in PAGE and one[3] < 0 < one[[0, 1, 2, 4, 5]].min()


def numbers_with_signs(start: str) -> list[float]:
    """The terms of a sum on the page with their signs, and its result."""
    terms, _, result = between(start, "$").partition(r"\approx")
    return [*(float(term) for term in re.findall(r"[-+]?\d[\d.]*", terms.replace(" ", ""))), float(result)]


def test_the_second_residual_and_norm_complete_the_layer():
    stages = layer_by_hand()
    written = numbers(between("For token 1 the sum is", "\\end{aligned}"))
    assert shown(torch.cat([stages[name][0] for name in ("first norm", "ffn", "second sum")]), written)
    row = stages["second sum"][0]
    text = between("Its mean is ", " The next layer")
    assert shown(torch.cat([torch.stack([row.mean(), row.var(correction=0)]), stages["output"][0]]), numbers(text))


def test_the_figures_words_are_the_numbers_of_token_1():
    stages = layer_by_hand()
    words = between("One encoder layer from bottom to top", "Arrows carry").replace("−", "-")
    stages_ = ("first sum", "first norm", "second sum", "output")
    rounded = [float(f"{n:.2f}") for name in stages_ for n in stages[name][0]]
    written = re.sub(r"norm \d|token \d", "", words)
    assert numbers(written)[-16:] == rounded


def test_the_arrows_of_the_figure_carry_the_numbers_of_the_pages_equations():
    formulas = BookIndex().formulas
    assert {name: formulas[name].title for name in EQUATIONS} == EQUATIONS


def test_layer_norm_forgets_the_level_and_the_size_of_a_token():
    row = layer_by_hand()["first sum"]
    assert (layer_norm(100 * row + 7) - layer_norm(row)).abs().max() < PRINTED
    assert layer_norm(torch.full((4,), 5.0)).count_nonzero() == 0
    gain, bias = torch.tensor([2.0, 1, 1, 1]).double(), torch.tensor([0.0, 0, 0, 1]).double()
    assert torch.allclose(layer_norm(row, gain, bias), gain * layer_norm(row) + bias)


def test_rms_norm_and_swiglu_as_the_page_writes_them_are_torchs():
    x, gain = torch.randn(3, 8).double(), torch.rand(8).double()
    by_formula = gain * x / torch.sqrt(x.square().sum(-1, keepdim=True) / 8 + 1e-5)
    assert torch.allclose(by_formula, F.rms_norm(x, (8,), gain, 1e-5))
    assert torch.allclose(x / (1 + torch.exp(-x)), F.silu(x))


def test_dropout_acts_in_the_four_positions_of_torchs_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.25)
    dropped = [part.p for part in layer.modules() if isinstance(part, nn.Dropout)] + [layer.self_attn.dropout]
    assert "dropout acts in four positions, as in PyTorch's layer" in PAGE and dropped == [0.25] * 4


# Columns and counts


def test_a_query_in_columns_gives_row_1_of_head_1():
    cell = between("scaled:\n\n```{code-cell} ipython3\n", "print")
    names = {"x": NUMBERS["inputs"], "example": NUMBERS, "math": math}
    exec(cell, names)
    assert torch.allclose(names["V"] @ names["weights"], layer_by_hand()["heads"][0, :3])


def test_parameters_are_those_of_the_formula():
    layer, d, f = EncoderLayer(512, 8, 2048), 512, 2048
    parts = [layer.self_attention, layer.feed_forward, nn.ModuleList([layer.norm1, layer.norm2])]
    counted = [sum(p.numel() for p in part.parameters()) for part in parts]
    assert counted == [4 * (d * d + d), 2 * d * f + f + d, 4 * d]
    assert [f"{count:,}" for count in counted] == re.findall(
        r"\d[\d,]+\d", between("$d_\\text{ff} = 2048$ these are", ":")
    )
    assert counted[1] / sum(counted) == pytest.approx(2 / 3, abs=0.01)


# The experiment and the mistakes


def test_the_spreads_in_the_text_are_those_of_the_study():
    found = RECORD.found("spread")
    for name in ("attention alone", "with FFN", "with norm", "with FFN and norm"):
        assert max(draw[6] for draw in found[name]) < 1e-15 and len(found[name]) == 5
    written = numbers(between("the spread after twelve layers is", ": smaller"))
    wanted = [spread([draw[12] for draw in found[f"all, {name}-norm"]]) for name in ("pre", "post")]
    assert [round(n, 3 if n < 0.04 or n == written[2] else 2) for n in written] == written
    assert torch.allclose(torch.tensor(written), torch.tensor(wanted).flatten(), rtol=0.05)


def test_the_other_formulas_for_the_norm_differ_where_the_page_says():
    row = layer_by_hand()["first sum"][:1]
    deviation, variance = row - row.mean(), row.var(correction=0)
    right, outside = layer_norm(row), deviation / (variance.sqrt() + 1e-5)
    assert (right - outside).abs().max() < 1e-4  # agrees on ordinary data
    by_variance = deviation / (variance + 1e-5)
    assert by_variance.std(correction=0).item() == pytest.approx(1 / variance.sqrt().item(), rel=1e-4)
    flat = 0.001 * layer_norm(row)
    sizes = [
        layer_norm(flat).square().mean().sqrt().item(),
        (flat / (flat.var(correction=0).sqrt() + 1e-5)).square().mean().sqrt().item(),
        (flat / (flat.var(correction=0) + 1e-5)).square().mean().sqrt().item(),
    ]
    assert sizes == pytest.approx([0.302, 0.990, 90.909], rel=2e-3)
    assert math.sqrt(3 / 4) == pytest.approx(1 - 0.134, abs=1e-3)  # an eighth, for d = 4
    assert math.sqrt(511 / 512) == pytest.approx(1 - 0.001, abs=1e-4)


@pytest.mark.full
def test_a_norm_along_axis_1_of_a_batch_mixes_the_tokens():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(14)).double()
    other = x.clone()
    other[:, 4] += 1 + torch.arange(8)

    def along(x: Tensor, axis: int) -> Tensor:
        return (x - x.mean(axis, keepdim=True)) / torch.sqrt(x.var(axis, correction=0, keepdim=True) + 1e-6)

    moved = {axis: (along(other, axis) - along(x, axis))[:, :4].abs().max().item() for axis in (1, -1)}
    assert moved[1] > 0.5 and moved[-1] == 0
