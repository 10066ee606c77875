"""Hidden checks of multi-head attention."""

from selfcheck.checks._multi_head import NAMES, SEVERAL, inputs, parameters, step
from selfcheck.checks._multi_head_attention import ATTENTION
from selfcheck.checks.dot_product import mask_of
from selfcheck.checks.multi_head import LOAD, MERGE, SPLIT, loading, packed
from selfcheck.plan import built, call, check, linears, tensor, torch_attention

from ._lowest import DTYPE, with_lowest_scores


@check(SPLIT, sees="one head, one token, one sequence, larger sizes and sizes that are equal", points=1)
def split_edges(rng):
    batch, length, heads, d_head = rng.sizes(4, 3, 10)
    return [
        call(rng.tensor(batch, length, d_head), 1),
        call(rng.tensor(1, 1, heads), heads),
        call(rng.tensor(2, 17, 2 * 24), 24),
        call(rng.tensor(1, length, heads * d_head), num_heads=heads),
        call(rng.tensor(batch, length, heads * d_head), heads),
        call(rng.tensor(heads, heads, heads * heads), heads),
        call(rng.tensor(length, length, length), length),
    ]


@check(MERGE, sees="one head, one token, one sequence, larger sizes and sizes that are equal", points=1)
def merge_edges(rng):
    batch, heads, length, d_head = rng.sizes(4, 3, 10)
    sizes = [(batch, 1, length, d_head), (1, heads, 1, 1), (1, heads, length, d_head), (batch, heads, length, d_head)]
    sizes += [(heads,) * 4, (length, length, length, 1)]
    return [call(rng.tensor(*size)) for size in sizes]


@check(
    ATTENTION,
    sees="one head, heads of one feature, one token, equal sizes, tokens of zeros, no bias, no dropout",
    points=1,
)
def mha_sizes(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 10)
    return [
        step(rng, (1, queries, keys), 1, 4),
        step(rng, (batch, 1, keys), heads, heads),
        step(rng, (batch, queries, 1), heads, 2 * heads),
        step(rng, (batch, queries, keys), heads, 2 * heads, bias=False),
        step(rng, (batch, queries, keys), 1, 4, training=True),
        step(rng, (heads, heads, heads), heads, heads * heads),
        built(call(6, 3), call(*(of_some_zeros(rng, batch, 4, 6) for _ in range(3))), state=parameters(rng, 6)),
    ]


def of_some_zeros(rng, batch, length, d_model):
    """A tensor whose first token is zeros throughout, and a real one all the same."""
    return tensor([[[0.0] * d_model, *rng.normal(length - 1, d_model)] for _ in range(batch)])


@check(
    ATTENTION,
    sees="masks of pairs, heads and padding together, in several heads, where all sizes are equal; the lowest scores",
    points=1,
)
def mha_masks_together(rng):
    batch, heads, queries, keys = rng.sizes(4, 2, 10)
    real = mask_of(rng, batch, keys)
    real[0] = [False] * keys
    documents, by_head = mask_of(rng, batch, 1, queries, keys), mask_of(rng, heads, queries, keys)
    no_first_query = [[i > 0] for i in range(queries)]
    together = [
        step(rng, (batch, queries, keys), heads, 2 * heads, attn_mask=tensor(mask), key_mask=tensor(real))
        for mask in (documents, by_head, no_first_query, True)
    ]
    causal = tensor([[j <= i for j in range(heads)] for i in range(heads)])
    equal = [  # as many sequences, heads, queries and keys
        {"attn_mask": causal, "key_mask": tensor(mask_of(rng, heads, heads))},
        {"attn_mask": causal},
        {"attn_mask": tensor(mask_of(rng, heads, 1, heads))},
        {"key_mask": tensor(mask_of(rng, heads, heads))},
    ]
    together += [step(rng, (heads, heads, heads), heads, heads * heads, **masks) for masks in equal]
    return [*together, with_masks_and_without(rng, tensor(real)), lowest_scores(rng)]


def with_masks_and_without(rng, real):
    """A step whose uses, of one shape, have both masks, none, and one: none holds for a later use."""
    batch, keys = real.shape
    pairs = tensor(mask_of(rng, 4, keys))
    masks = {"attn_mask": pairs, "key_mask": real}, {}, {"key_mask": real}, {"attn_mask": pairs}
    uses = [call(*inputs(rng, batch, 4, keys, 6), **some) for some in masks]
    return built(call(6, 3), *uses, state=parameters(rng, 6))


def lowest_scores(rng):
    """A step with heads of one feature, each of whose scores is the smallest number."""
    seen, real = [[j == i + 1 for j in range(5)] for i in range(4)], [[True] * 5, [False, True, True, True, True]]
    x = [rng.tensor(2, tokens, 3, dtype=DTYPE) for tokens in (4, 5, 5)]
    use = call(*x, attn_mask=tensor(seen), key_mask=tensor(real))
    return built(call(3, 3), use, state=with_lowest_scores(parameters(rng, 3, dtype=DTYPE), ""))


@check(
    ATTENTION,
    sees="half precision: right numbers, a fully masked row included",
    tolerance=6e-2,  # bfloat16 keeps 8 bits, and four products follow each other
    points=1,
)
def mha_half(rng):
    steps = []
    for sizes, heads, d_model in SEVERAL:
        batch, _, keys = sizes
        real = mask_of(rng, batch, keys)
        real[0] = [False] * keys
        mask = tensor(real)
        steps += [step(rng, sizes, heads, d_model, dtype, key_mask=mask) for dtype in ("float16", "bfloat16")]
    return steps


@check(
    LOAD, sees="several heads, every parameter at once, and no result", compares=("dtype", "state", "kept"), points=1
)
def load_everything(rng):
    d_model = rng.integer(3, 6)
    theirs, _ = packed(rng, 6, True)
    several = linears(NAMES, 6, 6, True, {})
    no_bias = {name: tensor([0.0] * size) for name, size in (("in_proj_bias", 18), ("out_proj.bias", 6))}
    return [
        loading(rng, d_model, NAMES),
        loading(rng, d_model, NAMES, bias=False),
        call(several, torch_attention(True, theirs, embed_dim=6, num_heads=3)),
        call(
            linears(NAMES, 6, 6, True, rng.state({f"{name}.bias": (6,) for name in NAMES})),
            torch_attention(True, theirs | no_bias, embed_dim=6, num_heads=3),
        ),
    ]
