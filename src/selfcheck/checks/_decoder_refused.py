"""Arguments that the decoder's functions and models refuse."""

import math

from selfcheck.arrays import Array
from selfcheck.plan import built, cache, call, made, tensor

from . import _decoder_texts as texts

MOST = 256  # positions that a model takes by default


def loss_calls(rng):
    """Calls of next_token_loss."""
    logits, tokens = rng.tensor(2, 3, 4), tensor(rng.integers(2, 3, high=4), "int64")
    return [
        call(rng.tensor(3, 4), tokens),
        call(logits, tensor(rng.integers(2, 2, high=4), "int64")),
        call(logits, rng.tensor(2, 3)),
        call(logits, tensor([[0, 1, 4], [0, 0, 0]], "int64")),
        call(logits, tokens, tensor([[True] * 2] * 2)),
        call(logits, tokens, rng.tensor(2, 3)),
        call(tensor(rng.integers(2, 3, 4)), tokens),
        call(logits, tokens, tensor([[True] * 3])),
    ]


def probability_calls(rng):
    """Calls of next_token_probabilities."""
    logits = rng.tensor(2, 5)
    wrong = ({"temperature": -0.5}, {"temperature": math.nan}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.5})
    return [
        *(call(logits, **more) for more in wrong),
        call(logits, top_k=2.5),
        call(tensor(rng.integers(2, 5))),
        call(rng.normal(2, 5)),
        call(Array("tensor", "float64", (2, 0), b"")),
        call(tensor(1.0)),
        call(logits, top_p=-0.1),
    ]


def text_calls(rng):
    """Calls of generate."""
    table, rows = texts.drawn(rng, 2, 3)
    model, prompt = texts.model_of(table), tensor(rows, "int64")
    return [
        call(model, tensor(rows[0], "int64"), 2),
        call(model, Array("tensor", "int64", (2, 0), b""), 2),
        call(model, rng.tensor(2, 3), 2),
        call(model, prompt, -1),
        call(model, prompt, 2, temperature=-1.0),
        call(model, prompt, 2, temperature=1.0, top_k=0),
        call(model, prompt, 2, temperature=1.0, top_p=2.0),
        call(model, prompt, 2, end_id=-1),
    ]


def layer_steps(rng):
    """Steps on a DecoderLayer."""
    x, memory = rng.tensor(2, 3, 4), rng.tensor(2, 5, 4)
    plain, reading = call(4, 2, 6), call(4, 2, 6, cross_attention=True)
    mask, memory_mask = tensor([[True] * 3] * 2), tensor([[True] * 5] * 2)
    return [
        built(call(4, 3, 6)),
        built(call(4, 2, 6, dropout=1.5)),
        built(plain, call(_narrow(x))),
        built(plain, call(_single(x), _single(memory))),
        built(reading, call(_single(x))),
        built(reading, call(_single(x), _single(rng.tensor(1, 5, 4)))),
        built(plain, call(_single(x), key_mask=memory_mask)),
        built(plain, call(_single(x), memory_key_mask=memory_mask)),
        built(plain, call(_single(x), key_mask=mask, cache=cache(4))),
        built(plain, call(_single(x), cache=cache(2))),
        built(plain, call(tensor(rng.integers(2, 3, 4)))),
        built(plain, call(_single(rng.tensor(3, 4)))),
        built(reading, call(_single(x), _single(memory), memory_key_mask=mask)),
    ]


def _single(x):
    """The same numbers in float32, the dtype that a module begins with."""
    return tensor(x.nested(), "float32")


def _narrow(x):
    """One feature less."""
    return tensor([[token[:-1] for token in row] for row in x.nested()], "float32")


def model_steps(rng, construct, vocab, most):
    """Steps on a LanguageModel that takes `most` positions."""
    tokens = tensor(rng.integers(2, 3, high=vocab), "int64")
    long = tensor(rng.integers(2, most + 1, high=vocab), "int64")
    beyond = tensor([[vocab, 0]], "int64")
    again = made("new_caches", "a")
    full = tensor(rng.integers(2, most, high=vocab), "int64")
    return [
        built(construct, call(long)),
        built(construct, call(long, made("new_caches"))),
        built(construct, call(full, again), call(tokens, again)),
        built(construct, call(beyond)),
        built(construct, call(rng.tensor(2, 3))),
        built(construct, call(tensor([1, 2], "int64"))),
        built(call(vocab, 6, 4, 5, 1)),
        built(call(0, 6, 2, 5, 1)),
        built(call(vocab, 6, 2, 5, 0)),
        built(call(vocab, 6, 2, 5, 1, max_length=0)),
        built(call(vocab, 6, 2, 5, 1), call(tensor([[0] * (MOST + 1)], "int64"))),
    ]


def translator_steps(rng, construct, vocabs, most):
    """Steps on an EncoderDecoder that takes `most` tokens on either side."""
    source, target = (tensor(rng.integers(2, 3, high=vocab), "int64") for vocab in vocabs)
    long_source, long_target = (tensor(rng.integers(2, most + 1, high=vocab), "int64") for vocab in vocabs)
    return [
        built(construct, call(long_source, target)),
        built(construct, call(source, long_target)),
        built(construct, call(source, tensor([[0, 1]], "int64"))),
        built(construct, call(source, rng.tensor(2, 3))),
        built(construct, call(tensor([1, 2], "int64"), target)),
        built(construct, call(tensor([[vocabs[0]] * 3] * 2, "int64"), target)),
        built(call(*vocabs, 6, 4, 5, 1)),
        built(call(*vocabs, 6, 2, 5, 0)),
        built(call(vocabs[0], 0, 6, 2, 5, 1)),
        built(call(*vocabs, 6, 2, 5, 1, max_length=0)),
        built(call(*vocabs, 6, 2, 5, 1), call(tensor([[0] * (MOST + 1)], "int64"), tensor([[0]], "int64"))),
    ]
