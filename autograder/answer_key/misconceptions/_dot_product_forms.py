"""More wrong attention: other products, other dropout, masks on other things, and what is done without a mask."""

import math

import torch
from torch.nn import functional as F

from ..reference_package import reference
from ._dot_product_steps import ATTENTION, hidden, scores_of, weights_of
from ._given import behind_given_checks
from ._score_walks import batch_flattened, first_axis_walked, queries_transposed

wrong = behind_given_checks(ATTENTION)
masked_softmax = reference("masks.masked_softmax")


def attending(name, weigh):
    """Register wrong weights; weigh: from query, key and mask to weights."""
    like, _, form = name.rpartition("/")

    @behind_given_checks(ATTENTION, form, like)
    def wrongly_weighed(query, key, value, attn_mask=None, dropout_p=0.0):
        weights = weigh(query, key, attn_mask)
        return F.dropout(weights, dropout_p) @ value, weights


def multiplied(product):
    def weigh(query, key, mask):
        scores = product(query / math.sqrt(key.shape[-1]), key)
        return torch.nan_to_num(hidden(scores, mask).softmax(dim=-1))

    return weigh


def divided(divide):
    def weigh(query, key, mask):
        return torch.nan_to_num(hidden(divide(query @ key.mT, key), mask).softmax(dim=-1))

    return weigh


attending("queries_transposed", multiplied(queries_transposed))
attending("batch_flattened", multiplied(batch_flattened))
attending("first_axis_walked", multiplied(first_axis_walked))
attending("root_of_the_number_of_axes", divided(lambda scores, key: scores / math.sqrt(key.dim())))
attending("root_of_axis_zero/of_the_key", divided(lambda scores, key: scores / math.sqrt(len(key))))
attending("root_of_axis_one/of_the_key", divided(lambda scores, key: scores / math.sqrt(key.shape[1])))
attending("fraction_cut_off", divided(lambda scores, key: scores // math.sqrt(key.shape[-1])))
attending(
    "divided_by_their_sum",
    lambda query, key, mask: right_but(scores_of(query, key), mask, lambda kept: kept),
)


def right_but(scores, mask, change):
    kept = change(scores) * (1.0 if mask is None else mask)
    return kept / kept.sum(dim=-1, keepdim=True)


# Dropout


def dropping(name, drop):
    """Register a wrong dropout; drop: from weights and dropout_p to the weights that are used."""

    @behind_given_checks(ATTENTION, name)
    def wrongly_dropped(query, key, value, attn_mask=None, dropout_p=0.0):
        weights = weights_of(query, key, attn_mask)
        return drop(weights, dropout_p) @ value, weights


def renormalised(weights, share):
    kept = F.dropout(weights, share)
    return kept / kept.sum(dim=-1, keepdim=True) if share else weights


def for_all_queries(weights, share):
    return weights * F.dropout(torch.ones_like(weights[..., :1, :]), share)


def for_all_sequences(weights, share):
    return weights * F.dropout(torch.ones_like(weights[(0,) * (weights.dim() - 2)]), share)


def seeded_anew(weights, share):
    torch.manual_seed(0)
    return F.dropout(weights, share)


def by_a_generator_of_its_own(weights, share):
    drawn = torch.rand(weights.shape, generator=torch.Generator().manual_seed(42))
    return weights * (drawn >= share) / (1 - share)


def whole_queries(weights, share):
    return weights * F.dropout(torch.ones_like(weights[..., :1]), share)


dropping("dropped_then_renormalised", renormalised)
dropping("same_weights_dropped", seeded_anew)
dropping("same_weights_dropped/generator", by_a_generator_of_its_own)
dropping("one_draw_for_all_queries", for_all_queries)
dropping("one_draw_for_all_sequences", for_all_sequences)
dropping("whole_queries_dropped", whole_queries)


@wrong
def keys_in_the_rows(query, key, value, attn_mask=None, dropout_p=0.0):
    scores = scores_of(query, key).mT
    weights = torch.nan_to_num(hidden(scores, None if attn_mask is None else attn_mask.mT).softmax(dim=-1))
    return F.dropout(weights, dropout_p).mT @ value, weights


# Masks


def masking(name, mask):
    """Register attention with another mask, which the learner's masked_softmax gets."""
    attending(name, lambda query, key, given: masked_softmax(scores_of(query, key), mask(given, query, key)))


def of_a_mask(change):
    return lambda given, query, key: given if given is None else change(given)


masking("mask_turned/given_to_masked_softmax", of_a_mask(lambda given: given.mT))
masking("mask_turned/by_its_last_axes", of_a_mask(lambda given: given.transpose(-2, -1)))
masking("mask_squeezed/given_to_masked_softmax", of_a_mask(lambda given: given.squeeze()))
masking("an_axis_added_to_the_mask/given_to_masked_softmax", of_a_mask(lambda given: given.unsqueeze(1)))
masking(
    "causal_without_a_mask",
    lambda given, query, key: (
        torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril() if given is None else given
    ),
)


@wrong
def mask_always_expected(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = torch.nan_to_num(scores_of(query, key).masked_fill(~attn_mask, -torch.inf).softmax(dim=-1))
    return F.dropout(weights, dropout_p) @ value, weights


def seen_by_some(mask, shape):
    return mask.expand(shape).any(dim=-2).unsqueeze(-1)


@wrong
def forbidden_values_zeroed(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = scores_of(query, key).softmax(dim=-1)
    if attn_mask is not None:
        value = value * seen_by_some(attn_mask, weights.shape)
    return F.dropout(weights, dropout_p) @ value, weights


@wrong
def forbidden_keys_zeroed(query, key, value, attn_mask=None, dropout_p=0.0):
    if attn_mask is not None:
        key = key * seen_by_some(attn_mask, scores_of(query, key).shape)
    weights = scores_of(query, key).softmax(dim=-1)
    return F.dropout(weights, dropout_p) @ value, weights


@behind_given_checks(ATTENTION, like="forbidden_keys_zeroed")
def and_queries(query, key, value, attn_mask=None, dropout_p=0.0):
    if attn_mask is not None:
        allowed = attn_mask.expand(scores_of(query, key).shape)
        query, key = query * allowed.any(dim=-1, keepdim=True), key * seen_by_some(allowed, allowed.shape)
    weights = scores_of(query, key).softmax(dim=-1)
    return F.dropout(weights, dropout_p) @ value, weights


@behind_given_checks(ATTENTION, like="output_masked")
def weights_of_whole_queries(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = scores_of(query, key).softmax(dim=-1)
    if attn_mask is not None:
        weights = weights * attn_mask.expand(weights.shape).any(dim=-1, keepdim=True)
    return F.dropout(weights, dropout_p) @ value, weights


@wrong
def unmasked_weights_returned(query, key, value, attn_mask=None, dropout_p=0.0):
    """The output is made from weights that were masked after the softmax; those before it are returned."""
    weights = scores_of(query, key).softmax(dim=-1)
    used = weights if attn_mask is None else weights * attn_mask
    return F.dropout(used, dropout_p) @ value, weights


@wrong
def output_masked(query, key, value, attn_mask=None, dropout_p=0.0):
    """A query that may attend to nothing gets a zero output, and nothing else is masked."""
    weights = scores_of(query, key).softmax(dim=-1)
    output = F.dropout(weights, dropout_p) @ value
    if attn_mask is not None:
        output = output * attn_mask.expand(weights.shape).any(dim=-1, keepdim=True)
    return output, weights
