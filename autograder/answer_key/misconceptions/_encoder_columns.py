"""Wrong attention by columns: other weights, other parts, other results."""

import math

import torch

from ._given import behind_given_checks

COLUMNS = "encoder.attention_columns"


def scores(queries, keys):
    return keys.T @ queries / math.sqrt(len(keys))


def mixed(values, found):
    return values @ found.softmax(dim=0)


def exponentials(found):
    return found.exp() / found.exp().sum(dim=0)


# What comes out, of queries, keys and values
ANSWERS = {
    "no_softmax": lambda q, k, v: v @ scores(q, k),
    "sigmoid_for_softmax": lambda q, k, v: v @ scores(q, k).sigmoid(),
    "scores_divided_by_their_sum": lambda q, k, v: v @ (scores(q, k) / scores(q, k).sum(dim=0)),
    "exponentials_overflow": lambda q, k, v: v @ exponentials(scores(q, k)),
    "cosines_for_scores": lambda q, k, v: mixed(v, (k / k.norm(dim=0)).T @ (q / q.norm(dim=0))),
    "causal_by_itself": lambda q, k, v: mixed(v, scores(q, k) + torch.full_like(scores(q, k), -math.inf).tril(-1)),
    "queries_as_values": lambda q, k, v: mixed(q, scores(q, k)),
    "keys_with_keys": lambda q, k, v: mixed(v, scores(k, k)),
    "queries_with_queries": lambda q, k, v: mixed(v, scores(q, q)),
    "weights_returned_too": lambda q, k, v: (mixed(v, scores(q, k)), scores(q, k).softmax(dim=0)),
    "weights_averaged_away": lambda q, k, v: v.mean(dim=1, keepdim=True).expand(-1, q.shape[1]),
    "float64_throughout": lambda q, k, v: mixed(v, scores(q, k)).double(),
    "rounded": lambda q, k, v: mixed(v, scores(q, k)).round(decimals=2),
    "values_detached": lambda q, k, v: mixed(v.detach(), scores(q, k)),
}


def _register(name, answer):
    @behind_given_checks(COLUMNS, name)
    def wrong(x, w_query, w_key, w_value):
        return answer(w_query @ x, w_key @ x, w_value @ x)


for _name, _answer in ANSWERS.items():
    _register(_name, _answer)


@behind_given_checks(COLUMNS)
def tokens_taken_for_rows(x, w_query, w_key, w_value):
    return mixed(x.T @ w_value, scores(x.T @ w_query, x.T @ w_key))


@behind_given_checks(COLUMNS)
def weights_transposed(x, w_query, w_key, w_value):
    return mixed(w_value.T @ x, scores(w_query.T @ x, w_key.T @ x))
