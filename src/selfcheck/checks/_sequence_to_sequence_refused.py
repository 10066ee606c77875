"""Arguments that attention before Transformers refuses."""

from selfcheck.plan import built, call, tensor

from . import _sequence_to_sequence_inputs as inputs

ODD_ONES_OUT = ((3, 2, 2), (2, 3, 2), (2, 2, 3))  # batch sizes of query, keys and values that do not go together


def attend_calls(rng):
    """Calls of attend."""
    query, keys, values = rng.tensor(2, 4), rng.tensor(3, 4), rng.tensor(3, 5)
    dot = inputs.bound(rng, "dot", 4, 4)
    return [
        call(query, keys, rng.tensor(4, 5), dot),
        call(tensor(rng.integers(2, 4)), keys, values, dot),
        call(query, keys, rng.tensor(3, 5, dtype="float32"), dot),
        call(query, keys, values, dot, tensor([[0.0] * 3] * 2)),
        call(query, keys, values, dot, tensor([[True] * 2] * 3)),
        call(query, rng.tensor(3, 4, dtype="float32"), values, dot),
        call(rng.tensor(4), keys, values, dot),
        call(query, rng.tensor(4), values, dot),
        call(query, keys, rng.tensor(3), dot),
        *(call(rng.tensor(a, 2, 4), rng.tensor(b, 3, 4), rng.tensor(c, 3, 5), dot) for a, b, c in ODD_ONES_OUT),
    ]


def local_calls(rng):
    """Calls of local_attention_weights."""
    scores = rng.tensor(3, 6)
    return [
        call(scores, rng.tensor(6), 1.5),
        call(scores, rng.tensor(3, 1), 1.5),
        call(scores, rng.tensor(3), 0.0),
        call(scores, rng.tensor(3, dtype="float32"), 1.5),
        call(scores, rng.tensor(1), 1.5),
        call(tensor(1.0), tensor(1.0), 1.5),
    ]


def hard_calls(rng):
    """Calls of hard_attention."""
    return [
        call(rng.tensor(2, 4), rng.tensor(2, 3, 5)),
        call(rng.tensor(4), rng.tensor(4)),
        call(tensor(rng.integers(2, 4)), rng.tensor(2, 4, 3)),
        call(rng.tensor(2, 4), rng.tensor(2, 4, 3, dtype="float32")),
        call(tensor(1.0), rng.tensor(3)),
    ]


def hierarchical_steps(rng):
    """Steps on a HierarchicalAttention."""
    state = inputs.hierarchy(rng, 2)
    return [
        built(call(0)),
        built(call(2), call(rng.tensor(2, 3, 2)), state=state),
        built(call(2), call(rng.tensor(2, 3, 4, 3)), state=state),
        built(call(2), call(rng.tensor(2, 3, 4, 2), tensor([[True] * 4] * 2)), state=state),
        built(call(2), call(rng.tensor(2, 3, 4, 2), tensor([[[1.0] * 4] * 3] * 2)), state=state),
        built(call(2), call(rng.tensor(1, 2, 2, 2, 2)), state=state),
        built(call(2), call(rng.normal(2, 3, 4, 2)), state=state),
    ]


def decoder_steps(rng):
    """Steps on an AttentionDecoder."""
    state, ids, states = inputs.decoder_state(rng, 5, 2), tensor(rng.integers(2, 3, high=5)), rng.tensor(2, 4, 2)
    return [
        built(call(5, 2, score="general")),
        built(call(0, 2)),
        built(call(5, 0)),
        built(call(5, -1)),
        built(call(5, 2), call(rng.tensor(2, 3), states), state=state),
        built(call(5, 2), call(ids, rng.tensor(3, 4, 2)), state=state),
        built(call(5, 2), call(ids, rng.tensor(2, 4, 3)), state=state),
        built(call(5, 2), call(ids, states, tensor([[True] * 3] * 2)), state=state),
        built(call(5, 2), call(ids, states, tensor([[True]] * 2)), state=state),
        built(call(5, 2), call(tensor([[0, 1]]), states), state=state),
        built(call(5, 2), call(ids, rng.normal(2, 4, 2)), state=state),
        built(call(5, 2), call(ids, tensor(1.0)), state=state),
    ]
