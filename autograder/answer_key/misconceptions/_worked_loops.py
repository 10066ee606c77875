"""Wrong projections, scores and sums that loops, copies and operators lead to, one fault each."""

import numpy as np

from ._worked_common import floats, wrong

PROJECT, DOT, MIX = (f"worked_example.{name}" for name in ("project", "dot_scores", "weighted_sum"))


def projections(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x @ w_query, x @ w_key, x @ w_value


def scores_of(queries, keys):
    queries, keys = floats(queries, keys)
    return queries @ keys.T


def outputs_of(weights, values):
    weights, values = floats(weights, values)
    return weights @ values


def spoil(exercise, right, change):
    def wrongly(*args, **kwargs):
        found = right(*args, **kwargs)
        return tuple(change(one) for one in found) if isinstance(found, tuple) else change(found)

    wrongly.__name__ = change.__name__
    wrong(exercise)(wrongly)


def last_row_left_out(rows):
    rows[-1] = 0.0
    return rows


def first_row_left_out(rows):
    rows[0] = 0.0
    return rows


def last_column_left_out(rows):
    rows[:, -1] = 0.0
    return rows


def one_row_for_all(rows):
    return rows * 0.0 + rows[-1]


def first_row_alone(rows):
    return rows[0]


def rounded(rows):
    return rows.round(1)


def rounded_to_whole_numbers(rows):
    return rows.round()


def absolute_values(rows):
    return np.abs(rows)


def negative_cut_off(rows):
    return np.maximum(rows, 0.0)


def divided_by_the_root(rows):
    return rows / np.sqrt(rows.shape[-1])


ROWS = (last_row_left_out, first_row_left_out, last_column_left_out, one_row_for_all, first_row_alone, rounded)
for _change in (*ROWS, rounded_to_whole_numbers, absolute_values, negative_cut_off, divided_by_the_root):
    spoil(PROJECT, projections, _change)
for _change in (*ROWS, rounded_to_whole_numbers, absolute_values, negative_cut_off):
    spoil(DOT, scores_of, _change)
for _change in (*ROWS[:-2], rounded, absolute_values):
    spoil(MIX, outputs_of, _change)


# 2.1 project


@wrong(PROJECT)
def keys_from_w_query(inputs, w_query, w_key, w_value):
    queries, _, values = projections(inputs, w_query, w_key, w_value)
    return queries, queries, values


@wrong(PROJECT)
def queries_from_w_key(inputs, w_query, w_key, w_value):
    _, keys, values = projections(inputs, w_query, w_key, w_value)
    return keys, keys, values


@wrong(PROJECT)
def queries_alone(inputs, w_query, w_key, w_value):
    return projections(inputs, w_query, w_key, w_value)[0]


@wrong(PROJECT)
def last_feature_left_out(inputs, w_query, w_key, w_value):
    x, *matrices = floats(inputs, w_query, w_key, w_value)
    return tuple(x[:, :-1] @ matrix[:-1] for matrix in matrices)


@wrong(PROJECT)
def first_feature_left_out(inputs, w_query, w_key, w_value):
    x, *matrices = floats(inputs, w_query, w_key, w_value)
    return tuple(x[:, 1:] @ matrix[1:] for matrix in matrices)


@wrong(PROJECT)
def features_counted_by_tokens(inputs, w_query, w_key, w_value):
    x, *matrices = floats(inputs, w_query, w_key, w_value)
    return tuple(x[:, : len(x)] @ matrix[: len(x)] for matrix in matrices)


@wrong(PROJECT)
def features_counted_by_the_output(inputs, w_query, w_key, w_value):
    x, *matrices = floats(inputs, w_query, w_key, w_value)
    return tuple(x[:, : matrix.shape[1]] @ matrix[: matrix.shape[1]] for matrix in matrices)


@wrong(PROJECT)
def mean_for_sum(inputs, w_query, w_key, w_value):
    return tuple(one / len(w_query) for one in projections(inputs, w_query, w_key, w_value))


@wrong(PROJECT)
def last_product_kept(inputs, w_query, w_key, w_value):
    x, *matrices = floats(inputs, w_query, w_key, w_value)
    return tuple(np.outer(x[:, -1], matrix[-1]) for matrix in matrices)


@wrong(PROJECT)
def asterisk_for_a_product(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return x * w_query, x * w_key, x * w_value


@wrong(PROJECT)
def matrix_on_the_left(inputs, w_query, w_key, w_value):
    x, w_query, w_key, w_value = floats(inputs, w_query, w_key, w_value)
    return w_query @ x, w_key @ x, w_value @ x


@wrong(PROJECT)
def fractions_cut_off_first(inputs, w_query, w_key, w_value):
    return projections(*(np.trunc(floats(one)[0]) for one in (inputs, w_query, w_key, w_value)))


@wrong(PROJECT)
def inputs_changed(inputs, w_query, w_key, w_value):
    found = projections(inputs, w_query, w_key, w_value)
    for row in inputs:
        row[0] += 1
    return found


# 2.2 dot_scores


@wrong(DOT)
def last_feature_left_out(queries, keys):  # noqa: F811  (each registers under its exercise)
    queries, keys = floats(queries, keys)
    return queries[:, :-1] @ keys[:, :-1].T


@wrong(DOT)
def first_feature_left_out(queries, keys):  # noqa: F811
    queries, keys = floats(queries, keys)
    return queries[:, 1:] @ keys[:, 1:].T


@wrong(DOT)
def features_counted_by_keys(queries, keys):
    queries, keys = floats(queries, keys)
    return queries[:, : len(keys)] @ keys[:, : len(keys)].T


@wrong(DOT)
def rows_counted_by_keys(queries, keys):
    return [[sum(queries[i][k] * key[k] for k in range(len(key))) for key in keys] for i in range(len(keys))]


@wrong(DOT)
def mean_for_sum(queries, keys):  # noqa: F811
    queries, keys = floats(queries, keys)
    return queries @ keys.T / keys.shape[1]


@wrong(DOT)
def last_product_kept(queries, keys):  # noqa: F811
    queries, keys = floats(queries, keys)
    return np.outer(queries[:, -1], keys[:, -1])


@wrong(DOT)
def first_product_kept(queries, keys):
    queries, keys = floats(queries, keys)
    return np.outer(queries[:, 0], keys[:, 0])


@wrong(DOT)
def cube_of_products(queries, keys):
    queries, keys = floats(queries, keys)
    return queries[:, None, :] * keys[None, :, :]


@wrong(DOT)
def asterisk_for_a_product(queries, keys):  # noqa: F811
    queries, keys = floats(queries, keys)
    return queries * keys


@wrong(DOT)
def keys_with_themselves(queries, keys):
    (keys,) = floats(keys)
    return keys @ keys.T


@wrong(DOT)
def distances(queries, keys):
    queries, keys = floats(queries, keys)
    return np.sqrt(((queries[:, None, :] - keys[None, :, :]) ** 2).sum(axis=-1))


@wrong(DOT)
def queries_changed(queries, keys):
    scores = scores_of(queries, keys)
    for row in queries:
        row[0] += 1
    return scores
