"""Right answers on the worked example in other styles, each below the argument checks that its stub gives."""

import functools
import math
from collections.abc import Callable

import numpy as np
import torch

from autograder.answer_key.reference_package import reference

from . import alternative


def right(exercise: str) -> Callable[[Callable], Callable]:
    """Register an alternative that keeps the stub's argument checks: the reference refuses bad input first."""

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def with_given_checks(*args, **kwargs):
            reference(exercise)(*args, **kwargs)
            return function(*args, **kwargs)

        return alternative(exercise)(with_given_checks)

    return register


# 2.1 project


@right("worked_example.project")
def loops(inputs, w_query, w_key, w_value):
    def times(weight):
        result = []
        for token in inputs:
            row = []
            for column in range(len(weight[0])):
                total = 0
                for feature in range(len(weight)):
                    total += token[feature] * weight[feature][column]
                row.append(total)
            result.append(row)
        return result

    return times(w_query), times(w_key), times(w_value)


@right("worked_example.project")
def sum_of_rows(inputs, w_query, w_key, w_value):
    """Each token takes the matrix's rows as often as its entries say, as the chapter does by hand."""

    def times(weight):
        scaled = ([[x * w for w in row] for x, row in zip(token, weight, strict=True)] for token in inputs)
        return [[sum(column) for column in zip(*rows, strict=True)] for rows in scaled]

    return [times(w_query), times(w_key), times(w_value)]


@right("worked_example.project")
def side_by_side(inputs, w_query, w_key, w_value):
    """One product with the three matrices beside each other, then cut apart, as fused projections do."""
    widths = [np.shape(w_query)[1], np.shape(w_key)[1]]
    together = np.asarray(inputs) @ np.concatenate([w_query, w_key, w_value], axis=1)
    return tuple(np.split(together, np.cumsum(widths), axis=1))


@right("worked_example.project")
def einsum(inputs, w_query, w_key, w_value):
    return tuple(np.einsum("li,id->ld", inputs, weight) for weight in (w_query, w_key, w_value))


@right("worked_example.project")
def columns_and_back(inputs, w_query, w_key, w_value):
    x = np.array(inputs).T
    return (np.array(w_query).T @ x).T, (np.array(w_key).T @ x).T, (np.array(w_value).T @ x).T


@right("worked_example.project")
def single_precision_torch(inputs, w_query, w_key, w_value):
    x = torch.tensor(inputs, dtype=torch.float32)
    return tuple(x @ torch.tensor(weight, dtype=torch.float32) for weight in (w_query, w_key, w_value))


# 2.2 dot_scores


@right("worked_example.dot_scores")
def nested_comprehension(queries, keys):
    return [[sum(q * k for q, k in zip(query, key, strict=True)) for key in keys] for query in queries]


@right("worked_example.dot_scores")
def filled_in(queries, keys):
    scores = np.zeros((len(queries), len(keys)))
    for i in range(len(queries)):
        for j in range(len(keys)):
            scores[i][j] = np.dot(queries[i], keys[j])
    return scores


@right("worked_example.dot_scores")
def cube_and_sum(queries, keys):
    return (np.array(queries)[:, None, :] * np.array(keys)[None, :, :]).sum(axis=-1)


@right("worked_example.dot_scores")
def inner(queries, keys):
    return np.inner(queries, keys)


@right("worked_example.dot_scores")
def transposed_twice(queries, keys):
    return np.transpose(np.array(keys) @ np.transpose(queries))


@right("worked_example.dot_scores")
def rows_of_arrays(queries, keys):
    return [np.array(keys, dtype=np.float32) @ np.array(query, dtype=np.float32) for query in queries]


# 2.3 softmax


@right("worked_example.softmax")
def plain_python(scores, axis=-1):
    """Nested lists of any depth: down to the axis asked for, then entry by entry across the lists found there."""

    def depth(values):
        return 1 + depth(values[0]) if hasattr(values, "__len__") else 0

    def row(entries):
        largest = max(entries)
        if largest == -math.inf:
            return [0.0] * len(entries)
        exponentials = [math.exp(entry - largest) for entry in entries]
        return [exponential / sum(exponentials) for exponential in exponentials]

    def across(lists):
        if not hasattr(lists[0], "__len__"):
            return row(list(lists))
        parts = [across([one[i] for one in lists]) for i in range(len(lists[0]))]
        return [[part[j] for part in parts] for j in range(len(lists))]

    def down(values, levels):
        return across(values) if levels == 0 else [down(value, levels - 1) for value in values]

    return down(scores, axis % depth(scores))


@right("worked_example.softmax")
def along_an_axis(scores, axis=-1):
    def row(entries):
        if np.all(np.isneginf(entries)):
            return np.zeros(len(entries))
        exponentials = np.exp(entries - np.max(entries))
        return exponentials / np.sum(exponentials)

    return np.apply_along_axis(row, axis, np.array(scores, dtype=float))


@right("worked_example.softmax")
def nan_to_zero(scores, axis=-1):
    scores = np.array(scores, dtype=np.float64)
    exponentials = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return np.nan_to_num(exponentials / np.sum(exponentials, axis=axis, keepdims=True), nan=0.0)


@right("worked_example.softmax")
def by_its_logarithm(scores, axis=-1):
    scores = np.moveaxis(np.array(scores, dtype=float), axis, 0)
    logarithm = np.logaddexp.reduce(scores, axis=0)
    weights = np.exp(scores - np.where(np.isneginf(logarithm), 0.0, logarithm))
    return np.moveaxis(weights, 0, axis)


@right("worked_example.softmax")
def ratios(scores, axis=-1):
    """1 / Σ exp(s_m - s_j): only differences count."""
    scores = np.moveaxis(np.array(scores, dtype=float), axis, -1)
    differences = scores[..., None, :] - scores[..., :, None]
    weights = 1.0 / np.exp(differences).sum(axis=-1)
    return np.moveaxis(np.where(np.isneginf(scores), 0.0, weights), -1, axis)


@right("worked_example.softmax")
def single_precision_and_a_tiny_number(scores, axis=-1):
    scores = np.asarray(scores).astype(np.float32)
    largest = np.expand_dims(scores.max(axis), axis)
    largest[np.isinf(largest)] = 0
    exponentials = np.exp(scores - largest)
    return exponentials / (exponentials.sum(axis, keepdims=True) + 1e-20)


# 2.4 weighted_sum


@right("worked_example.weighted_sum")
def three_loops(weights, values):
    outputs = []
    for row in weights:
        output = [0.0] * len(values[0])
        for weight, value in zip(row, values, strict=True):
            for feature, number in enumerate(value):
                output[feature] += weight * number
        outputs.append(output)
    return outputs


@right("worked_example.weighted_sum")
def weighted_then_summed(weights, values):
    return (np.array(weights)[:, :, np.newaxis] * np.array(values)[np.newaxis]).sum(axis=1)


@right("worked_example.weighted_sum")
def einsum_keys(weights, values):
    return np.einsum("qk,kf->qf", weights, values)


@right("worked_example.weighted_sum")
def query_by_query(weights, values):
    return tuple(np.tensordot(row, values, axes=1) for row in weights)


@right("worked_example.weighted_sum")
def columns_of_values(weights, values):
    return [
        [sum(w * v for w, v in zip(row, column, strict=True)) for column in zip(*values, strict=True)]
        for row in weights
    ]


@right("worked_example.weighted_sum")
def outer_products(weights, values):
    weights, values = np.asarray(weights), np.asarray(values)
    return sum(np.outer(weights[:, j], values[j]) for j in range(len(values)))


# 2.5 self_attention


@right("worked_example.self_attention")
def with_the_earlier_answers(inputs, w_query, w_key, w_value, scale=False):
    queries, keys, values = loops(inputs, w_query, w_key, w_value)
    scores = nested_comprehension(queries, keys)
    if scale:
        scores = [[score / len(keys[0]) ** 0.5 for score in row] for row in scores]
    weights = plain_python(scores)
    return three_loops(weights, values), weights


@right("worked_example.self_attention")
def one_query_at_a_time(inputs, w_query, w_key, w_value, scale=False):
    queries, keys, values = side_by_side(inputs, w_query, w_key, w_value)
    outputs, all_weights = [], []
    for query in queries:
        scores = keys @ query
        if scale:
            scores = scores / keys.shape[-1] ** 0.5
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        all_weights.append(weights)
        outputs.append(weights @ values)
    return [outputs, all_weights]


@right("worked_example.self_attention")
def queries_scaled(inputs, w_query, w_key, w_value, scale=False):
    """The scale on the queries, and the sum divided last, as fused kernels do."""
    queries, keys, values = (np.array(inputs, dtype=float) @ np.array(weight) for weight in (w_query, w_key, w_value))
    if scale:
        queries = queries * keys.shape[1] ** -0.5
    scores = np.einsum("ld,sd->ls", queries, keys)
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = exponentials.sum(axis=1, keepdims=True)
    return np.stack(exponentials @ values / total), exponentials / total


@right("worked_example.self_attention")
def one_matrix_in_the_middle(inputs, w_query, w_key, w_value, scale=False):
    x = np.asarray(inputs, dtype=float)
    scores = x @ (np.asarray(w_query) @ np.transpose(w_key)) @ x.T
    weights = along_an_axis(scores / np.sqrt(np.shape(w_key)[1]) if scale else scores)
    return (weights @ x) @ np.asarray(w_value), weights


@right("worked_example.self_attention")
def torch_matmul(inputs, w_query, w_key, w_value, scale=False):
    x, *matrices = (torch.tensor(matrix, dtype=torch.float64) for matrix in (inputs, w_query, w_key, w_value))
    queries, keys, values = (x @ matrix for matrix in matrices)
    weights = torch.softmax(queries @ keys.mT / (keys.size(-1) ** 0.5 if scale else 1.0), dim=-1)
    return (weights @ values).tolist(), weights.tolist()
