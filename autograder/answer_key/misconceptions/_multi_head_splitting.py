"""Wrong splitting and merging of heads that loses, repeats or changes numbers."""

import torch

from ._given import behind_given_checks

SPLIT, MERGE = "multi_head.split_heads", "multi_head.merge_heads"


def split(x, num_heads):
    """(B, L, d_model) → (B, H, L, d_head)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge(x):
    """(B, H, L, d_head) → (B, L, d_model)."""
    return x.transpose(1, 2).flatten(-2)


def slices(x, num_heads, last=0, step=None):
    """What a loop over heads cuts out of the features, each slice `last` columns short."""
    width = x.shape[-1] // num_heads
    step = width if step is None else step
    return torch.stack([x[..., h * step : h * step + width - last] for h in range(num_heads)], dim=1)


# 5.1 split_heads: each takes x and num_heads
SPLITS = {
    "two_heads_always": lambda x, num_heads: split(x, 2),
    "first_sequence_alone": lambda x, num_heads: split(x[:1], num_heads),
    "axes_of_one_squeezed": lambda x, num_heads: split(x, num_heads).squeeze(),
    "widened_to_float64": lambda x, num_heads: split(x.double(), num_heads),
    "numbers_rounded": lambda x, num_heads: split(x.round(), num_heads),
    "divided_by_the_heads": lambda x, num_heads: split(x, num_heads) / num_heads,
    "batch_and_heads_exchanged": lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).transpose(0, 2),
    "heads_in_reverse": lambda x, num_heads: split(x, num_heads).flip(1),
    "tokens_in_reverse": lambda x, num_heads: split(x, num_heads).flip(2),
    "last_head_missing": lambda x, num_heads: split(x, num_heads)[:, :-1],
    "first_head_missing": lambda x, num_heads: split(x, num_heads)[:, 1:],
    "first_head_repeated": lambda x, num_heads: split(x, num_heads)[:, :1].expand(-1, num_heads, -1, -1),
    "last_feature_missing": lambda x, num_heads: slices(x, num_heads, last=1),
    "slices_overlap": lambda x, num_heads: slices(x, num_heads, step=1),
    "transposed_before_the_cut": lambda x, num_heads: x.mT.reshape(len(x), num_heads, x.shape[1], -1),
    "heads_stacked_last": lambda x, num_heads: torch.stack(x.chunk(num_heads, dim=-1), dim=-1),
    "heads_behind_each_other": lambda x, num_heads: torch.cat(x.chunk(num_heads, dim=-1), dim=1),
    "features_before_heads": lambda x, num_heads: x.unflatten(-1, (num_heads, -1)).permute(0, 3, 1, 2),
    "in_half_precision": lambda x, num_heads: split(x.half(), num_heads),
    "first_head_alone": lambda x, num_heads: split(x, num_heads)[:, :1],
    "rounded_to_float32": lambda x, num_heads: split(x.float(), num_heads).to(x.dtype),
}

# 5.2 merge_heads
MERGES = {
    "first_sequence_alone": lambda x: merge(x[:1]),
    "axes_of_one_squeezed": lambda x: merge(x).squeeze(),
    "widened_to_float64": lambda x: merge(x.double()),
    "numbers_rounded": lambda x: merge(x.round()),
    "divided_by_the_heads": lambda x: merge(x) / x.shape[1],
    "heads_in_reverse": lambda x: merge(x.flip(1)),
    "last_head_missing": lambda x: merge(x[:, :-1]),
    "first_head_missing": lambda x: merge(x[:, 1:]),
    "first_head_alone": lambda x: x[:, 0],
    "largest_of_the_heads": lambda x: x.amax(dim=1),
    "transposed_the_wrong_axes": lambda x: x.mT.reshape(len(x), x.shape[2], -1),
    "heads_with_features_exchanged": lambda x: x.transpose(1, 3).flatten(-2),
    "features_before_tokens": lambda x: x.mT.flatten(1, 2),
    "heads_stacked_last": lambda x: torch.stack(x.unbind(dim=1), dim=-1),
    "tokens_joined_too": lambda x: x.transpose(1, 2).flatten(1),
    "batch_joined_too": lambda x: merge(x).flatten(0, 1),
    "tokens_before_batch": lambda x: x.permute(2, 0, 1, 3).flatten(-2),
    "joined_along_the_batch": lambda x: torch.cat(x.unbind(dim=1), dim=0),
    "in_half_precision": lambda x: merge(x.half()),
    "averaged_and_repeated": lambda x: x.mean(dim=1).repeat(1, 1, x.shape[1]),
    "rounded_to_float32": lambda x: merge(x.float()).to(x.dtype),
}


def _register(exercise, name, function):
    @behind_given_checks(exercise, name)
    def wrong(*args, **kwargs):
        return function(*args, **kwargs)


for _name, _function in SPLITS.items():
    _register(SPLIT, _name, _function)
for _name, _merge in MERGES.items():
    _register(MERGE, _name, _merge)


@behind_given_checks(SPLIT)
def split_in_place(x, num_heads):
    found = split(x.clone(), num_heads)
    with torch.no_grad():
        x.mul_(0.5)
    return found


@behind_given_checks(MERGE)
def merged_in_place(x):
    found = merge(x.clone())
    with torch.no_grad():
        x.mul_(0.5)
    return found
