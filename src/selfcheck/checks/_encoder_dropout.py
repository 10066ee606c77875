"""Layers and encoders in training, with the views that tell what was dropped and where."""

from selfcheck.arrays import Array, array
from selfcheck.plan import built, call, tensor

from ._encoder_inputs import OUT, encoder_state, layer_state, neutral, rows_of, same_twice, signs
from ._numbers import filled
from .dot_product import dropped


def layer_in_training(rng, length, rate=None, **parameters):
    """A pre-norm layer of width 8 in training, on tokens of tens; its parameters are zero but for those given.

    rate: of dropout; None for the default
    """
    state = {name: filled(value, 0) for name, value in layer_state(rng, 8, 5, dtype="float32").items()}
    state["norm1.bias"] = state["norm2.bias"] = filled(state["norm1.bias"], 1)
    for name, value in parameters.items():
        name = name.replace("__", ".")
        state[name] = value if isinstance(value, Array) else filled(state[name], value)
    x = tensor([[[10.0] * 8] * length], "float32")
    more = {} if rate is None else {"dropout": rate}
    return built(call(8, 2, 5, norm_first=True, **more), call(x), state=state, training=True)


def added(answer):
    """What was added to the tens."""
    return [entry - 10.0 for entry in answer.values()]


def dropout_facts(step, answer):
    """The share dropped of the ones that were added, and the factor on the others; by default the factor alone."""
    if not isinstance(answer, Array):
        return answer
    facts = dropped(added(answer), 1.0)
    return array(facts if "dropout" in step["construct"]["kwargs"] else facts[1:])  # a tenth is no quarter


def encoder_in_training(rng):
    """An encoder with the default dropout, whose attention adds 1 to the first six of eight features."""
    state = {name: filled(value, 0) for name, value in encoder_state(rng, 1, 8, 5).items()}
    state = neutral(state, "layers.0.norm1", "layers.0.norm2")
    state[f"layers.0.{OUT}.bias"] = tensor([1.0] * 6 + [0.0] * 2)
    x = tensor([[[0.0] * 7 + [10.0]] * 20])
    return built(call(1, 8, 2, 5), call(x), state=state, training=True)


def same_twice_or_factor(step, answer):
    """Of two uses, 1 where they gave the same; of the encoder above, the factor on what was not dropped."""
    if len(step["uses"]) == 2 or not isinstance(answer, Array):
        return same_twice(step, answer)
    entries = []
    for *raised, low, high in rows_of(answer):  # a norm keeps the ratios of differences
        entries += [10 * (entry - low) / ((high - low) or 1.0) for entry in raised]
    return array(dropped(entries, 1.0)[1])


def dropped_inside(step, answer):
    """1 where the entries that are left have several values: something was dropped before they were summed up."""
    if not isinstance(answer, Array):
        return answer
    return array(int(len({round(entry, 3) for entry in added(answer) if abs(entry) > 1e-3}) > 1))


def layer_after_norm(rng, size, **parameters):
    """A post-norm layer of width 8 in training; its parameters are zero but for those given, and its norms neutral.

    size: of the tokens' features, half of them negative; 0 for tokens of zeros
    """
    state = {name: filled(value, 0) for name, value in layer_state(rng, 8, 5, dtype="float32").items()}
    state = neutral(state, "norm1", "norm2")
    for name, value in parameters.items():
        state[name.replace("__", ".")] = filled(state[name.replace("__", ".")], value)
    x = [[[size * entry for entry in row] for row in signs(rng, 60, 8).nested()]]
    return built(call(8, 2, 5, dropout=0.5), call(tensor(x, "float32")), state=state, training=True)


def dropout_after_norm(step, answer):
    """The share of entries below zero, which a norm makes of those dropped, and of those near zero; in quarters."""
    if not isinstance(answer, Array):
        return answer
    entries = answer.values()
    shares = [sum(entry < -0.1 for entry in entries), sum(abs(entry) < 0.3 for entry in entries)]
    return array([round(4 * share / len(entries)) / 4 for share in shares])
