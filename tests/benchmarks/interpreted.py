"""Runs the Triton kernels through Triton's interpreter; started by test_triton_attention.py in a process of its own.

Prints one line of JSON: for each case the largest relative errors against float64 of output and gradients, those of the
kernels and those of naive attention in the same dtype.
"""

import itertools
import json
import sys
import warnings

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from attention import _triton_attention as kernels
from attention.efficient import blockwise_attention
from attention.masks import causal_mask
from attention.multi_head import merge_heads, split_heads

CASES = [(1, 2, 50, 50, 16), (2, 1, 33, 70, 32), (1, 1, 70, 33, 64), (1, 1, 1, 5, 16), (1, 1, 64, 96, 128)]


def widen(x):
    """bfloat16 as float32: the interpreter keeps its bits as an integer, and would multiply those."""
    if x.dtype.scalar != tl.bfloat16:
        return x
    return interpreter.TensorHandle((x.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def naive(query, key, value, is_causal):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if is_causal:
        scores = scores.masked_fill(~causal_mask(query.shape[-2], key.shape[-2]), -1e4)
    return scores.softmax(-1) @ value


def answers(function, inputs, upstream, is_causal, dtype):
    inputs = [x.to(dtype).requires_grad_() for x in inputs]
    output = function(*inputs, is_causal)
    output.backward(upstream.to(dtype))
    return [x.detach().double() for x in (output, *(x.grad for x in inputs))]


def errors(found, exact):
    return [float((a - b).abs().max() / b.abs().max().clamp(min=1e-3)) for a, b in zip(found, exact, strict=True)]


def in_heads(x):
    """The same numbers as a view of (B, length, d_model), as split_heads gives it."""
    return split_heads(merge_heads(x), x.shape[1])


def transposed(x):
    return x.mT.contiguous().mT


def case(shape, dtype, is_causal, seed, strided=None):
    batch, heads, length, keys, width = shape
    draw = torch.Generator().manual_seed(seed)
    query, upstream = torch.randn(2, batch, heads, length, width, generator=draw).to(dtype).unbind()
    key, value = torch.randn(2, batch, heads, keys, width, generator=draw).to(dtype).unbind()
    inputs = query, key, value
    given = [strided(x) for x in inputs] if strided else inputs
    upstream = strided(upstream) if strided else upstream
    copied = sum(kernels._aligned(x) is not x for x in (*given, upstream))
    exact = answers(lambda q, k, v, c: blockwise_attention(q, k, v, 16, c), inputs, upstream, is_causal, torch.float64)
    found = answers(kernels.attention, given, upstream, is_causal, dtype)
    plain = answers(naive, inputs, upstream, is_causal, dtype)
    empty = max(length - keys, 0) if is_causal else 0  # queries that see no key: naive has no zeros for them
    quiet = all(not part[..., :empty, :].any() for part in found[:2]) and all(bool(x.isfinite().all()) for x in found)
    named = {"shape": shape, "dtype": str(dtype), "is_causal": is_causal, "empty": empty}
    named |= {"strided": strided and strided.__name__, "copied": copied}
    return named | {"quiet": quiet, "errors": errors(found, exact), "naive": errors(plain, exact)}


def main():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # NumPy's, where a power of 2 beyond the last key overflows and is not stored
    multiply = interpreter.InterpreterBuilder.create_dot
    interpreter.InterpreterBuilder.create_dot = lambda self, a, b, *rest: multiply(self, widen(a), widen(b), *rest)
    done = [
        case(shape, dtype, is_causal, seed)
        for seed, (shape, dtype, is_causal) in enumerate(
            itertools.product(CASES, (torch.float16, torch.bfloat16), (False, True))
        )
    ]
    done += [case(CASES[1], torch.float16, True, 100, strided) for strided in (transposed, in_heads)]
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    kernels.INTERPRETED = False  # from here on as on an H100: descriptors are made by the host
    done += [case(shape, torch.float16, True, 101, in_heads) for shape in CASES[:2]]
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    main()
