"""Wrong copying of torch's packed weights."""

import copy

import torch
from torch import nn

from . import _multi_head_attention, misconception  # noqa: F401  (the class's wrong answers fill a file)

LOAD = "multi_head.load_torch_weights"


# 5.4 load_torch_weights

INPUTS = ("q_proj", "k_proj", "v_proj")


def refuse(module, reference):
    """The lines that the stub gives."""
    d_model = reference.embed_dim
    if reference.in_proj_weight is None:
        raise ValueError("kdim or vdim")
    if module.q_proj.weight.shape != (d_model, d_model):
        raise ValueError("widths")
    if (module.q_proj.bias is None) != (reference.in_proj_bias is None):
        raise ValueError("biases")


def wrong(function):
    """Register a wrong answer behind the given lines."""

    def answer(module, reference):
        refuse(module, reference)
        return function(module, reference)

    answer.__name__ = function.__name__
    misconception(LOAD)(answer)
    return function


def parts(packed):
    """W_q, W_k, W_v, or their biases, or None three times."""
    return [None] * 3 if packed is None else packed.detach().chunk(3)


def fill(layer, weight, bias):
    with torch.no_grad():
        layer.weight.copy_(weight)
        if bias is not None:
            layer.bias.copy_(bias)


def fill_all(module, reference, order=INPUTS, change=lambda weight: weight, biases=True, output=True):
    bias = reference.in_proj_bias if biases else None
    for name, weight, shift in zip(order, parts(reference.in_proj_weight), parts(bias), strict=True):
        fill(getattr(module, name), change(weight), shift)
    if output:
        fill(module.out_proj, change(reference.out_proj.weight), reference.out_proj.bias)


@wrong
def values_before_keys(module, reference):
    fill_all(module, reference, ("q_proj", "v_proj", "k_proj"))


@wrong
def keys_before_queries(module, reference):
    fill_all(module, reference, ("k_proj", "q_proj", "v_proj"))


@wrong
def transposed(module, reference):
    fill_all(module, reference, change=lambda weight: weight.T)


@wrong
def biases_forgotten(module, reference):
    fill_all(module, reference, biases=False, output=False)
    fill(module.out_proj, reference.out_proj.weight, None)


@wrong
def input_biases_forgotten(module, reference):
    fill_all(module, reference, biases=False)


@wrong
def output_bias_forgotten(module, reference):
    fill_all(module, reference, output=False)
    fill(module.out_proj, reference.out_proj.weight, None)


@wrong
def out_proj_forgotten(module, reference):
    fill_all(module, reference, output=False)


@wrong
def only_what_names_share(module, reference):
    module.load_state_dict(reference.state_dict(), strict=False)


@wrong
def state_dict_as_it_is(module, reference):
    module.load_state_dict(reference.state_dict())


@wrong
def first_part_three_times(module, reference):
    width = reference.embed_dim
    for name in INPUTS:
        shift = None if reference.in_proj_bias is None else reference.in_proj_bias[:width]
        fill(getattr(module, name), reference.in_proj_weight[:width], shift)
    fill(module.out_proj, reference.out_proj.weight, reference.out_proj.bias)


@wrong
def rows_in_turn(module, reference):
    for place, name in enumerate(INPUTS):
        shift = None if reference.in_proj_bias is None else reference.in_proj_bias[place::3]
        fill(getattr(module, name), reference.in_proj_weight[place::3], shift)
    fill(module.out_proj, reference.out_proj.weight, reference.out_proj.bias)


@wrong
def cut_by_columns(module, reference):
    w_query, w_key, w_value = reference.in_proj_weight.chunk(3, dim=1)
    fill(module.q_proj, w_query, None)
    fill(module.k_proj, w_key, None)
    fill(module.v_proj, w_value, None)


@wrong
def written_while_recorded(module, reference):
    for name, weight in zip(INPUTS, reference.in_proj_weight.chunk(3), strict=True):
        getattr(module, name).weight.copy_(weight)


@wrong
def tensor_for_a_parameter(module, reference):
    width = reference.embed_dim
    module.q_proj.weight = reference.in_proj_weight[:width]


@wrong
def copied_the_other_way(module, reference):
    with torch.no_grad():
        reference.in_proj_weight.copy_(torch.cat([getattr(module, name).weight for name in INPUTS]))
        if reference.in_proj_bias is not None:
            reference.in_proj_bias.copy_(torch.cat([getattr(module, name).bias for name in INPUTS]))
    reference.out_proj.load_state_dict(module.out_proj.state_dict())


@wrong
def shared(module, reference):
    for name, weight, shift in zip(INPUTS, parts(reference.in_proj_weight), parts(reference.in_proj_bias), strict=True):
        layer = getattr(module, name)
        layer.weight.data = weight
        if shift is not None:
            layer.bias.data = shift
    module.out_proj.weight.data = reference.out_proj.weight.data
    if reference.out_proj.bias is not None:
        module.out_proj.bias.data = reference.out_proj.bias.data


@wrong
def out_proj_shared(module, reference):
    fill_all(module, reference, output=False)
    module.out_proj = reference.out_proj


@wrong
def new_parameters(module, reference):
    for name, weight, shift in zip(INPUTS, parts(reference.in_proj_weight), parts(reference.in_proj_bias), strict=True):
        layer = getattr(module, name)
        layer.weight = nn.Parameter(weight.clone())
        if shift is not None:
            layer.bias = nn.Parameter(shift.clone())
    module.out_proj = copy.deepcopy(reference.out_proj)


@wrong
def no_longer_learning(module, reference):
    fill_all(module, reference)
    for parameter in module.parameters():
        parameter.requires_grad = False
