"""Wrong merging and copying of heads in other words than their kind is usually written in."""

import torch

from . import misconception
from ._given import behind_given_checks
from ._multi_head_copying import LOAD, fill_all, refuse

MERGE = "multi_head.merge_heads"


@behind_given_checks(MERGE)
def two_heads_alone(x):
    return torch.cat([x[:, 0], x[:, 1]], dim=-1)


@behind_given_checks(MERGE)
def lengths_read_in_another_order(x):
    batch, length, heads, d_head = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * d_head)


def _weights_alone(like, order):
    @misconception(LOAD, like)
    def biases_in_order(module, reference):
        refuse(module, reference)
        weights = {name: layer for name, layer in module.named_children()}
        fill_all(module, reference)
        with torch.no_grad():
            for name, weight in zip(order, reference.in_proj_weight.chunk(3), strict=True):
                weights[name].weight.copy_(weight)


_weights_alone("values_before_keys", ("q_proj", "v_proj", "k_proj"))
_weights_alone("keys_before_queries", ("k_proj", "q_proj", "v_proj"))
_weights_alone("values_first", ("v_proj", "q_proj", "k_proj"))
_weights_alone("order_reversed", ("v_proj", "k_proj", "q_proj"))


@behind_given_checks(MERGE, like="behind_each_other")
def token_by_token(x):
    return x.transpose(1, 2).flatten(1, 2)


@behind_given_checks(MERGE)
def batch_and_heads_exchanged(x):
    batch, heads, length, d_head = x.shape
    return x.reshape(heads, batch, length, d_head).permute(1, 2, 0, 3).reshape(batch, length, heads * d_head)


@behind_given_checks(MERGE, like="axes_of_one_squeezed")
def of_a_batch_of_one(x):
    return x.transpose(1, 2).flatten(-2).squeeze(0)


@behind_given_checks(MERGE, like="axes_of_one_squeezed")
def of_a_single_token(x):
    return x.transpose(1, 2).flatten(-2).squeeze(1)


@behind_given_checks(MERGE, like="axes_of_one_squeezed")
def of_each_head(x):
    return torch.cat([head.squeeze() for head in x.unbind(1)], dim=-1)
