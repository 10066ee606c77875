"""Inputs of the checks of the decoder layer and of the two models.

A layer gets its parameters. A model is free inside: its parameters are stirred, so that nothing it reads stays without
influence, and facts about its logits are compared (see _decoder_views.py).
"""

from dataclasses import replace

from selfcheck.plan import built, cache, call, tensor

from ._encoder_inputs import layer_state, norm_state
from ._numbers import filled

STIRRED = 0.3  # deviation of what is added to a model's parameters
VOCAB, SOURCE_VOCAB, MAX_LENGTH = 26, 22, 28
WIDTHS = 20, 5, 24  # d_model, num_heads and d_ff of a model; 3, 7 and 9 can be told apart from all these


# A layer

D_MODEL, HEADS, D_FF = 6, 2, 9  # what is default here
LENGTH, SOURCE = 13, 16  # of a text and a memory in a batch of one: these five sizes can be told apart
BATCHES = ((2, 5, 7), (3, 4, 8))  # rows, tokens, tokens of memory: which sizes are near differs between the two


def decoder_state(rng, d_model=D_MODEL, d_ff=D_FF, cross=False, dtype="float64"):
    """Parameters of a DecoderLayer."""
    state = layer_state(rng, d_model, d_ff, dtype=dtype)
    if cross:
        shapes = {}
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            shapes |= {f"cross_attention.{name}.weight": (d_model, d_model), f"cross_attention.{name}.bias": (d_model,)}
        state |= rng.state(shapes, dtype, 0.6) | norm_state(rng, d_model, "norm3.", dtype)
    return state


def layer(d_model=D_MODEL, heads=HEADS, d_ff=D_FF, cross=False, **more):
    """The construction of a small layer without dropout; what is default is left out."""
    settings = {"dropout": 0.0} | ({"cross_attention": True} if cross else {})
    return call(d_model, heads, d_ff, **settings | more)


def parts(x, lengths):
    """A tensor (B, L, d) cut along L, or ids (B, L)."""
    rows, pieces, start = x.nested(), [], 0
    for length in lengths:
        pieces.append(tensor([row[start : start + length] for row in rows], x.dtype))
        start += length
    return pieces


def memory_changed(rng, source, d_model):
    """Memories (source + 1, source, d_model): one, and for each position the same with that one replaced."""
    plain, other = rng.normal(source, d_model), rng.normal(source, d_model)
    batch = [plain] + [[other[i] if i == j else plain[i] for i in range(source)] for j in range(source)]
    return tensor(batch)


def repeated(rng, batch, length, d_model):
    """The same sequence in each row of a batch."""
    return tensor([rng.normal(length, d_model)] * batch)


def in_training(rng, length, *ones, rate=0.25, cross=False, cached=False):
    """A pre-norm layer of width 8 in training, on tokens of tens; its parameters are 0, and those named are 1.

    rate: of dropout; None for the default; cached: whether the tokens go through a cache
    """
    state = {name: filled(value, 0) for name, value in decoder_state(rng, 8, 5, cross, dtype="float32").items()}
    state |= {name: filled(state[name], 1) for name in ones}
    x = tensor([[[10.0] * 8] * length], "float32")
    memory = (tensor([[[1.0] * 8] * 11], "float32"),) if cross else ()
    more = ({} if rate is None else {"dropout": rate}) | ({"cross_attention": True} if cross else {})
    kept = {"cache": cache(length + 7, "a")} if cached else {}
    return built(call(8, 2, 5, **more), call(x, *memory, **kept), state=state, training=True)


# Models


def language_model(layers=3, heads=WIDTHS[1], **more):
    """The construction of a small language model."""
    sizes = VOCAB, WIDTHS[0], heads, WIDTHS[2], layers
    return call(*sizes, **{"max_length": MAX_LENGTH, "dropout": 0.0} | more)


def translator(layers=3, heads=WIDTHS[1], **more):
    """The construction of a small translating model."""
    sizes = SOURCE_VOCAB, VOCAB, WIDTHS[0], heads, WIDTHS[2], layers
    return call(*sizes, **{"max_length": MAX_LENGTH, "dropout": 0.0} | more)


def gradients(step, of=None):
    """A use whose answer tells which parameters a call reaches, as `module_state.reached` has it.

    of: a token, whose logits alone are meant
    """
    return replace(step, method=":gradients", tokens=[] if of is None else [of])


def without_one(rng, batch, length):
    """Token ids (batch, length), and a token that is none of them."""
    words = rng.sample(range(1, VOCAB), VOCAB - 1)
    return tensor([[words[rng.integer(1, length)] for _ in range(length)] for _ in range(batch)], "int64"), words[0]


def tokens(rng, batch, length, vocab=VOCAB, low=1):
    """Token ids (batch, length), none below `low`."""
    return tensor(rng.integers(batch, length, low=low, high=vocab), "int64")


def one_token_changed(rng, length, vocab=VOCAB):
    """Ids (length + 2, length): a text, for each position the text with another token there, and the text again.

    Without the last row there would be as many texts as tokens but for one, and noise would pass for what tokens do.
    """
    plain = rng.integers(length, low=1, high=vocab)
    others = [(token - 1 + rng.integer(1, vocab - 1)) % (vocab - 1) + 1 for token in plain]
    batch = [plain] + [[others[i] if i == j else plain[i] for i in range(length)] for j in range(length)]
    return tensor([*batch, plain], "int64")


def in_another_order(rng, length, vocab=VOCAB):
    """A text, the same with its first three tokens in turn in another place, and as it was."""
    a, b, c, *rest = rng.sample(range(1, vocab), length)
    return tensor([[a, b, c, *rest], [b, c, a, *rest], [a, b, c, *rest]], "int64")


def same_text(rng, batch, length, vocab=VOCAB):
    """The same text in each row of a batch."""
    return tensor([rng.integers(length, low=1, high=vocab)] * batch, "int64")
