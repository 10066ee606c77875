"""Right answers to the exercises on multi-head attention, in other styles."""

import math

import torch
from torch import nn

from . import _multi_head_attention, alternative  # noqa: F401  (the class's alternatives fill a file)
from ._multi_head_given import checked_merge, checked_split, refuse_layers

SPLIT, MERGE, LOAD = (f"multi_head.{name}" for name in ("split_heads", "merge_heads", "load_torch_weights"))


# 5.1 split_heads


@alternative(SPLIT)
@checked_split
def split_by_view_and_permute(x, num_heads):
    B, L, D = x.size()
    return x.contiguous().view(B, L, num_heads, D // num_heads).permute(0, 2, 1, 3)


@alternative(SPLIT)
@checked_split
def split_by_stacking_chunks(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=1)


@alternative(SPLIT)
@checked_split
def split_by_slices(x, num_heads):
    width = x.shape[-1] // num_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(num_heads)], 1).contiguous()


@alternative(SPLIT)
@checked_split
def split_by_unflatten(x, num_heads):
    return x.unflatten(2, (num_heads, -1)).swapaxes(1, 2)


@alternative(SPLIT)
@checked_split
def split_by_products_with_columns_of_the_unit_matrix(x, num_heads):
    width = x.shape[-1] // num_heads
    columns = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device).reshape(-1, num_heads, width)
    return torch.einsum("bld,dhc->bhlc", x, columns)


# 5.2 merge_heads


@alternative(MERGE)
@checked_merge
def merge_by_contiguous_view(x):
    B, H, L, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, L, H * d)


@alternative(MERGE)
@checked_merge
def merge_by_concatenation(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


@alternative(MERGE)
@checked_merge
def merge_by_unbinding(x):
    return torch.cat(x.unbind(1), -1)


@alternative(MERGE)
@checked_merge
def merge_by_filling(x):
    batch, heads, length, width = x.shape
    merged = x.new_empty(batch, length, heads * width)
    for h in range(heads):
        merged[..., h * width : (h + 1) * width] = x[:, h]
    return merged


@alternative(MERGE)
@checked_merge
def merge_by_permute(x):
    return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), math.prod((x.size(1), x.size(3))))


# 5.4 load_torch_weights


@alternative(LOAD)
def load_by_state_dicts(module, reference):
    refuse_layers(module, reference)
    state = reference.state_dict()
    width = reference.embed_dim
    for place, layer in enumerate((module.q_proj, module.k_proj, module.v_proj)):
        rows = slice(place * width, (place + 1) * width)
        own = {"weight": state["in_proj_weight"][rows]}
        if "in_proj_bias" in state:
            own["bias"] = state["in_proj_bias"][rows]
        layer.load_state_dict(own)
    module.out_proj.load_state_dict(reference.out_proj.state_dict())


@alternative(LOAD)
def load_into_data(module, reference):
    refuse_layers(module, reference)
    query, key, value = torch.split(reference.in_proj_weight.data, reference.embed_dim)
    for layer, weight in ((module.q_proj, query), (module.k_proj, key), (module.v_proj, value)):
        layer.weight.data.copy_(weight)
    module.out_proj.weight.data[:] = reference.out_proj.weight.data
    if reference.in_proj_bias is not None:
        query, key, value = torch.split(reference.in_proj_bias.data, reference.embed_dim)
        for layer, bias in ((module.q_proj, query), (module.k_proj, key), (module.v_proj, value)):
            layer.bias.data.copy_(bias)
        module.out_proj.bias.data[:] = reference.out_proj.bias.data


@alternative(LOAD)
@torch.no_grad()
def load_by_unflattening(module, reference):
    refuse_layers(module, reference)
    names = ("q_proj", "k_proj", "v_proj")
    weights = reference.in_proj_weight.detach().unflatten(0, (3, -1)).clone()
    for name, weight in zip(names, weights, strict=True):
        getattr(module, name).weight[...] = weight
    module.out_proj.weight.copy_(reference.out_proj.weight)
    if reference.in_proj_bias is None:
        return
    for name, bias in zip(names, reference.in_proj_bias.view(3, -1), strict=True):
        getattr(module, name).bias[...] = bias
    module.out_proj.bias.copy_(reference.out_proj.bias)


@alternative(LOAD)
def load_through_one_renamed_state_dict(module, reference):
    refuse_layers(module, reference)
    renamed = {}
    for name, value in reference.state_dict().items():
        if name.startswith("in_proj_"):
            kind = name.removeprefix("in_proj_")
            for target, part in zip("qkv", value.chunk(3), strict=True):
                renamed[f"{target}_proj.{kind}"] = part.clone()
        else:
            renamed[name] = value.clone()
    missing = nn.Module.load_state_dict(module, renamed, strict=False).missing_keys
    assert not missing
