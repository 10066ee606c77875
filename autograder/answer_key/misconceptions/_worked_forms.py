"""Wrong steps of the worked example as loops over nested lists have them: totals, rows and indices that are off."""

import numpy as np

from ._worked_common import wrong
from ._worked_loops import DOT, MIX, PROJECT, outputs_of, scores_of

#: The running example's matrices, as they stand in the stub.
EXAMPLE = {
    "w_query": [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    "w_key": [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    "w_value": [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
}


def _product(rows, columns, inner, left, right, slip=""):
    """A matrix product in loops, with a slip; left(i, k) and right(k, j) are the factors."""
    result, row, total, shared = [], [], 0.0, [0.0] * columns
    for i in range(rows):
        row = row if slip == "row_kept" else []
        total = 0.0 if slip == "total_per_row" else total
        for j in range(columns):
            total = total if slip in ("total_kept", "total_per_row") else 0.0
            for k in range(inner):
                total += left(i, k) * right(k, j)
                shared[j] += left(i, k) * right(k, j)
                if slip == "each_term":
                    row.append(total)
            if slip != "each_term":
                row.append(total)
            if slip == "each_column":
                result.append(row)
        if slip != "each_column":
            result.append(shared if slip == "one_list" else row)
    return result


def _project(slip):
    def wrongly(inputs, w_query, w_key, w_value):
        def one(weight):
            sizes = len(inputs), len(weight[0]), len(weight)
            return _product(*sizes, lambda i, k: inputs[i][k], lambda k, j: weight[k][j], slip)

        return one(w_query), one(w_key), one(w_value)

    return wrongly


def _dot(slip):
    def wrongly(queries, keys):
        sizes = len(queries), len(keys), len(keys[0])
        return _product(*sizes, lambda i, k: queries[i][k], lambda k, j: keys[j][k], slip)

    return wrongly


def _mix(slip):
    def wrongly(weights, values):
        sizes = len(weights), len(values[0]), len(values)
        return _product(*sizes, lambda i, k: weights[i][k], lambda k, j: values[k][j], slip)

    return wrongly


#: id, or id/form, by slip
SLIPS = {
    "total_kept": "total_never_reset",
    "total_per_row": "total_never_reset/within_a_row",
    "row_kept": "row_never_begun_anew",
    "each_column": "row_handed_on_too_often",
    "each_term": "each_partial_sum_kept",
    "one_list": "one_row_for_all/added_up",
}
for _exercise, _with in ((PROJECT, _project), (DOT, _dot), (MIX, _mix)):
    for _slip, _name in SLIPS.items():
        _like, _, _form = _name.rpartition("/")
        _function = _with(_slip)
        _function.__name__ = _form
        wrong(_exercise, _like)(_function)


def _through_each(inputs, w_query, w_key, w_value, one):
    return one(inputs, w_query), one(inputs, w_key), one(inputs, w_value)


def _projecting(name, one, like=""):
    def wrongly(inputs, w_query, w_key, w_value):
        return _through_each(inputs, w_query, w_key, w_value, one)

    wrongly.__name__ = name
    wrong(PROJECT, like)(wrongly)


def _cells(rows, columns, inner, cell):
    return [[sum(cell(i, j, k) for k in range(inner)) for j in range(columns)] for i in range(rows)]


def _by_rows_of_the_matrix(x, w):
    return _cells(len(x), len(w), len(x[0]), lambda i, j, k: x[i][k] * w[j][k])


def _by_columns_turned(x, w):
    return _cells(len(x), len(w[0]), len(w), lambda i, j, k: x[i][k] * w[j][k])


def _written_across(x, w):
    result = [[0.0] * len(w[0]) for _ in x]
    for i in range(len(x)):
        for j in range(len(w[0])):
            result[j][i] = sum(x[i][k] * w[k][j] for k in range(len(w)))
    return result


_projecting("by_rows", _by_rows_of_the_matrix, "weights_transposed")
_projecting("by_columns", _by_columns_turned, "weights_transposed")
_projecting("by_inner", np.inner, "weights_transposed")
_projecting("written_across", _written_across, "tokens_as_columns")


def _counted_by_tokens(x, w):
    return _cells(len(x), len(w[0]), len(x), lambda i, j, k: x[i][k] * w[k][j])


_projecting("in_loops", _counted_by_tokens, "features_counted_by_tokens")
_projecting("features_added", lambda x, w: _cells(len(x), len(w[0]), len(w), lambda i, j, k: x[i][k] + w[k][j]))
_projecting("four_features", lambda x, w: _cells(len(x), len(w[0]), 4, lambda i, j, k: x[i][k] * w[k][j]))
_projecting("three_columns", lambda x, w: _cells(len(x), 3, len(w), lambda i, j, k: x[i][k] * w[k][j]))


@wrong(PROJECT)
def keys_from_the_queries(inputs, w_query, w_key, w_value):
    queries = np.array(inputs, dtype=float) @ w_query
    return queries, queries @ w_key, np.array(inputs, dtype=float) @ w_value


@wrong(PROJECT)
def stacked_into_one_array(inputs, w_query, w_key, w_value):
    x = np.array(inputs, dtype=float)
    return np.array([x @ w_query, x @ w_key, x @ w_value])


@wrong(PROJECT)
def cut_into_equal_parts(inputs, w_query, w_key, w_value):
    return tuple(np.split(np.array(inputs) @ np.concatenate([w_query, w_key, w_value], axis=1), 3, axis=1))


# 2.2 dot_scores
@wrong(DOT, like="features_counted_by_keys")
def in_loops(queries, keys):
    return _cells(len(queries), len(keys), len(keys), lambda i, j, k: queries[i][k] * keys[j][k])


@wrong(DOT, like="features_counted_by_queries")
def by_index(queries, keys):
    return _cells(len(queries), len(keys), len(queries), lambda i, j, k: queries[i][k] * keys[j][k])


@wrong(DOT)
def features_by_features(queries, keys):
    return np.array(queries, dtype=float).T @ np.array(keys, dtype=float)


@wrong(DOT)
def future_left_out(queries, keys):
    return np.tril(scores_of(queries, keys))


@wrong(DOT, like="keys_as_rows")
def written_across(queries, keys):
    scores = np.zeros((len(queries), len(keys)))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[j][i] = np.dot(query, key)
    return scores


@wrong(DOT, like="keys_as_rows")
def in_a_turned_array(queries, keys):
    scores = np.zeros((len(keys), len(queries)))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[i][j] = np.dot(query, key)
    return scores


# 2.4 weighted_sum
@wrong(MIX, like="values_turned")
def in_loops(weights, values):  # noqa: F811
    return _cells(len(weights), len(values[0]), len(values), lambda i, j, k: weights[i][k] * values[j][k])


@wrong(MIX)
def weights_by_feature(weights, values):
    return _cells(len(weights), len(values[0]), len(values), lambda i, j, k: weights[i][j] * values[k][j])


@wrong(MIX, like="features_counted_by_values")
def by_index(weights, values):  # noqa: F811  (each registers under its exercise)
    return _cells(len(weights), len(weights[0]), len(values), lambda i, j, k: weights[i][k] * values[k][j])


@wrong(MIX, like="features_counted_by_values")
def beyond_the_list(weights, values):
    outputs = []
    for row in weights:
        output = [0.0] * len(row)
        for j in range(len(values)):
            for c in range(len(values[0])):
                output[c] += row[j] * values[j][c]
        outputs.append(output)
    return outputs


@wrong(MIX)
def values_on_the_left(weights, values):
    return np.array(values, dtype=float) @ np.array(weights, dtype=float)


@wrong(MIX, like="outputs_like_values")
def of_floats(weights, values):
    values = np.array(values, dtype=float)
    outputs = np.zeros_like(values)
    for i, row in enumerate(weights):
        outputs[i] = np.array(row) @ values
    return outputs


@wrong(MIX, like="whole_outputs_only")
def each_product(weights, values):
    return _cells(len(weights), len(values[0]), len(values), lambda i, j, k: int(weights[i][k] * values[k][j]))


@wrong(MIX, like="weights_turned")
def through_zip(weights, values):
    outputs = []
    for row in zip(*weights):  # noqa: B905
        output = [0.0] * len(values[0])
        for j in range(len(values)):
            for c in range(len(values[0])):
                output[c] += row[j] * values[j][c]
        outputs.append(output)
    return outputs


@wrong(MIX, like="row_handed_on_too_often")
def with_each_value(weights, values):
    outputs = outputs_of(weights, values).tolist()
    return [row for row in outputs for _ in values]


@wrong(DOT)
def outer_product(queries, keys):
    return np.outer(queries, keys)


@wrong(DOT)
def one_number_for_all(queries, keys):
    return np.dot(np.ravel(queries), np.ravel(keys))


@wrong(DOT, like="one_number_for_all")
def of_two_axes(queries, keys):
    return np.tensordot(np.array(queries), np.array(keys), axes=2)


@wrong(DOT, like="distances")
def negative_squares(queries, keys):
    queries, keys = np.array(queries, dtype=float), np.array(keys, dtype=float)
    return -((queries[:, None] - keys[None]) ** 2).sum(axis=-1)


_projecting(
    "columns_counted_by_features", lambda x, w: _cells(len(x), len(w), len(w), lambda i, j, k: x[i][k] * w[k][j])
)


@wrong(PROJECT)
def matrices_written_in(inputs, w_query, w_key, w_value):
    def one(weight):
        return _cells(len(inputs), len(weight[0]), len(weight), lambda i, j, k: inputs[i][k] * weight[k][j])

    return tuple(one(EXAMPLE[name]) for name in ("w_query", "w_key", "w_value"))


@wrong(DOT, like="pairs_only")
def on_the_diagonal(queries, keys):
    return scores_of(queries, keys) * np.eye(len(queries), len(keys))
