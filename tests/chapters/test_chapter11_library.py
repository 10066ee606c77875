"""The claims of chapter 11 about torch's attention on a processor, shared heads, and usual mistakes."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend
from torch.utils.flop_counter import FlopCounterMode

from attention.efficient import blockwise_attention, grouped_query_attention
from attention.masks import causal_mask
from attention.worked_example import EXAMPLE
from benchmarks.gate import GateError
from tests.chapters.chapter11 import EXACT, page_names, random

pytestmark = pytest.mark.proof(depends="book/chapters/11-efficient.md")

KERNEL = Path(__file__).resolve().parents[2] / "solutions" / "attention" / "_triton_attention.py"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    threads = torch.get_num_threads()
    names = page_names()
    torch.set_num_threads(threads)
    return names


def inputs(*shape: int, seed: int = 0) -> torch.Tensor:
    return random(3, *shape, seed=seed).float()


# What SDPA picks on a processor

FLOAT = inputs(1, 2, 64, 32)
FUSED = {
    "float32": (FLOAT, {}),
    "float64": (FLOAT.double(), {}),
    "float16": (FLOAT.half(), {}),
    "bfloat16": (FLOAT.bfloat16(), {}),
    "is_causal": (FLOAT, {"is_causal": True}),
    "boolean mask": (FLOAT, {"attn_mask": torch.ones(64, 64, dtype=torch.bool)}),
}
FALLEN = {
    "mask with gradient": (FLOAT, {"attn_mask": torch.zeros(64, 64, requires_grad=True)}),
    "dropout": (FLOAT, {"dropout_p": 0.1}),
    "three dimensions": (FLOAT[:, 0], {}),
    "narrow values": ((*FLOAT[:2], FLOAT[2, ..., :16]), {}),
    "strided features": (FLOAT.mT.contiguous().mT, {}),
}


@pytest.mark.parametrize("name", FUSED)
def test_sdpa_stays_fused_on_a_processor(page, name):
    tensors, options = FUSED[name]
    assert page["picked"](*tensors, **options) == "flash"
    works = [page["can_run"](backend, *tensors, **options) for backend in page["backends"]]
    assert works == [True, False, False, True]


@pytest.mark.parametrize("name", FALLEN)
def test_sdpa_falls_back_to_the_matrix_without_a_word(page, name):
    tensors, options = FALLEN[name]
    assert page["picked"](*tensors, **options) == "math"
    assert not page["can_run"](SDPBackend.FLASH_ATTENTION, *tensors, **options)


def test_the_flag_and_the_mask_give_the_same_answer():
    q, k, v = inputs(1, 2, 40, 8)
    flag = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(flag, F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(40)), atol=1e-6)
    assert torch.allclose(flag, blockwise_attention(q, k, v, is_causal=True), atol=1e-6)


def test_what_torchs_layers_compute_attention_with(page):
    layer, tokens, hidden = page["layer"], page["tokens"][:, :64], page["hidden"][:64, :64]

    def mha(**options: Any) -> Any:
        return layer(tokens, tokens, tokens, **options)

    with torch.no_grad():
        layer.train()
        assert page["attends_by"](lambda: mha(need_weights=False)) == "SDPA, flash"
        assert page["attends_by"](lambda: mha(need_weights=False, attn_mask=hidden, is_causal=True)) == "SDPA, flash"
        assert page["attends_by"](mha) == "a matrix of its own"
        layer.eval()
        assert page["attends_by"](lambda: mha(need_weights=False)) == "a matrix of its own"
        assert page["attends_by"](lambda: page["encode"](0.0)) == "SDPA, flash"
        assert page["attends_by"](lambda: page["encode"](0.1)) == "SDPA, math"
        assert page["attends_by"](lambda: page["encode"](None, False)) == "SDPA, flash"
        assert page["attends_by"](page["encode"]) == "a matrix of its own"


@pytest.mark.full
def test_torchs_bf16_question_counts_emulation():
    source = ast.parse(Path(torch.cuda.__file__).read_text("utf-8"))
    asked = next(node for node in source.body if getattr(node, "name", "") == "is_bf16_supported")
    assert asked.args.args[0].arg == "including_emulation" and asked.args.defaults[0].value is True


# The kernel, as far as it can be read without a GPU


@pytest.mark.full
def test_the_kernels_backward_pass_has_seven_products():
    functions = {node.name: node for node in ast.parse(KERNEL.read_text("utf-8")).body if hasattr(node, "name")}

    def products(name: str) -> int:
        calls = [node.func for node in ast.walk(functions[name]) if isinstance(node, ast.Call)]
        return sum(ast.unparse(call) == "tl.dot" for call in calls)

    assert products("_attend") == 2 and products("_gather_queries") == 3 and products("_gather_keys") == 4
    assert "_forward" in functions


# Shared heads


def test_head_2_of_the_example_asks_head_1s_keys():
    x, example = torch.tensor(EXAMPLE["inputs"]).double(), {}
    for name in ("query", "key", "value", "query2", "key2", "value2"):
        example[name] = x @ torch.tensor(EXAMPLE[f"w_{name}"]).double()
    assert (example["query2"] @ example["key"].T).tolist() == [[2, 8, 6], [2, 8, 6], [3, 12, 9]]
    queries = torch.stack([example["query"], example["query2"]])[None]
    shared, _ = grouped_query_attention(queries, example["key"][None, None], example["value"][None, None])
    alone = F.scaled_dot_product_attention(*(example[name] for name in ("query", "key", "value")))
    assert (shared[0, 0] - alone).abs().max() < EXACT
    assert (shared[0, 1, 0] - shared[0, 1, 1]).abs().max() < EXACT  # tokens 1 and 2 ask alike


def test_sharing_heads_saves_bytes_and_no_flops(page):
    query = random(1, 16, 1, 64).float()
    spent = []
    for groups in (16, 4, 1):
        keys, values = random(2, 1, groups, 512, 64, seed=1).float()
        with page["MatrixWork"]() as counted:
            output = page["decode"](query, keys, values)
        assert torch.allclose(output, grouped_query_attention(query, keys, values)[0], atol=1e-5)
        assert torch.allclose(output, page["decode_repeated"](query, keys, values), atol=1e-5)
        spent.append(counted.flops)
    assert spent == [4 * 16 * 512 * 64] * 3
    assert page["cache_bytes"](32, 32768) == 16 * 2**30 == 4 * page["cache_bytes"](8, 32768)


# Mistakes


def test_blockwise_attention_is_no_approximation(page):
    q, k, v = inputs(8, 512, 64, seed=3)
    exact = page["naive_attention"](q.double(), k.double(), v.double())
    errors = [(form(q, k, v) - exact).abs().max().item() for form in (page["naive_attention"], blockwise_attention)]
    assert errors[1] < 2 * errors[0] < 1e-5


def test_torchs_flop_counter_does_not_see_the_fused_kernel_or_products_into_a_given_tensor(page):
    q, k, v = inputs(1, 8, 256, 64)
    counted = []
    for form in (page["naive_attention"], blockwise_attention, F.scaled_dot_product_attention):
        with FlopCounterMode(display=False) as counter:
            form(q, k, v)
        counted.append(counter.get_total_flops() / (8 * 256**2 * 64))
    assert counted == [4, 2, 0]


def test_the_gate_refuses_to_time_an_inverted_mask(page):
    q, k, v = inputs(1, 1, 48, 8)
    blocked, seen = ~causal_mask(48), causal_mask(48)
    exact = page["masked_naive"](q.double(), k.double(), v.double(), mask=seen)
    baseline, timed = page["masked_naive"](q, k, v, mask=seen), []

    def inverted() -> torch.Tensor:
        timed.append(1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=blocked)

    assert inverted().shape == baseline.shape and inverted().isfinite().all()
    timed.clear()
    with pytest.raises(GateError, match="inverted"):
        page["checked_times"]({"inverted": inverted}, exact, baseline)
    assert len(timed) == 1  # called once to be looked at, never on the clock


def test_torchs_causal_flag_starts_at_the_start():
    q, k, v = random(1, 1, 2, 16), *random(2, 1, 1, 12, 16, seed=1)
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    ours = blockwise_attention(q, k, v, is_causal=True)
    assert torch.equal(theirs[0, 0, 0], v[0, 0, 0]) and (theirs - ours).abs().max() > 0.1
    repaired = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(2, 12))
    assert (repaired - ours).abs().max() < EXACT


def test_zeros_hide_every_mistake_and_the_claimed_rate_is_impossible(page):
    zeros, naive = torch.zeros(1, 1, 16, 8), page["naive_attention"]
    for wrong in ((zeros @ zeros.mT).softmax(-1) @ zeros, zeros @ zeros.mT @ zeros):
        assert torch.equal(naive(zeros, zeros, zeros), wrong)
    claimed = 4 * 8 * 16 * 8192**2 * 64 / 0.02e-3 / 1e12
    assert round(claimed) == 109_951 and 100 < claimed / 989 < 120
