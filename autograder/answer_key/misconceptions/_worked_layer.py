"""Wrong self-attention layers, each as somebody would really write it, with one fault only."""

import numpy as np

from ._worked_common import floats, right_softmax, wrong


def steps(inputs, w_query, w_key, w_value, scale=False):
    """The right scores and values, for mistakes that come later."""
    q, k, v = project(inputs, w_query, w_key, w_value)
    return q @ k.T / (np.sqrt(k.shape[1]) if scale else 1), v


def project(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x @ w_query, x @ w_key, x @ w_value


def attend(scores, values, axis=-1):
    weights = right_softmax(scores, axis)
    return weights @ values, weights


@wrong("worked_example.self_attention")
def scale_ignored(inputs, w_query, w_key, w_value, scale=False):
    return attend(*steps(inputs, w_query, w_key, w_value))


@wrong("worked_example.self_attention")
def always_scaled(inputs, w_query, w_key, w_value, scale=False):
    return attend(*steps(inputs, w_query, w_key, w_value, True))


@wrong("worked_example.self_attention")
def divided_by_d(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T / (k.shape[1] if scale else 1), v)


@wrong("worked_example.self_attention")
def root_of_the_number_of_keys(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T / (np.sqrt(len(k)) if scale else 1), v)


@wrong("worked_example.self_attention")
def root_of_the_input_width(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T / (np.sqrt(len(w_key)) if scale else 1), v)


@wrong("worked_example.self_attention")
def root_of_the_value_width(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T / (np.sqrt(v.shape[1]) if scale else 1), v)


@wrong("worked_example.self_attention")
def multiplied_by_the_root(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    return attend(q @ k.T * (np.sqrt(k.shape[1]) if scale else 1), v)


@wrong("worked_example.self_attention")
def scaled_after_the_softmax(inputs, w_query, w_key, w_value, scale=False):
    q, k, v = project(inputs, w_query, w_key, w_value)
    weights = right_softmax(q @ k.T) / (np.sqrt(k.shape[1]) if scale else 1)
    return weights @ v, weights


@wrong("worked_example.self_attention")
def divided_in_place(inputs, w_query, w_key, w_value, scale=False):
    x, w_query, w_key, w_value = (np.array(matrix) for matrix in (inputs, w_query, w_key, w_value))
    scores = (x @ w_query) @ (x @ w_key).T
    if scale:
        scores /= np.sqrt(w_key.shape[1])
    return attend(scores, x @ w_value)


@wrong("worked_example.self_attention")
def weights_first(inputs, w_query, w_key, w_value, scale=False):
    outputs, weights = attend(*steps(inputs, w_query, w_key, w_value, scale))
    return weights, outputs


@wrong("worked_example.self_attention")
def outputs_alone(inputs, w_query, w_key, w_value, scale=False):
    return attend(*steps(inputs, w_query, w_key, w_value, scale))[0]


@wrong("worked_example.self_attention")
def scores_returned(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return right_softmax(scores) @ values, scores


@wrong("worked_example.self_attention")
def no_softmax(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return scores @ values, scores


@wrong("worked_example.self_attention")
def queries_and_keys_exchanged(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    return attend(scores.T, values)


@wrong("worked_example.self_attention")
def softmax_over_queries(inputs, w_query, w_key, w_value, scale=False):
    return attend(*steps(inputs, w_query, w_key, w_value, scale), axis=0)


@wrong("worked_example.self_attention")
def weights_turned_in_the_sum(inputs, w_query, w_key, w_value, scale=False):
    scores, values = steps(inputs, w_query, w_key, w_value, scale)
    weights = right_softmax(scores)
    return weights.T @ values, weights


@wrong("worked_example.self_attention")
def inputs_mixed(inputs, w_query, w_key, w_value, scale=False):
    scores, _ = steps(inputs, w_query, w_key, w_value, scale)
    return attend(scores, np.array(inputs, dtype=float))


@wrong("worked_example.self_attention")
def keys_mixed(inputs, w_query, w_key, w_value, scale=False):
    scores, _ = steps(inputs, w_query, w_key, w_value, scale)
    return attend(scores, np.array(inputs, dtype=float) @ np.array(w_key))
