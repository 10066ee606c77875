"""Visible checks of attention that scales.

Where the scale is not what a check is about, keys have width 1, whose root is 1: a wrong scale then costs the check
of the scale and no other.
"""

from selfcheck.aspects import MEMORY_FACTOR
from selfcheck.plan import call, check, iterator, tensor

from . import (
    _efficient_backward,  # noqa: F401
    _efficient_cache,  # noqa: F401
    _efficient_grouped,  # noqa: F401
    _efficient_partials,  # noqa: F401
)
from ._dtypes import DTYPES
from ._efficient_inputs import (
    HIDDEN,
    around,
    blocks,
    broadcast_masks,
    chunks,
    first_block_hidden,
    large_scores,
    largest_hidden,
    long_blocks,
    misfit_blocks,
    misfit_chunks,
    nothing_seen,
    sloped,
    spread,
    with_hidden,
)
from .dot_product import mask_of

SOFTMAX, BLOCKWISE = "efficient.online_softmax", "efficient.blockwise_attention"


# 11.1 online_softmax


@check(SOFTMAX, sees="of a single chunk it is the softmax")
def online_one_chunk(rng):
    rows, width = rng.sizes(2, 3, 8)
    return call(chunks(rng, rows, (width,)))


@check(SOFTMAX, sees="chunks share one sum, where the first holds the largest scores")
def online_falling(rng):
    rows = rng.choice((5, 7))
    return call(iterator(*(around(rng, rows, 3, centre) for centre in (3.0, 0.5, -2.0))))


@check(SOFTMAX, sees="the weights are right where each chunk brings larger scores")
def online_rising(rng):
    rows = rng.choice((5, 7))
    return call(iterator(*(around(rng, rows, 3, centre) for centre in (-3.0, -0.5, 2.0, 4.5))))


@check(SOFTMAX, sees="the weights stand in the order of the chunks, whatever their widths and leading axes")
def online_widths(rng):
    sizes = [((2, 5, 1), (1, 3, 2)), ((5, 3, 1), (1, 2, 3)), ((), (2, 5, 1))]
    return [call(iterator(*(rng.tensor(*lead, width) for width in widths))) for lead, widths in sizes]


@check(SOFTMAX, sees="scores of ten thousand, of either sign, overflow nowhere")
def online_large(rng):
    return large_scores(rng)


@check(SOFTMAX, sees="a chunk of nothing but -inf adds nothing, be it the first or a later one")
def online_hidden_chunk(rng):
    low = [[-10000.0 + rng.integer(-4, 5) / 4 for _ in range(3)] for _ in range(2)]
    later = call(iterator(tensor([[HIDDEN] * 2] * 2), tensor(low)))
    return [with_hidden(rng, ((1,), (3,), (1, 3))), with_hidden(rng, ((0,), (0, 1), ())), later]


@check(SOFTMAX, sees="a slice that is -inf throughout gives zeros")
def online_nothing(rng):
    return with_hidden(rng, ((), range(4), ()))


@check(SOFTMAX, sees="gradients stay finite where a chunk, or a whole slice, is -inf", compares="gradient")
def online_hidden_gradient(rng):
    return with_hidden(rng, ((0,), range(4), (2,)))


@check(SOFTMAX, sees="gradients reach every chunk", compares="gradient")
def online_gradient(rng):
    return call(chunks(rng, 3, (5, 1, 7)))


@check(SOFTMAX, sees="the weights have the dtype of the chunks", compares="dtype")
def online_dtype(rng):
    return [call(chunks(rng, 2, (2, 3), dtype)) for dtype in DTYPES]


@check(SOFTMAX, sees="the chunks are left as they were", compares="unchanged")
def online_unchanged(rng):
    return call(chunks(rng, 2, (3, 2, 4)))


@check(SOFTMAX, sees="no chunk at all, and chunks that do not fit each other, are refused", compares="error")
def online_errors(rng):
    return misfit_chunks(rng)


# 11.2 blockwise_attention


@check(BLOCKWISE, sees="with one block for all keys it is attention, scaled by the root of the keys' width")
def blockwise_one_block(rng):
    queries, keys = rng.sample((9, 11, 13), 2)
    d_k, d_v = rng.sample((3, 5, 7), 2)
    return [blocks(rng, (), queries, keys, block, d_v, d_k=d_k) for block in (keys, keys + 5)]


@check(BLOCKWISE, sees="blocks share one sum, where the first holds the largest scores")
def blockwise_falling(rng):
    return sloped(rng, (2.0, 0.5, -1.0))


@check(BLOCKWISE, sees="sum and output are right where each block brings larger scores")
def blockwise_rising(rng):
    return sloped(rng, (-2.0, 0.0, 1.5, 3.0))


@check(
    BLOCKWISE, sees="no key is lost or counted twice: lengths that differ, a last block that is not full, blocks of 1"
)
def blockwise_lengths(rng):
    return [
        blocks(rng, (), 7, 11, 4, 3),
        blocks(rng, (), 9, 5, 2, 3),
        blocks(rng, (), 4, 6, 1, 3),
        blocks(rng, (), 1, 7, 3, 2),
    ]


@check(BLOCKWISE, sees="scores of ten thousand overflow nowhere, nor does a hidden one hide the others")
def blockwise_large(rng):
    return [
        sloped(rng, (2.0, 0.0, -2.0), 5000.0),
        sloped(rng, (-2.0, 0.0, 2.0), 5000.0),
        largest_hidden(rng, sloped(rng, (-2.0, 0.0, 2.0), 5000.0)),
        sloped(rng, (-1.0, -2.0, -1.5), 5000.0),  # all of them far below zero
    ]


@check(BLOCKWISE, sees="is_causal hides the future, in every block")
def blockwise_causal(rng):
    wide, d_v = rng.sizes(2, 2, 7)
    return [
        blocks(rng, (), 3 * wide, 3 * wide, 3 * wide, d_v, is_causal=True),
        blocks(rng, (), 3 * wide, 3 * wide, wide, d_v, is_causal=True),
        blocks(rng, (), 3 * wide + 1, 3 * wide + 1, wide, d_v, is_causal=True),
    ]


@check(BLOCKWISE, sees="with more keys than queries the last query sees every key")
def blockwise_aligned(rng):
    d_v, *others = rng.sample((5, 7, 9, 11), 3)
    queries, keys = sorted(others)
    return [
        blocks(rng, (), queries, keys, 3, d_v, is_causal=True),
        blocks(rng, (), 1, 5, 2, d_v, is_causal=True),
    ]


@check(BLOCKWISE, sees="a mask hides keys in every block")
def blockwise_mask(rng):
    return [
        blocks(rng, (2,), 5, 7, 9, 4, attn_mask=tensor(spread(rng, 9, 2, 5, 7))),
        blocks(rng, (3,), 5, 6, 3, 2, attn_mask=tensor(spread(rng, 3, 3, 5, 6))),
    ]


@check(BLOCKWISE, sees="a mask broadcasts over keys, queries, heads and batch")
def blockwise_mask_broadcast(rng):
    return broadcast_masks(rng)


@check(BLOCKWISE, sees="under is_causal and a mask together both must allow")
def blockwise_causal_mask(rng):
    # Key 0 may be seen by all, so that no query is without a key in the first block.
    mask = [[j == 0 or rng.random() < 0.5 for j in range(7)] for _ in range(7)]
    return blocks(rng, (), 7, 7, 3, 5, is_causal=True, attn_mask=tensor(mask))


@check(BLOCKWISE, sees="a query that sees nothing in the first block gets what it sees in later ones")
def blockwise_first_hidden(rng):
    return first_block_hidden(rng)


@check(BLOCKWISE, sees="a query that may attend to nothing gets zeros")
def blockwise_nothing(rng):
    return nothing_seen(rng)


@check(BLOCKWISE, sees="gradients stay finite where a query sees nothing, in a block or at all", compares="gradient")
def blockwise_nothing_gradient(rng):
    return [first_block_hidden(rng), *nothing_seen(rng)[:2]]


@check(BLOCKWISE, sees="leading dimensions are kept, and broadcast")
def blockwise_batch(rng):
    return [
        blocks(rng, (2, 3), 4, 6, 5, 9),
        call(rng.tensor(3, 1, 4, 1), rng.tensor(2, 5, 1), rng.tensor(1, 2, 5, 2), block_size=2),
        call(rng.tensor(4, 1), rng.tensor(5, 1), rng.tensor(2, 5, 3), block_size=2),
    ]


@check(BLOCKWISE, sees="gradients reach query, key and value", compares="gradient")
def blockwise_gradient(rng):
    return [blocks(rng, (), 5, 7, 3, 9), blocks(rng, (3,), 7, 7, 5, 1, is_causal=True)]


@check(BLOCKWISE, sees="sums over many blocks stay exact in half precision", tolerance=6e-3)
def blockwise_half(rng):
    # 400 keys alike, and values of two sizes: in bfloat16 a sum of ones ends at 256, since 257 is no number there.
    # The output is about 1, where bfloat16's numbers lie 0.008 apart: it may be off by rounding and by little more.
    value = [[0.5 if place < 200 else 1.5 + 0.5 * rng.integer(0, 2)] for place in range(400)]
    key = [[0.5]] * 400
    return call(tensor([[1.0]], "bfloat16"), tensor(key, "bfloat16"), tensor(value, "bfloat16"), block_size=1)


@check(BLOCKWISE, sees="the output has the dtype of the arguments", compares="dtype")
def blockwise_dtype(rng):
    return [blocks(rng, (), 3, 4, 2, 2, dtype) for dtype in DTYPES]


@check(
    BLOCKWISE,
    sees="no tensor of L times S entries is made on the way: plain, causal, for a batch or under a mask",
    compares="memory",
    outside=long_blocks,
)
def blockwise_memory(rng):
    # The reference's largest is all queries against one block, (160, 16). The limit grows with it, and with a batch a
    # whole (160, 160) mask is within it: a mask has a call of its own, without a batch. By a batch of more than
    # MEMORY_FACTOR such a mask in every call is told from a whole matrix of scores.
    return [
        blocks(rng, (), 160, 160, 16, 1),
        blocks(rng, (), 160, 160, 16, 1, is_causal=True),
        blocks(rng, (MEMORY_FACTOR + 1,), 160, 160, 16, 1),
        blocks(rng, (), 160, 160, 16, 1, attn_mask=tensor(rng.booleans(160))),
    ]


@check(BLOCKWISE, sees="the arguments are left as they were", compares="unchanged")
def blockwise_unchanged(rng):
    return blocks(rng, (), 4, 5, 2, 3, d_k=2, attn_mask=tensor(mask_of(rng, 4, 5)))


@check(BLOCKWISE, sees="arguments that do not fit are refused", compares="error")
def blockwise_errors(rng):
    return misfit_blocks(rng)
