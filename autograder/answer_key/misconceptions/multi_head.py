"""Wrong splitting, merging and copying of heads, each as somebody would really write it."""

import torch

from . import (
    _multi_head_attention,  # noqa: F401
    _multi_head_attention_masks,  # noqa: F401
    _multi_head_attention_own,  # noqa: F401
    _multi_head_attention_parts,  # noqa: F401
    _multi_head_attention_results,  # noqa: F401
    _multi_head_attention_scores,  # noqa: F401
    _multi_head_attention_slips,  # noqa: F401
    _multi_head_attention_training,  # noqa: F401
    _multi_head_copying,  # noqa: F401
    _multi_head_copying_parts,  # noqa: F401
    _multi_head_forms,  # noqa: F401
    _multi_head_splitting,  # noqa: F401
)
from ._given import behind_given_checks

SPLIT, MERGE = "multi_head.split_heads", "multi_head.merge_heads"


# 5.1 split_heads


@behind_given_checks(SPLIT)
def cut_without_transpose(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, length, d_model // num_heads)


@behind_given_checks(SPLIT)
def tokens_before_heads(x, num_heads):
    batch, length, d_model = x.shape
    return x.view(batch, length, num_heads, d_model // num_heads)


@behind_given_checks(SPLIT)
def interleaved(x, num_heads):
    batch, length, d_model = x.shape
    return x.view(batch, length, d_model // num_heads, num_heads).permute(0, 3, 1, 2)


@behind_given_checks(SPLIT)
def number_and_width_exchanged(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


@behind_given_checks(SPLIT)
def features_before_tokens(x, num_heads):
    batch, length, d_model = x.shape
    return x.view(batch, length, num_heads, d_model // num_heads).permute(0, 2, 3, 1)


@behind_given_checks(SPLIT)
def heads_before_batch(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1))


@behind_given_checks(SPLIT)
def heads_in_a_list(x, num_heads):
    return x.chunk(num_heads, dim=-1)


@behind_given_checks(SPLIT)
def heads_in_the_batch(x, num_heads):
    batch, length, d_model = x.shape
    parts = x.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)
    return parts.reshape(batch * num_heads, length, -1)


@behind_given_checks(SPLIT)
def sequence_cut(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, length // num_heads, d_model)


@behind_given_checks(SPLIT)
def all_features_for_each_head(x, num_heads):
    return x.unsqueeze(1).repeat(1, num_heads, 1, 1)


@behind_given_checks(SPLIT)
def split_outside_autograd(x, num_heads):
    batch, length, d_model = x.shape
    return x.data.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)


@behind_given_checks(SPLIT)
def filled_in_float32(x, num_heads):
    batch, length, d_model = x.shape
    width = d_model // num_heads
    heads = torch.zeros(batch, num_heads, length, width)
    for h in range(num_heads):
        heads[:, h] = x[:, :, h * width : (h + 1) * width]
    return heads


# 5.2 merge_heads


@behind_given_checks(MERGE)
def merged_without_transpose(x):
    batch, heads, length, d_head = x.shape
    return x.reshape(batch, length, heads * d_head)


@behind_given_checks(MERGE)
def view_after_transpose(x):
    batch, heads, length, d_head = x.shape
    return x.transpose(1, 2).view(batch, length, heads * d_head)


@behind_given_checks(MERGE)
def merged_interleaved(x):
    batch, heads, length, d_head = x.shape
    return x.permute(0, 2, 3, 1).reshape(batch, length, d_head * heads)


@behind_given_checks(MERGE)
def behind_each_other(x):
    return torch.cat(x.unbind(dim=1), dim=1)


@behind_given_checks(MERGE)
def averaged(x):
    return x.mean(dim=1)


@behind_given_checks(MERGE)
def summed(x):
    return x.sum(dim=1)


@behind_given_checks(MERGE)
def tokens_flattened(x):
    return x.flatten(-2)


@behind_given_checks(MERGE)
def loop_over_the_batch(x):
    return torch.cat(list(x), dim=-1)


@behind_given_checks(MERGE)
def transposed_and_not_merged(x):
    return x.transpose(1, 2)


@behind_given_checks(MERGE)
def merged_outside_autograd(x):
    return x.detach().transpose(1, 2).flatten(-2)


@behind_given_checks(MERGE)
def merged_in_float32(x):
    batch, heads, length, d_head = x.shape
    merged = torch.zeros(batch, length, heads * d_head)
    for h in range(heads):
        merged[:, :, h * d_head : (h + 1) * d_head] = x[:, h]
    return merged
