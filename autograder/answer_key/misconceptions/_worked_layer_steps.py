"""More wrong self-attention layers: steps left out, doubled or exchanged, one fault each."""

import numpy as np

from ._worked_common import floats, right_softmax, wrong
from ._worked_layer import attend, project, steps

LAYER = "worked_example.self_attention"


def layer(*args, **kwargs):
    return attend(*steps(*args, **kwargs))


def _changed(name, change):
    def wrongly(inputs, w_query, w_key, w_value, scale=False):
        outputs, weights = layer(inputs, w_query, w_key, w_value, scale)
        return change(outputs, weights)

    wrongly.__name__ = name
    wrong(LAYER)(wrongly)


for _name, _change in {
    "weights_turned_in_the_result": lambda outputs, weights: (outputs, weights.T),
    "outputs_turned": lambda outputs, weights: (outputs.T, weights),
    "weights_alone": lambda outputs, weights: weights,
    "rounded": lambda outputs, weights: (outputs.round(2), weights.round(2)),
    "weights_rounded": lambda outputs, weights: (outputs, weights.round(2)),
    "last_query_left_out": lambda outputs, weights: (
        outputs * (np.arange(len(outputs)) < len(outputs) - 1)[:, None],
        weights,
    ),
    "one_output_for_all": lambda outputs, weights: (outputs * 0.0 + outputs.mean(axis=0), weights),
}.items():
    _changed(_name, _change)


@wrong(LAYER)
def inputs_not_projected(inputs, w_query, w_key, w_value, scale=False):
    x, w_key, w_value = floats(inputs, w_key, w_value)
    return attend(x @ x.T / (np.sqrt(w_key.shape[1]) if scale else 1), x @ w_value)


@wrong(LAYER)
def queries_for_both(inputs, w_query, w_key, w_value, scale=False):
    return layer(inputs, w_query, w_query, w_value, scale)


@wrong(LAYER)
def keys_for_both(inputs, w_query, w_key, w_value, scale=False):
    return layer(inputs, w_key, w_key, w_value, scale)


@wrong(LAYER)
def queries_mixed(inputs, w_query, w_key, w_value, scale=False):
    q, _, _ = project(inputs, w_query, w_key, w_value)
    return attend(steps(inputs, w_query, w_key, w_value, scale)[0], q)


@wrong(LAYER)
def softmax_twice(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return attend(right_softmax(scores), values)


@wrong(LAYER)
def future_hidden(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return attend(np.where(np.tri(len(scores), dtype=bool), scores, -np.inf), values)


@wrong(LAYER)
def itself_hidden(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return attend(np.where(np.eye(len(scores), dtype=bool), -np.inf, scores), values)


@wrong(LAYER)
def scores_divided_by_their_sum(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    total = scores.sum(axis=-1, keepdims=True)
    weights = scores / np.where(total == 0.0, 1.0, total)
    return weights @ values, weights


@wrong(LAYER)
def softmax_over_everything(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    weights = right_softmax(scores.ravel()).reshape(scores.shape)
    return weights @ values, weights


@wrong(LAYER)
def unscaled_weights_returned(inputs, w_query, w_key, w_value, scale=False):
    unscaled = layer(inputs, w_query, w_key, w_value)
    return layer(inputs, w_query, w_key, w_value, scale)[0], unscaled[1]


@wrong(LAYER)
def scaled_weights_returned_alone(inputs, w_query, w_key, w_value, scale=False):
    unscaled = layer(inputs, w_query, w_key, w_value)
    return unscaled[0], layer(inputs, w_query, w_key, w_value, scale)[1]


@wrong(LAYER)
def scale_as_a_factor(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value)
    return attend(scores * scale, values)


@wrong(LAYER)
def scale_turned_round(inputs, w_query, w_key, w_value, scale=False):
    return layer(inputs, w_query, w_key, w_value, not scale)


@wrong(LAYER)
def outputs_scaled_too(inputs, w_query, w_key, w_value, scale=False):
    outputs, weights = layer(inputs, w_query, w_key, w_value, scale)
    return outputs / (np.sqrt(np.shape(w_key)[1]) if scale else 1), weights


def _with_root(name, root):
    def wrongly(inputs, w_query, w_key, w_value, scale=False):
        scores, values = steps(inputs, w_query, w_key, w_value)
        return attend(scores / (root(np.shape(w_key)[1]) if scale else 1), values)

    wrongly.__name__ = name
    wrong(LAYER)(wrongly)


_with_root("root_rounded_down", lambda d: int(np.sqrt(d)))
_with_root("fourth_root", lambda d: d**0.25)
_with_root("divided_by_half_the_width", lambda d: d / 2)
_with_root("divided_by_the_square", lambda d: d**2)


@wrong(LAYER)
def inputs_added(inputs, w_query, w_key, w_value, scale=False):
    outputs, weights = layer(inputs, w_query, w_key, w_value, scale)
    return outputs + np.array(inputs, dtype=float), weights


@wrong(LAYER)
def matrices_transposed(inputs, w_query, w_key, w_value, scale=False):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return layer(x, w_query.T, w_key.T, w_value.T, scale)
