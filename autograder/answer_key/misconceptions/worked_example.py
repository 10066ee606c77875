"""Wrong answers on the worked example, each as somebody would really write it, with one fault only."""

import numpy as np

from . import (  # they register 2.5 and 2.3, and what several exercises have in common
    _worked_forms,  # noqa: F401
    _worked_forms_values,  # noqa: F401
    _worked_layer,  # noqa: F401
    _worked_layer_steps,  # noqa: F401
    _worked_loops,  # noqa: F401
    _worked_mixing,  # noqa: F401
    _worked_slips,  # noqa: F401
    _worked_softmax,  # noqa: F401
    _worked_softmax_values,  # noqa: F401
    _worked_whole_numbers,  # noqa: F401
)
from ._worked_common import floats, right_softmax, wrong

# 2.1 project


@wrong("worked_example.project")
def keys_first(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x @ w_key, x @ w_query, x @ w_value


@wrong("worked_example.project")
def values_second(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x @ w_query, x @ w_value, x @ w_key


@wrong("worked_example.project")
def weights_transposed(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x @ w_query.T, x @ w_key.T, x @ w_value.T


@wrong("worked_example.project")
def rows_for_columns(inputs, w_query, w_key, w_value):
    def project_one(weight):
        return [[sum(x * w for x, w in zip(token, row)) for row in weight] for token in inputs]  # noqa: B905

    return project_one(w_query), project_one(w_key), project_one(w_value)


@wrong("worked_example.project")
def tokens_as_columns(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return w_query.T @ x.T, w_key.T @ x.T, w_value.T @ x.T


@wrong("worked_example.project")
def one_matrix_for_all(inputs, w_query, w_key, w_value):
    x, w_query = floats(inputs, w_query)
    return x @ w_query, x @ w_query, x @ w_query


@wrong("worked_example.project")
def values_from_w_key(inputs, w_query, w_key, w_value):
    x, w_query, w_key = floats(inputs, w_query, w_key)
    return x @ w_query, x @ w_key, x @ w_key


@wrong("worked_example.project")
def values_not_projected(inputs, w_query, w_key, w_value):
    x, w_query, w_key = floats(inputs, w_query, w_key)
    return x @ w_query, x @ w_key, x


@wrong("worked_example.project")
def entry_by_entry(inputs, w_query, w_key, w_value):
    def project_one(weight):
        return [[x * w for x, w in zip(token, row)] for token, row in zip(inputs, weight)]  # noqa: B905

    return project_one(w_query), project_one(w_key), project_one(w_value)


@wrong("worked_example.project")
def width_counted_by_tokens(inputs, w_query, w_key, w_value):
    def project_one(weight):
        length, d_in = len(inputs), len(inputs[0])
        return [[sum(inputs[i][k] * weight[k][j] for k in range(d_in)) for j in range(length)] for i in range(length)]

    return project_one(w_query), project_one(w_key), project_one(w_value)


@wrong("worked_example.project")
def values_cut_to_query_width(inputs, w_query, w_key, w_value):
    d = len(w_query[0])

    def project_one(weight):
        return [[sum(x * row[j] for x, row in zip(token, weight, strict=True)) for j in range(d)] for token in inputs]

    return project_one(w_query), project_one(w_key), project_one(w_value)


@wrong("worked_example.project")
def whole_numbers_only(inputs, w_query, w_key, w_value):
    results = []
    for weight in (w_query, w_key, w_value):
        result = np.zeros((len(inputs), len(weight[0])), dtype=int)
        result[:] = np.array(inputs) @ np.array(weight)
        results.append(result)
    return tuple(results)


# 2.2 dot_scores


@wrong("worked_example.dot_scores")
def keys_as_rows(queries, keys):
    queries, keys = floats(queries, keys)
    return keys @ queries.T


@wrong("worked_example.dot_scores")
def keys_not_transposed(queries, keys):
    queries, keys = floats(queries, keys)
    return queries @ keys


@wrong("worked_example.dot_scores")
def keys_reshaped(queries, keys):
    queries, keys = floats(queries, keys)
    return queries @ keys.reshape(keys.shape[1], keys.shape[0])


@wrong("worked_example.dot_scores")
def scaled_already(queries, keys):
    queries, keys = floats(queries, keys)
    return queries @ keys.T / np.sqrt(keys.shape[1])


@wrong("worked_example.dot_scores")
def softmax_already(queries, keys):
    queries, keys = floats(queries, keys)
    return right_softmax(queries @ keys.T)


@wrong("worked_example.dot_scores")
def cosines(queries, keys):
    queries, keys = floats(queries, keys)
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(keys, axis=1)[None, :]
    return queries @ keys.T / np.where(lengths == 0.0, 1.0, lengths)


@wrong("worked_example.dot_scores")
def pairs_only(queries, keys):
    return [sum(q * k for q, k in zip(query, key, strict=True)) for query, key in zip(queries, keys)]  # noqa: B905


@wrong("worked_example.dot_scores")
def products_not_added(queries, keys):
    return [[q * k for q, k in zip(query, key, strict=True)] for query, key in zip(queries, keys)]  # noqa: B905


@wrong("worked_example.dot_scores")
def queries_with_themselves(queries, keys):
    (queries,) = floats(queries)
    return queries @ queries.T


@wrong("worked_example.dot_scores")
def columns_counted_by_queries(queries, keys):
    length, d = len(queries), len(queries[0])
    return [[sum(queries[i][k] * keys[j][k] for k in range(d)) for j in range(length)] for i in range(length)]


@wrong("worked_example.dot_scores")
def features_counted_by_queries(queries, keys):
    length = len(queries)
    return [[sum(query[k] * key[k] for k in range(min(length, len(key)))) for key in keys] for query in queries]


@wrong("worked_example.dot_scores")
def whole_scores_only(queries, keys):
    scores = np.zeros((len(queries), len(keys)), dtype=int)
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[i, j] = np.dot(query, key)
    return scores


# 2.4 weighted_sum


@wrong("worked_example.weighted_sum")
def weights_turned(weights, values):
    weights, values = floats(weights, values)
    return weights.T @ values


@wrong("worked_example.weighted_sum")
def values_turned(weights, values):
    weights, values = floats(weights, values)
    return weights @ values.T


@wrong("worked_example.weighted_sum")
def dotted_with_each_value(weights, values):
    return [[sum(w * v for w, v in zip(row, value)) for value in values] for row in weights]  # noqa: B905


@wrong("worked_example.weighted_sum")
def normalised_again(weights, values):
    weights, values = floats(weights, values)
    return weights @ values / weights.sum(axis=1, keepdims=True)


@wrong("worked_example.weighted_sum")
def softmax_again(weights, values):
    weights, values = floats(weights, values)
    return right_softmax(weights) @ values


@wrong("worked_example.weighted_sum")
def divided_by_their_number(weights, values):
    weights, values = floats(weights, values)
    return (weights[:, :, None] * values[None, :, :]).mean(axis=1)


@wrong("worked_example.weighted_sum")
def best_value_only(weights, values):
    weights, values = floats(weights, values)
    return values[weights.argmax(axis=1)]


@wrong("worked_example.weighted_sum")
def summed_over_features(weights, values):
    weights, values = floats(weights, values)
    return (weights[:, :, None] * values[None, :, :]).sum(axis=-1)


@wrong("worked_example.weighted_sum")
def summed_over_queries(weights, values):
    weights, values = floats(weights, values)
    return (weights[:, :, None] * values[None, :, :]).sum(axis=0)


@wrong("worked_example.weighted_sum")
def not_added_up(weights, values):
    weights, values = floats(weights, values)
    return weights[:, :, None] * values[None, :, :]


@wrong("worked_example.weighted_sum")
def first_query_only(weights, values):
    weights, values = floats(weights, values)
    return weights[0] @ values


@wrong("worked_example.weighted_sum")
def entries_multiplied(weights, values):
    return [[w * v for w, v in zip(row, value)] for row, value in zip(weights, values)]  # noqa: B905


@wrong("worked_example.weighted_sum")
def outputs_like_values(weights, values):
    weights, values = np.array(weights), np.array(values)
    outputs = np.zeros_like(values)
    for i, row in enumerate(weights):
        outputs[i] = sum(weight * value for weight, value in zip(row, values, strict=True))
    return outputs
