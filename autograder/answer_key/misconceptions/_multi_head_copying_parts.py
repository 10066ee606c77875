"""Wrong copying of torch's packed weights that mixes up pieces, or copies only some of them."""

import copy

import torch
from torch import nn

from ._multi_head_copying import INPUTS, fill, fill_all, parts, wrong

# The order in which the three pieces are taken
ORDERS = {
    "values_first": ("v_proj", "q_proj", "k_proj"),
    "values_last_turn": ("k_proj", "v_proj", "q_proj"),
    "order_reversed": ("v_proj", "k_proj", "q_proj"),
}


def _in_order(name, order):
    def copied(module, reference):
        fill_all(module, reference, order)

    copied.__name__ = name
    wrong(copied)


for _name, _order in ORDERS.items():
    _in_order(_name, _order)


def then(function):
    """Register a wrong answer that copies everything and then does what the function does."""

    def copied(module, reference):
        fill_all(module, reference)
        function(module, reference)

    copied.__name__ = function.__name__
    wrong(copied)
    return function


@then
def input_weights_transposed(module, reference):
    for name, weight in zip(INPUTS, parts(reference.in_proj_weight), strict=True):
        fill(getattr(module, name), weight.T, None)


@then
def output_weight_transposed(module, reference):
    fill(module.out_proj, reference.out_proj.weight.T, None)


@then
def pieces_averaged(module, reference):
    for name in INPUTS:
        fill(getattr(module, name), torch.stack(parts(reference.in_proj_weight)).mean(dim=0), None)


@then
def second_piece_twice(module, reference):
    fill(module.v_proj, module.k_proj.weight, module.k_proj.bias)


@then
def pieces_one_row_late(module, reference):
    width = reference.embed_dim
    fill(module.k_proj, reference.in_proj_weight[width + 1 : 2 * width + 1], None)
    fill(module.v_proj, torch.cat((reference.in_proj_weight[2 * width + 1 :], module.v_proj.weight[-1:])), None)


@then
def read_as_three_columns(module, reference):
    for name, weight in zip(
        INPUTS, reference.in_proj_weight.reshape(-1, 3, reference.embed_dim).unbind(1), strict=True
    ):
        fill(getattr(module, name), weight, None)


@wrong
def pieces_by_heads(module, reference):
    heads = reference.num_heads
    packed = (reference.in_proj_weight, reference.in_proj_bias)
    weights, biases = ([None] * 3 if one is None else one.unflatten(0, (heads, 3, -1)).unbind(1) for one in packed)
    for name, weight, shift in zip(INPUTS, weights, biases, strict=True):
        fill(getattr(module, name), weight.flatten(0, 1), None if shift is None else shift.flatten())
    fill(module.out_proj, reference.out_proj.weight, reference.out_proj.bias)


def _bias(module, *values):
    with torch.no_grad():
        for name, value in zip(INPUTS, values, strict=True):
            if getattr(module, name).bias is not None:
                getattr(module, name).bias.copy_(value)


@then
def one_bias_for_all(module, reference):
    query = parts(reference.in_proj_bias)[0]
    _bias(module, query, query, query)


@then
def biases_in_another_order(module, reference):
    query, key, value = parts(reference.in_proj_bias)
    _bias(module, query, value, key)


@then
def biases_zeroed(module, reference):
    _bias(module, 0.0, 0.0, 0.0)


@then
def rounded_to_float32(module, reference):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(parameter.float())


@then
def reference_frozen(module, reference):
    reference.requires_grad_(False)


@then
def output_started_anew(module, reference):
    nn.init.ones_(module.out_proj.weight)


@wrong
def output_replaced(module, reference):
    fill_all(module, reference, output=False)
    module.out_proj = copy.deepcopy(reference.out_proj)


@wrong
def biases_taken_for_granted(module, reference):
    fill_all(module, reference)
    reference.in_proj_bias.chunk(3)


@wrong
def value_forgotten(module, reference):
    kept = copy.deepcopy(module.v_proj)
    fill_all(module, reference)
    fill(module.v_proj, kept.weight, kept.bias)


@wrong
def key_forgotten(module, reference):
    kept = copy.deepcopy(module.k_proj)
    fill_all(module, reference)
    fill(module.k_proj, kept.weight, kept.bias)


@wrong
def nothing_written(module, reference):
    copied = copy.deepcopy(module)
    fill_all(copied, reference)


@wrong
def added_to_the_old(module, reference):
    old = copy.deepcopy(module)
    fill_all(module, reference)
    with torch.no_grad():
        for parameter, was in zip(module.parameters(), old.parameters(), strict=True):
            parameter.add_(was)
