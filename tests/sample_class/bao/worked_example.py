# Plain lists and loops, no NumPy.
import math


def _matmul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def project(inputs, w_query, w_key, w_value):
    _, d_in = _matrix_shape("inputs", inputs)
    for name, weight in (("w_query", w_query), ("w_key", w_key), ("w_value", w_value)):
        if _matrix_shape(name, weight)[0] != d_in:
            raise ValueError("one row of weights per input feature")
    _check_same_width("w_query", w_query, "w_key", w_key)
    return tuple(_matmul(inputs, weight) for weight in (w_query, w_key, w_value))


def weighted_sum(weights, values):
    if _matrix_shape("weights", weights)[1] != _matrix_shape("values", values)[0]:
        raise ValueError("one weight per value")
    return _matmul(weights, values)


def dot_scores(queries, keys):
    _check_same_width("queries", queries, "keys", keys)
    return [[math.fsum(a * b for a, b in zip(query, key)) for key in keys] for query in queries]


def self_attention(inputs, w_query, w_key, w_value, scale=False):
    _check_same_width("w_query", w_query, "w_key", w_key)
    queries, keys, values = project(inputs, w_query, w_key, w_value)
    divisor = math.sqrt(len(keys[0])) if scale else 1.0
    scores = [[score / divisor for score in row] for row in dot_scores(queries, keys)]
    weights = [softmax(row) for row in scores]
    return weighted_sum(weights, values), weights
