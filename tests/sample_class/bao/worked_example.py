# Plain lists and loops, no NumPy.
import math


def _matmul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def project(inputs, w_query, w_key, w_value):
    _check(inputs, w_query, w_key, w_value)
    return tuple(_matmul(inputs, weight) for weight in (w_query, w_key, w_value))


def _check(inputs, *weights):
    for weight in weights:
        if len(weight) != len(inputs[0]):
            raise ValueError("one row of weights per input feature")


def weighted_sum(weights, values):
    if len(weights[0]) != len(values):
        raise ValueError("one weight per value")
    return _matmul(weights, values)


def dot_scores(queries, keys):
    if len(queries[0]) != len(keys[0]):
        raise ValueError("queries and keys of one width")
    return [[math.fsum(a * b for a, b in zip(query, key)) for key in keys] for query in queries]


def self_attention(inputs, w_query, w_key, w_value, scale=False):
    if len(w_query[0]) != len(w_key[0]):
        raise ValueError("queries and keys of one width")
    queries, keys, values = project(inputs, w_query, w_key, w_value)
    divisor = math.sqrt(len(keys[0])) if scale else 1.0
    scores = [[score / divisor for score in row] for row in dot_scores(queries, keys)]
    weights = [softmax(row) for row in scores]
    return weighted_sum(weights, values), weights
