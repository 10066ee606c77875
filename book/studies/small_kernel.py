"""The forward pass of attention as one small Triton kernel, for the page that explains it."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def forward(
    q_ptr, k_ptr, v_ptr, y_ptr, length, scale,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    # This program's head and its block of queries.
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    features = tl.arange(0, D)
    mine = head + rows[:, None] * D + features  # (ROWS, D)
    real = rows[:, None] < length
    q = tl.load(q_ptr + mine, mask=real, other=0.0)
    m = tl.full([ROWS], -1e38, tl.float32)
    l = tl.zeros([ROWS], tl.float32)  # noqa: E741
    a = tl.zeros([ROWS, D], tl.float32)
    for start in range(0, length, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        theirs = head + columns[:, None] * D + features
        there = columns[:, None] < length
        k = tl.load(k_ptr + theirs, mask=there, other=0.0)
        v = tl.load(v_ptr + theirs, mask=there, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale  # (ROWS, COLUMNS)
        s = tl.where(columns[None, :] < length, s, -float("inf"))
        new = tl.maximum(m, tl.max(s, 1))
        shrink = tl.exp2(m - new)
        p = tl.exp2(s - new[:, None])
        l = l * shrink + tl.sum(p, 1)  # noqa: E741
        a = a * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        m = new
    tl.store(y_ptr + mine, a / l[:, None], mask=real)


def attend(q, k, v, kernel=forward, rows=32, columns=32):
    """q, k, v: (H, L, D), D one of 16, 32, 64, 128. One program per head and block of queries."""
    heads, length, d = q.shape
    y = torch.empty_like(q)
    grid = triton.cdiv(length, rows), heads
    kernel[grid](
        *(x.contiguous() for x in (q, k, v)), y, length,
        math.log2(math.e) / math.sqrt(d), d, rows, columns,
    )  # fmt: skip
    return y
