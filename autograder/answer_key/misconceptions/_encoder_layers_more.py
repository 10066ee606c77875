"""Wrong encoder layers: other sums, other masks, other results."""

import torch
from torch import nn
from torch.nn import functional as F

from . import misconception
from ._encoder_layers import LAYER, Layer, RightFeedForward
from ._encoder_layers_settings import _with_parts

wrong = misconception(LAYER)

# What a residual connection makes of x and a branch's result
SUMS = {
    "residuals_subtracted": lambda x, branch: x - branch,
    "residuals_multiplied": lambda x, branch: x * branch,
    "residual_counted_twice": lambda x, branch: x + x + branch,
    "residual_detached": lambda x, branch: x.detach() + branch,
    "branches_detached": lambda x, branch: x + branch.detach(),
}


def _summing(name, add):
    def pre(self, x, *masks):
        x = add(x, self.attend(self.norm1(x), *masks))
        return add(x, self.feed(self.norm2(x)))

    def post(self, x, *masks):
        x = self.norm1(add(x, self.attend(x, *masks)))
        return self.norm2(add(x, self.feed(x)))

    wrong(type(name, (Layer,), {"pre": pre, "post": post}))


for _name, _add in SUMS.items():
    _summing(_name, _add)

# What is made of the right answer
RESULTS = {
    "result_detached": lambda out: out.detach(),
    "rounded": lambda out: out.round(decimals=2),
    "float32_throughout": lambda out: out.float(),
    "float64_throughout": lambda out: out.double(),
    "first_sequence_alone": lambda out: out[:1],
    "averaged_over_positions": lambda out: out.mean(dim=1),
    "nonlinearity_at_the_end": lambda out: out.relu(),
    "tuple_of_one": lambda out: (out,),
}


def _returning(name, changed):
    def answer(self, x, *masks):
        return changed(super(made, self).answer(x, *masks))

    made = type(name, (Layer,), {"answer": answer})
    wrong(made)


for _name, _changed in RESULTS.items():
    _returning(_name, _changed)


@wrong
class pre_norm2_at_the_end(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        return self.norm2(x + self.feed(x))


@wrong
class pre_normed_at_the_end_too(Layer):
    def pre(self, x, *masks):
        return self.norm2(super().pre(x, *masks))


@wrong
class post_normed_before_too(Layer):
    def post(self, x, *masks):
        x = self.norm1(x + self.attend(self.norm1(x), *masks))
        return self.norm2(x + self.feed(self.norm2(x)))


@wrong
class attention_twice(Layer):
    def attend(self, x, *masks):
        return super().attend(super().attend(x, *masks), *masks)


@wrong
class feed_forward_twice(Layer):
    def feed(self, x):
        return super().feed(super().feed(x))


@wrong
class feed_forward_missing(Layer):
    def pre(self, x, *masks):
        return x + self.attend(self.norm1(x), *masks)

    def post(self, x, *masks):
        return self.norm1(x + self.attend(x, *masks))


@wrong
class attention_missing(Layer):
    def pre(self, x, *masks):
        return x + self.feed(self.norm2(x))

    def post(self, x, *masks):
        return self.norm2(x + self.feed(x))


@wrong
class added_in_place(Layer):
    def pre(self, x, *masks):
        x += self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm2(x))

    def post(self, x, *masks):
        x += self.attend(x, *masks)
        x = self.norm1(x)
        return self.norm2(x + self.feed(x))


@wrong
class x_changed_in_place(Layer):
    def answer(self, x, *masks):
        found = super().answer(x.clone(), *masks)
        with torch.no_grad():
            x.mul_(0.5)
        return found


# Masks


@wrong
class masks_for_post_norm_alone(Layer):
    def pre(self, x, *masks):
        return super().pre(x, None, None)


@wrong
class causal_by_itself(Layer):
    def attend(self, x, attn_mask, key_mask):
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        return super().attend(x, past if attn_mask is None else attn_mask & past, key_mask)


@wrong
class attn_mask_turned(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, None if attn_mask is None else ~attn_mask, key_mask)


@wrong
class padding_zeroed(Layer):
    def answer(self, x, attn_mask, key_mask):
        out = super().answer(x, attn_mask, None)
        return out if key_mask is None else out * key_mask.unsqueeze(-1)


# Settings


def _one_head(layer, sizes, dropout, activation):
    layer.self_attention = type(layer.self_attention)(sizes[0], 1, dropout)


def _four_times(layer, sizes, dropout, activation):
    layer.feed_forward = RightFeedForward(sizes[0], 4 * sizes[0], dropout, activation)


def _activation_always_gelu(layer, sizes, dropout, activation):
    layer.feed_forward = RightFeedForward(sizes[0], sizes[2], dropout, "gelu")


def _norms_without_parameters(layer, sizes, *rest):
    layer.norm1, layer.norm2 = (nn.LayerNorm(sizes[0], elementwise_affine=False) for _ in range(2))


class _Twice(nn.Dropout):
    def forward(self, x):
        return super().forward(super().forward(x))


class _Kept(nn.Dropout):
    def forward(self, x):
        return F.dropout(x, 1 - self.p, self.training)


def _dropout_twice(layer, sizes, dropout, activation):
    layer.dropout = _Twice(dropout)


def _dropout_kept_share(layer, sizes, dropout, activation):
    layer.dropout = _Kept(dropout)


def _dropout_of_a_tenth(layer, sizes, dropout, activation):
    layer.dropout = nn.Dropout(0.1)


_with_parts("one_head_always", _one_head)
_with_parts("four_times_as_wide", _four_times)
_with_parts("gelu_always", _activation_always_gelu)
_with_parts("norms_without_parameters", _norms_without_parameters)
_with_parts("dropout_twice", _dropout_twice)
_with_parts("dropout_kept_share", _dropout_kept_share)
_with_parts("dropout_of_a_tenth", _dropout_of_a_tenth)


@wrong
class dropout_off_by_default(Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, activation="relu", norm_first=False):
        super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first)


@wrong
class pre_norm_by_default(Layer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=True):
        super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first)
