"""Wrong matrix products of queries and keys, and what becomes of right scores; for several score functions at once."""

import math

import torch

from ._given import behind_given_checks

ADDITIVE, BILINEAR, DOT, SCALED = (f"scores.{name}_scores" for name in ("additive", "bilinear", "dot", "scaled_dot"))


def hidden_units(query, key, w1):
    """W1 [q; k] of every pair: (..., L, S, d_hidden)."""
    d_q = query.shape[-1]
    return (query @ w1[:, :d_q].mT).unsqueeze(-2) + (key @ w1[:, d_q:].mT).unsqueeze(-3)


RIGHT = {
    ADDITIVE: lambda query, key, w1, w2: torch.tanh(hidden_units(query, key, w1)) @ w2,
    BILINEAR: lambda query, key, weight: query @ weight @ key.mT,
    DOT: lambda query, key: query @ key.mT,
    SCALED: lambda query, key: query @ key.mT / math.sqrt(key.shape[-1]),
}
#: What meets the key in the last product.
LEFT = {
    BILINEAR: lambda query, key, weight: query @ weight,
    DOT: lambda query, key: query,
    SCALED: lambda query, key: query / math.sqrt(key.shape[-1]),
}

# What goes wrong in the product of what stands on the left with the keys


def first_two_axes_swapped(left, key):
    return left @ key.transpose(0, 1)


def axes_one_and_two(left, key):
    return left @ key.transpose(1, 2)


def three_axes_permuted(left, key):
    return left @ key.permute(0, 2, 1)


def t_wants_a_matrix(left, key):
    return left @ key.t()


def mm_wants_matrices(left, key):
    return torch.mm(left, key.mT)


def bmm_wants_three_axes(left, key):
    return torch.bmm(left, key.mT)


def dot_wants_vectors(left, key):
    return torch.dot(left, key)


def subscripts_of_matrices(left, key):
    return torch.einsum("id,jd->ij", left, key)


def subscripts_of_a_batch(left, key):
    return torch.einsum("bid,bjd->bij", left, key)


def subscripts_of_heads(left, key):
    return torch.einsum("bhid,bhjd->bhij", left, key)


def two_axes_expected(left, key):
    length, _ = left.shape
    return torch.stack([key @ left[i] for i in range(length)])


def three_axes_expected(left, key):
    batch, _, _ = left.shape
    return torch.stack([left[b] @ key[b].mT for b in range(batch)])


def keys_reshaped(left, key):
    return left @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])


def keys_not_transposed(left, key):
    return left @ key


def one_score_per_position(left, key):
    return (left * key).sum(dim=-1)


def products_not_added(left, key):
    return left.unsqueeze(-2) * key.unsqueeze(-3)


def every_batch_with_every(left, key):
    return torch.inner(left, key)


def last_feature_left_out(left, key):
    return left[..., :-1] @ key[..., :-1].mT


def first_feature_left_out(left, key):
    return left[..., 1:] @ key[..., 1:].mT


PRODUCTS = (
    first_two_axes_swapped,
    axes_one_and_two,
    three_axes_permuted,
    t_wants_a_matrix,
    mm_wants_matrices,
    bmm_wants_three_axes,
    dot_wants_vectors,
    subscripts_of_matrices,
    subscripts_of_a_batch,
    subscripts_of_heads,
    two_axes_expected,
    three_axes_expected,
    keys_reshaped,
    keys_not_transposed,
    one_score_per_position,
    products_not_added,
    every_batch_with_every,
    last_feature_left_out,
    first_feature_left_out,
)


def _with_product(exercise, product):
    @behind_given_checks(exercise, product.__name__)
    def wrong(query, key, **weight):
        return product(LEFT[exercise](query, key, **weight), key)


for _exercise in LEFT:
    for _product in PRODUCTS:
        _with_product(_exercise, _product)


# What becomes of right scores


def keys_in_rows(scores):
    return scores.mT


def softmax_included(scores):
    return scores.softmax(dim=-1)


def log_softmax_included(scores):
    return scores.log_softmax(dim=-1)


def sigmoid_included(scores):
    return scores.sigmoid()


def relu_included(scores):
    return scores.relu()


def absolute_values(scores):
    return scores.abs()


def gradient_cut(scores):
    return scores.detach()


def default_dtype(scores):
    found = torch.zeros(scores.shape)
    for i in range(scores.shape[-2]):
        found[..., i, :] = scores[..., i, :]
    return found


def always_float64(scores):
    return scores.double()


def rounded(scores):
    return scores.round(decimals=2)


def rounded_to_whole_numbers(scores):
    return scores.round()


def an_axis_in_front(scores):
    return scores.unsqueeze(0)


def first_sequence_alone(scores):
    return scores[0] if scores.dim() > 2 else scores


def first_sequence_for_all(scores):
    return scores[:1].expand(scores.shape) if scores.dim() > 2 else scores


def left_out(scores, *place):
    kept = torch.ones_like(scores)
    kept[(..., *place)] = 0.0
    return scores * kept


def last_query_left_out(scores):
    return left_out(scores, -1, slice(None))


def first_query_left_out(scores):
    return left_out(scores, 0, slice(None))


def last_key_left_out(scores):
    return left_out(scores, -1)


def first_key_left_out(scores):
    return left_out(scores, 0)


def one_row_for_all(scores):
    return scores[..., -1:, :].expand(scores.shape)


CHANGES = (
    keys_in_rows,
    softmax_included,
    log_softmax_included,
    sigmoid_included,
    relu_included,
    absolute_values,
    gradient_cut,
    default_dtype,
    always_float64,
    rounded,
    rounded_to_whole_numbers,
    an_axis_in_front,
    first_sequence_alone,
    first_sequence_for_all,
    last_query_left_out,
    first_query_left_out,
    last_key_left_out,
    first_key_left_out,
    one_row_for_all,
)


def _spoil(exercise, change):
    @behind_given_checks(exercise, change.__name__)
    def wrong(*args, **kwargs):
        return change(RIGHT[exercise](*args, **kwargs))


for _exercise in RIGHT:
    for _change in CHANGES:
        _spoil(_exercise, _change)


# What becomes of the arguments


def _written_into(exercise, name, place):
    @behind_given_checks(exercise, f"{name}_changed_in_place")
    def wrong(query, key, **more):
        scores = RIGHT[exercise](query, key, **more)
        (query, key)[place].mul_(0.5)
        return scores


for _exercise in (ADDITIVE, BILINEAR, DOT):
    for _place, _name in enumerate(("query", "key")):
        _written_into(_exercise, _name, _place)
