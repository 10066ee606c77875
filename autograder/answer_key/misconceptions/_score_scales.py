"""Wrong scales: right scores times a factor."""

import math

from ._given import behind_given_checks
from ._score_products import ADDITIVE, BILINEAR, DOT, RIGHT, SCALED

FACTORS = {
    ADDITIVE: {
        "mean_for_sum": lambda query, key, w1, w2: 1 / len(w2),
        "scaled_too": lambda query, key, w1, w2: 1 / math.sqrt(len(w2)),
        "scaled_by_the_width": lambda query, key, w1, w2: 1 / math.sqrt(key.shape[-1]),
    },
    BILINEAR: {
        "scaled_too": lambda query, key, weight: 1 / math.sqrt(key.shape[-1]),
        "scaled_by_the_width_of_queries": lambda query, key, weight: 1 / math.sqrt(query.shape[-1]),
        "divided_by_width": lambda query, key, weight: 1 / key.shape[-1],
    },
    DOT: {
        "scaled_too": lambda query, key: 1 / math.sqrt(key.shape[-1]),
        "divided_by_width": lambda query, key: 1 / key.shape[-1],
    },
}
SCALES = {
    "no_scale": lambda query, key: 1.0,
    "divided_by_width": lambda query, key: 1 / key.shape[-1],
    "multiplied_by_root": lambda query, key: math.sqrt(key.shape[-1]),
    "root_of_query_length": lambda query, key: 1 / math.sqrt(query.shape[-2]),
    "root_of_key_length": lambda query, key: 1 / math.sqrt(key.shape[-2]),
    "root_of_axis_one": lambda query, key: 1 / math.sqrt(query.shape[1]),
    "root_of_axis_zero": lambda query, key: 1 / math.sqrt(query.shape[0]),
    "root_of_all_entries": lambda query, key: 1 / math.sqrt(key.numel()),
    "root_of_both_widths": lambda query, key: 1 / math.sqrt(query.shape[-1] + key.shape[-1]),
    "root_rounded_down": lambda query, key: 1 / math.isqrt(key.shape[-1]),
    "root_rounded": lambda query, key: 1 / round(math.sqrt(key.shape[-1])),
    "root_rounded_up": lambda query, key: 1 / math.ceil(math.sqrt(key.shape[-1])),
    "root_of_one_less": lambda query, key: 1 / math.sqrt(max(key.shape[-1] - 1, 1)),
    "fourth_root": lambda query, key: key.shape[-1] ** -0.25,
    "divided_by_half_the_width": lambda query, key: 2 / key.shape[-1],
    "divided_by_the_square": lambda query, key: 1 / key.shape[-1] ** 2,
}


def _with_factor(exercise, name, factor):
    unscaled = RIGHT[DOT if exercise == SCALED else exercise]

    @behind_given_checks(exercise, name)
    def wrong(*args, **kwargs):
        return unscaled(*args, **kwargs) * factor(*args, **kwargs)


for _exercise, _factors in (*FACTORS.items(), (SCALED, SCALES)):
    for _name, _factor in _factors.items():
        _with_factor(_exercise, _name, _factor)
