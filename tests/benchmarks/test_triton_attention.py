"""The Triton kernel: proven through Triton's interpreter where Triton is, on the GPU where there is one."""

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys

import pytest
import torch

from attention.efficient import blockwise_attention, triton_attention
from autograder.course.paths import ROOT

WITHOUT = "Triton is not installed here; the kernel's arithmetic is proven where it is"
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason=WITHOUT)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU here")


@pytest.fixture
def inputs():
    draw = torch.Generator().manual_seed(0)
    return [torch.randn(1, 2, 7, 16, generator=draw).half() for _ in range(3)]


def triton_version():
    return tuple(map(int, importlib.metadata.version("triton").split(".")[:2]))


def ran(script, *arguments, **environment):
    """What a script beside this file, in a process of its own, prints as JSON."""
    paths = [str(ROOT / "solutions"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | environment | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, ROOT / "tests" / "benchmarks" / script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=580)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_triton
@pytest.mark.proof(depends="tests/benchmarks/interpreted.py")
def test_interpreted_kernels_are_as_near_to_float64_as_naive_attention():
    found = ran("interpreted.py", TRITON_INTERPRET="1")
    assert len(found) == 24
    for one in found:
        assert one["copied"] == (4 if one["strided"] == "transposed" else 0), one  # what split_heads gives is not
        assert one["quiet"], one  # queries without keys give zeros, and everything is finite
        # The interpreter cuts bfloat16 off where a GPU rounds: twice the error at the outset. Four roundings are none.
        factor, rounding = (2, 2**-10) if one["dtype"] == "torch.float16" else (4, 2**-7)
        for mine, naive in zip(one["errors"], one["naive"], strict=True):
            assert mine <= max(factor * naive if not one["empty"] else 0, 4 * rounding), one


@needs_triton
@pytest.mark.full
@pytest.mark.parametrize(
    ("capability", "dtype", "form"),
    [
        ("75", "fp16", "causal"),  # T4
        ("80", "fp16", "causal"),  # A100
        ("80", "bf16", "full"),
        ("89", "fp16", "causal"),  # L4
        ("89", "bf16", "full"),
        ("90", "fp16", "causal"),  # H100 and H200
        ("90", "bf16", "full"),
    ],
)
def test_no_configuration_that_is_tried_spills_registers(capability, dtype, form, tmp_path):
    found = ran("cross_compiled.py", capability, dtype, form, TRITON_CACHE_DIR=str(tmp_path))
    assert len({(one["kernel"], one["width"]) for one in found}) == 6
    numbers = 0 if triton_version() >= (3, 9) else 26
    for one in found:
        assert one["stack"] <= 4 * numbers and one["reg"] > 32, one  # choices that were dropped take kilobytes


@needs_triton
def test_a_second_derivative_is_refused_instead_of_being_zero():
    """Where create_graph=True asks for one, autograd calls backward with gradients on."""
    from attention._triton_attention import _Attention

    with torch.enable_grad(), pytest.raises(RuntimeError, match="no second derivative.*use blockwise_attention"):
        _Attention.backward(None, torch.ones(1, 2, 7, 16))


def test_a_tensor_on_the_cpu_is_refused_with_advice(inputs, monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(RuntimeError, match="CUDA GPU, got cpu; use blockwise_attention"):
        triton_attention(*inputs)


def test_where_triton_is_missing_the_text_says_so(inputs, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setitem(sys.modules, "triton", None)
    monkeypatch.delitem(sys.modules, "attention._triton_attention", raising=False)
    with pytest.raises(RuntimeError, match="needs Triton.*use blockwise_attention"):
        triton_attention(*inputs)


def test_the_interpreter_is_not_asked_for_bfloat16(inputs, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(RuntimeError, match="use float16"):
        triton_attention(*(x.bfloat16() for x in inputs))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda q, k, v: (q[0], k, v), ValueError, r"query must be \(B, H, L, d\)"),
        (lambda q, k, v: (q, k[:, :1], v), ValueError, "query must be"),
        (lambda q, k, v: (q, k, v[:, :, :3]), ValueError, "query must be"),
        (lambda q, k, v: (q[..., :9], k[..., :9], v[..., :9]), ValueError, "d must be 16, 32, 64 or 128, got 9"),
        (lambda q, k, v: (q.float(), k.float(), v.float()), TypeError, "float16 or bfloat16, got torch.float32"),
        (lambda q, k, v: (q, k.float(), v), TypeError, "one dtype"),
    ],
)
def test_arguments_that_do_not_fit_are_named_before_the_machine_is_looked_at(inputs, change, error, text):
    with pytest.raises(error, match=text):
        triton_attention(*change(*inputs))


@needs_gpu
def test_bfloat16_on_an_older_gpu_names_the_dtype_to_take(inputs, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_: (7, 5))
    with pytest.raises(RuntimeError, match="8.0 or higher.*use float16"):
        triton_attention(*(x.bfloat16().cuda() for x in inputs))


@needs_gpu
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("width", [16, 32, 64, 128])
@pytest.mark.parametrize(("length", "keys"), [(1, 1), (257, 257), (1024, 1024), (100, 333), (333, 100)])
def test_on_the_gpu_output_and_gradients_are_near_float64(length, keys, width, is_causal):
    dtype = torch.bfloat16 if torch.cuda.get_device_capability() >= (8, 0) else torch.float16
    draw = torch.Generator("cuda").manual_seed(0)
    query, upstream = torch.randn(2, 2, 3, length, width, generator=draw, device="cuda").to(dtype).unbind()
    key, value = torch.randn(2, 2, 3, keys, width, generator=draw, device="cuda").to(dtype).unbind()
    found = []
    for function, wide in (
        (triton_attention, dtype),
        (lambda *x: blockwise_attention(*x[:3], 128, x[3]), torch.float64),
    ):
        inputs = [x.detach().to(wide).requires_grad_() for x in (query, key, value)]
        output = function(*inputs, is_causal)
        output.backward(upstream.to(wide))
        found.append([output.detach(), *(x.grad for x in inputs)])
    for mine, exact in zip(*found, strict=True):  # a rounding of the dtype per sum, and of each weight before it
        largest = exact.abs().max().clamp(min=1e-3)  # of one key no score has a gradient: there roundings are left
        assert (mine.double() - exact).abs().max() <= 4 * torch.finfo(dtype).eps * largest
