"""Wrong biases of ALiBi: other distances, other shapes."""

import torch

from ._given import behind_given_checks

ALIBI = "positions.alibi_bias"


def slopes(num_heads):
    """2^(-8h / H) for h = 1 … H, as (H, 1, 1)."""
    return 2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads)[:, None, None]


def distance(queries, keys, shift=None):
    """|i + shift - j|, by default with the last query at the last key."""
    shift = keys - queries if shift is None else shift
    return (torch.arange(queries)[:, None] + shift - torch.arange(keys)).abs()


# Of H, L and S
BIASES = {
    "shift_never_negative": lambda heads, queries, keys: (
        slopes(heads) * -distance(queries, keys, max(keys - queries, 0))
    ),
    "shift_always_forward": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys, abs(keys - queries)),
    "one_step_too_far": lambda heads, queries, keys: slopes(heads) * -(distance(queries, keys) + 1),
    "one_step_off": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys, keys - queries - 1),
    "root_of_the_distance": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys).sqrt(),
    "logarithm_of_the_distance": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys).log1p(),
    "distance_by_length": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys) / max(keys, 1),
    "distance_of_one_at_most": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys).clamp(max=1),
    "axis_for_the_batch": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys))[None],
    "without_heads": lambda heads, queries, keys: slopes(heads)[0] * -distance(queries, keys),
    "summed_over_heads": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).sum(0),
    "keys_all_alike": lambda heads, queries, keys: slopes(heads) * -distance(queries, keys)[:, :1].expand(-1, keys),
    "slopes_added": lambda heads, queries, keys: -distance(queries, keys) - slopes(heads),
    "slopes_not_used": lambda heads, queries, keys: -distance(queries, keys).float().expand(heads, -1, -1),
    "slopes_divide": lambda heads, queries, keys: -distance(queries, keys) / slopes(heads),
    "slopes_of_eight_over_h": lambda heads, queries, keys: (
        2.0 ** (-8.0 / torch.arange(1, heads + 1))[:, None, None] * -distance(queries, keys)
    ),
    "slopes_without_eight": lambda heads, queries, keys: (
        2.0 ** (-torch.arange(1, heads + 1) / heads)[:, None, None] * -distance(queries, keys)
    ),
    "slopes_of_e": lambda heads, queries, keys: (
        (-8.0 * torch.arange(1, heads + 1) / heads).exp()[:, None, None] * -distance(queries, keys)
    ),
    "nearest_key_infinite": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).masked_fill(
        distance(queries, keys) == 0, -torch.inf
    ),
    "exponentials_of_the_bias": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).exp(),
    "rounded": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).round(decimals=2),
    "whole_numbers": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys)).long(),
    "zeros": lambda heads, queries, keys: torch.zeros(heads, queries, keys),
    "doubled": lambda heads, queries, keys: 2 * slopes(heads) * -distance(queries, keys),
    "one_step_free": lambda heads, queries, keys: slopes(heads) * -(distance(queries, keys) - 1).clamp(min=0),
    "slopes_over_one_more": lambda heads, queries, keys: (
        2.0 ** (-8.0 * torch.arange(1, heads + 1) / (heads + 1))[:, None, None] * -distance(queries, keys)
    ),
    "first_head_alone": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys))[:1],
    "last_head_missing": lambda heads, queries, keys: (slopes(heads) * -distance(queries, keys))[:-1],
}


def _named(name, bias):
    @behind_given_checks(ALIBI, name)
    def wrong(num_heads, query_length, key_length=None):
        return bias(num_heads, query_length, query_length if key_length is None else key_length)


for _name, _bias in BIASES.items():
    _named(_name, _bias)


@behind_given_checks(ALIBI)
def no_keys_taken_for_none(num_heads, query_length, key_length=None):
    return slopes(num_heads) * -distance(query_length, key_length or query_length)
