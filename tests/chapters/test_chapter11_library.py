"""The claims of chapter 11 and its deeper pages about torch's attention, shared heads, caches and usual mistakes."""

from __future__ import annotations

import ast
import re
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
from peak_memory import naive_attention
from studies import counting, sdpa
from studies.efficient import checked_seconds, decode_copied, masked_naive
from tests.chapters.chapter11 import EXACT, FILES, PAGE, PAGES, between, numbers, page_names, random

pytestmark = pytest.mark.proof(depends=FILES)

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
def test_sdpa_stays_fused_on_a_processor(name):
    tensors, options = FUSED[name]
    assert sdpa.picked(*tensors, **options) == "flash"
    works = [sdpa.can_run(backend, *tensors, **options) for backend in sdpa.BACKENDS.values()]
    assert works == [True, False, False, True]


@pytest.mark.parametrize("name", FALLEN)
def test_sdpa_falls_back_to_the_matrix_without_a_word(name):
    tensors, options = FALLEN[name]
    assert sdpa.picked(*tensors, **options) == "math"
    assert not sdpa.can_run(SDPBackend.FLASH_ATTENTION, *tensors, **options)


def test_the_flag_and_the_mask_give_the_same_answer():
    q, k, v = inputs(1, 2, 40, 8)
    flag = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(flag, F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(40)), atol=1e-6)
    assert torch.allclose(flag, blockwise_attention(q, k, v, is_causal=True), atol=1e-6)


def test_the_page_asks_for_the_situations_that_are_tested_here():
    asked = {name: sdpa.picked(*tensors, **options) for name, (tensors, options) in sdpa.situations("cpu").items()}
    assert list(asked.values()) == ["flash"] * len(FUSED) + ["math"] * len(FALLEN)


def test_what_torchs_layers_compute_attention_with():
    layers = sdpa.Layers(64)
    runs = layers.runs(False)
    found = {name: sdpa.attends_by(run) for kind in runs.values() for name, run in kind.items()}
    with torch.no_grad():
        found |= {name: sdpa.attends_by(run) for kind in runs.values() for name, run in kind.items()}
        assert sdpa.attends_by(lambda: layers.encode(False, 0.1)) == "SDPA, math"
    assert {name for name, how in found.items() if how == "a matrix of its own"} == {
        "MultiheadAttention, training",
        "MultiheadAttention, eval, no weights",
        "EncoderLayer, eval",
    }
    assert set(found.values()) == {"a matrix of its own", "SDPA, flash"}


@pytest.mark.full
def test_torchs_bf16_question_counts_emulation():
    source = ast.parse(Path(torch.cuda.__file__).read_text("utf-8"))
    asked = next(node for node in source.body if getattr(node, "name", "") == "is_bf16_supported")
    assert asked.args.args[0].arg == "including_emulation" and asked.args.defaults[0].value is True


# The kernel, as far as it can be read without running it


@pytest.mark.full
def test_the_kernels_backward_pass_has_seven_products():
    functions = {node.name: node for node in ast.parse(KERNEL.read_text("utf-8")).body if hasattr(node, "name")}

    def products(name: str) -> int:
        calls = [node.func for node in ast.walk(functions[name]) if isinstance(node, ast.Call)]
        return sum(ast.unparse(call) == "tl.dot" for call in calls)

    backward = [name for name in functions if name.startswith("_gather")]
    assert sum(map(products, backward)) == 7 and "seven in all" in PAGES["triton-kernel"]


# Shared heads


def test_head_2_of_the_example_asks_head_1s_keys():
    x, example = torch.tensor(EXAMPLE["inputs"]).double(), {}
    for name in ("query", "key", "value", "query2", "key2", "value2"):
        example[name] = x @ torch.tensor(EXAMPLE[f"w_{name}"]).double()
    written = numbers(between("has the queries", "With the first head's keys"))
    assert written == example["query2"].flatten().tolist()
    shared, own = re.findall(
        r"\\begin\{pmatrix\} (.*?) \\end", between("keys its scores become", "Tokens 1 and 2 have"), re.S
    )
    assert numbers(shared) == (example["query2"] @ example["key"].T).flatten().tolist()
    assert numbers(own) == (example["query2"] @ example["key2"].T).flatten().tolist()
    queries = torch.stack([example["query"], example["query2"]])[None]
    output, _ = grouped_query_attention(queries, example["key"][None, None], example["value"][None, None])
    alone = F.scaled_dot_product_attention(*(example[name] for name in ("query", "key", "value")))
    assert (output[0, 0] - alone).abs().max() < EXACT
    assert (output[0, 1, 0] - output[0, 1, 1]).abs().max() < EXACT  # tokens 1 and 2 ask alike


def test_sharing_heads_saves_bytes_and_no_flops(page):
    query = random(16, 64).float()
    spent = []
    for groups in (16, 4, 1):
        keys, values = random(2, groups, 512, 64, seed=1).float()
        with counting.MatrixWork() as counted:
            output = page["decode"](query, keys, values)
        batch = query[None, :, None], keys[None], values[None]
        for right in (grouped_query_attention(*batch)[0], decode_copied(*batch)):
            assert torch.allclose(output, right[0, :, 0], atol=1e-5)
        spent.append(counted.flops)
    assert spent == [4 * 16 * 512 * 64] * 3


def test_when_the_cache_is_larger_than_the_weights():
    weights, token = counting.weight_bytes(), counting.cache_bytes(32, 1)
    assert 6.7e9 < weights / 2 < 6.8e9  # the parameters of LLaMA 7B
    assert f"Its weights are {weights / 2**30:.1f} GiB" in PAGE
    assert token == 512 * 2**10 and "one token of cache is 512 KiB" in PAGE
    limits = [weights // counting.cache_bytes(groups, 1) for groups in (32, 8, 1)]
    assert f"exceeds {limits[0]:,} tokens with $G = 32$, and {limits[1]:,} with $G = 8$" in PAGE
    assert [round(limit, -3) for limit in limits] == [26_000, 103_000, 823_000]
    assert "near 26 thousand, 103 thousand and 823 thousand tokens" in PAGE


# An H100's roofs


def test_the_ceilings_of_attention_on_an_h100():
    peak, bandwidth, exponentials = 989e12, 3.35e12, 16 * 132 * 1.83e9
    assert round(peak / bandwidth) == 295 and "below 295 FLOPs per byte" in PAGE
    assert f"{exponentials / 1e12:.1f}" == "3.9" and "computes $3.9 \\cdot 10^{12}$ exponentials per second" in PAGE
    naive = [round(d / 2 * bandwidth / 1e12) for d in (64, 128)]
    assert f"allows it {naive[0]} TFLOP/s at $d = 64$ and {naive[1]} at $d = 128$" in PAGE
    rows = {name: [] for name in ("products", "one", "share", "after")}
    for d in (64, 128):
        products, power = 4 * d / peak, 1 / exponentials
        rows["products"].append(f"{1e12 * products:.2f} ps")
        rows["one"].append(f"{1e12 * power:.2f} ps")
        rows["share"].append(f"{100 * power / products:.0f} %")
        rows["after"].append(f"{4 * d / (products + power) / 1e12:.0f} TFLOP/s")
    starts = ("products, $4d$", "one exponential", "share", "one after the other")
    for start, cells in zip(starts, rows.values(), strict=True):
        (line,) = re.findall(rf"^\| {re.escape(start)}[^|]*\|(.*)\|$", PAGE, re.M)
        assert [cell.strip() for cell in line.split("|")] == cells
    alt = between("Upper bounds in TFLOP/s for widths", "\n---", PAGES["attention-roofline"])
    assert numbers(alt)[2:8] == [107, 214, 495, 659, 989, 989]


def test_the_memories_of_an_h100_add_up():
    shared, registers = 132 * 228 / 2**10, 132 * 256 / 2**10  # MiB: KiB of each of 132 multiprocessors
    assert round(shared) == 29 and round(registers) == 33
    assert "Registers, 33 MiB" in PAGE and "Shared memory, 29 MiB" in PAGE
    assert 2 * 4096 * 128 * 2 == 2 * 2**20 and 128 * 12 == 1536  # a head's keys and values; TFLOP/s from L2


# What libraries call it


def test_torchs_bias_is_aligned_to_the_end_and_its_flag_shares_neighbours():
    from torch.nn.attention.bias import causal_lower_right

    q, (k, v) = random(1, 8, 2, 16).float(), random(2, 1, 2, 12, 16, seed=1).float()
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(2, 12), enable_gqa=True)
    ours, _ = grouped_query_attention(q, k, v, causal_mask(2, 12))
    assert torch.allclose(theirs, ours, atol=1e-5)


# Mistakes


def test_blockwise_attention_is_no_approximation():
    q, k, v = inputs(8, 512, 64, seed=3)
    exact = naive_attention(q.double(), k.double(), v.double())
    errors = [(form(q, k, v) - exact).abs().max().item() for form in (naive_attention, blockwise_attention)]
    assert errors[1] < 2 * errors[0] < 1e-5


def test_torchs_flop_counter_does_not_see_the_fused_kernel_or_products_into_a_given_tensor():
    q, k, v = inputs(1, 8, 256, 64)
    counted = []
    for form in (naive_attention, blockwise_attention, F.scaled_dot_product_attention):
        with FlopCounterMode(display=False) as counter:
            form(q, k, v)
        counted.append(counter.get_total_flops() / (8 * 256**2 * 64))
    # By blocks the scores of the second half have a feature more than 64: what is subtracted comes with them.
    assert counted == [4, 2 * (64 + 65) / 128, 0]


def test_the_gate_refuses_to_time_an_inverted_mask():
    q, k, v = inputs(1, 1, 48, 8)
    blocked, seen = ~causal_mask(48), causal_mask(48)
    exact = masked_naive(q.double(), k.double(), v.double(), seen)
    baseline, timed = masked_naive(q, k, v, seen), []

    def inverted() -> torch.Tensor:
        timed.append(1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=blocked)

    assert inverted().shape == baseline.shape and inverted().isfinite().all()
    timed.clear()
    with pytest.raises(GateError, match="inverted"):
        checked_seconds({"inverted": inverted}, exact, baseline)
    assert len(timed) == 1  # called once to be looked at, never on the clock


def test_torchs_causal_flag_starts_at_the_start():
    q, k, v = random(1, 1, 2, 16), *random(2, 1, 1, 12, 16, seed=1)
    theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    ours = blockwise_attention(q, k, v, is_causal=True)
    assert torch.equal(theirs[0, 0, 0], v[0, 0, 0]) and (theirs - ours).abs().max() > 0.1
    repaired = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(2, 12))
    assert (repaired - ours).abs().max() < EXACT


def test_zeros_hide_every_mistake_and_the_claimed_rate_is_impossible():
    zeros, naive = torch.zeros(1, 1, 16, 8), naive_attention
    for wrong in ((zeros @ zeros.mT).softmax(-1) @ zeros, zeros @ zeros.mT @ zeros):
        assert torch.equal(naive(zeros, zeros, zeros), wrong)
    claimed = 4 * 8 * 16 * 8192**2 * 64 / 0.02e-3 / 1e12
    assert f"{claimed:,.0f} TFLOP/s, a hundred H100s" in PAGE and 100 < claimed / 989 < 120
