"""Wrong encoder layers that do not pass a setting on to the part that needs it."""

from torch import nn
from torch.nn import functional as F

from . import misconception
from ._encoder_layers import Layer, RightFeedForward, RightLayer

LAYER = "encoder.EncoderLayer"


def _with_parts(name, make):
    """A misconception whose parts are made otherwise; make(layer, sizes, dropout, activation) changes them."""

    class Otherwise(RightLayer):
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=False):
            super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first)
            make(self, (d_model, num_heads, d_ff), dropout, activation)

    Otherwise.__name__ = name
    misconception(LAYER)(Otherwise)


def _attention(layer, sizes, dropout, activation):
    layer.self_attention = type(layer.self_attention)(*sizes[:2])


def _feed_forward(layer, sizes, dropout, activation):
    layer.feed_forward = RightFeedForward(sizes[0], sizes[2], activation=activation)


def _activation(layer, sizes, dropout, activation):
    layer.feed_forward = RightFeedForward(sizes[0], sizes[2], dropout)


def _inside(layer, *rest):
    _attention(layer, *rest)
    _feed_forward(layer, *rest)


def _branches(layer, *rest):
    layer.dropout = nn.Identity()


def _nowhere(layer, *rest):
    _inside(layer, *rest)
    _branches(layer)


class _Always(nn.Dropout):
    def forward(self, x):
        return F.dropout(x, self.p)


def _in_evaluation(layer, sizes, dropout, activation):
    layer.dropout = _Always(dropout)


def _no_bias(layer, sizes, dropout, activation):
    layer.self_attention = type(layer.self_attention)(*sizes[:2], dropout, bias=False)


def _one_norm(layer, *rest):
    del layer.norm2
    layer.__dict__["norm2"] = layer.norm1


_with_parts("dropout_not_passed_to_attention", _attention)
_with_parts("dropout_not_passed_to_feed_forward", _feed_forward)
_with_parts("dropout_not_passed_inside", _inside)
_with_parts("dropout_missing_on_branches", _branches)
_with_parts("dropout_ignored", _nowhere)
_with_parts("dropout_in_evaluation", _in_evaluation)
_with_parts("activation_not_passed", _activation)
_with_parts("attention_without_bias", _no_bias)
_with_parts("one_norm_for_both", _one_norm)


@misconception(LAYER)
class dropout_on_the_sum(Layer):
    def pre(self, x, *masks):
        seen = self.norm1(x)
        x = self.dropout(x + self.self_attention(seen, seen, seen, *masks)[0])
        return self.dropout(x + self.feed_forward(self.norm2(x)))

    def post(self, x, *masks):
        x = self.norm1(self.dropout(x + self.self_attention(x, x, x, *masks)[0]))
        return self.norm2(self.dropout(x + self.feed_forward(x)))
