"""Wrong feed-forward layers: other nonlinearities, other dropout, other results."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from . import misconception
from ._encoder_feed_forward import FEED_FORWARD, Feeding, RightFeedForward

wrong = misconception(FEED_FORWARD)

# In the place of the ReLU; the exact GELU stays where it is asked for
RELUS = {
    "tanh_for_relu": torch.tanh,
    "sigmoid_for_relu": torch.sigmoid,
    "softplus_for_relu": F.softplus,
    "silu_for_relu": F.silu,
    "leaky_relu": F.leaky_relu,
    "elu_for_relu": F.elu,
    "absolute_for_relu": torch.abs,
    "softmax_for_relu": lambda hidden: hidden.softmax(dim=-1),
    "relu_of_six": F.relu6,
    "relu_squared": lambda hidden: F.relu(hidden).square(),
}

# In the place of the exact GELU
GELUS = {
    "gelu_by_sigmoid": lambda hidden: hidden * torch.sigmoid(1.702 * hidden),
    "silu_for_gelu": F.silu,
    "gelu_without_factor": lambda hidden: 0.5 * (1 + torch.erf(hidden / math.sqrt(2))),
    "gelu_without_root": lambda hidden: 0.5 * hidden * (1 + torch.erf(hidden)),
    "gelu_then_relu": lambda hidden: F.relu(F.gelu(hidden)),
    "no_activation_for_gelu": lambda hidden: hidden,
}


def _activating(name, relu, gelu):
    def answer(self, x):
        chosen = relu if self.activation is F.relu else gelu
        return self.linear2(self.dropout(chosen(self.linear1(x))))

    wrong(type(name, (Feeding,), {"answer": answer}))


for _name, _relu in RELUS.items():
    _activating(_name, _relu, F.gelu)
for _name, _gelu in GELUS.items():
    _activating(_name, F.relu, _gelu)

# What comes out, of the module and x
ANSWERS = {
    "detached": lambda m, x: m.linear2(m.dropout(m.hidden(x))).detach(),
    "hidden_detached": lambda m, x: m.linear2(m.dropout(m.hidden(x).detach())),
    "rounded": lambda m, x: m.linear2(m.dropout(m.hidden(x))).round(decimals=2),
    "float32_throughout": lambda m, x: m.linear2(m.dropout(m.hidden(x))).float(),
    "float64_throughout": lambda m, x: m.linear2(m.dropout(m.hidden(x))).double(),
    "first_sequence_alone": lambda m, x: m.linear2(m.dropout(m.hidden(x[:1] if x.dim() > 1 else x))),
    "averaged_over_positions": lambda m, x: (
        m.linear2(m.dropout(m.hidden(x.mean(-2, keepdim=True).expand_as(x))))
        if x.dim() > 1
        else m.linear2(m.dropout(m.hidden(x)))
    ),
    "normalised_inside": lambda m, x: m.linear2(m.dropout(m.hidden(F.layer_norm(x, x.shape[-1:])))),
    "halved_sum": lambda m, x: (x + m.linear2(m.dropout(m.hidden(x)))) / 2,
    "hidden_returned": lambda m, x: m.dropout(m.hidden(x)),
    "second_bias_left_out": lambda m, x: m.dropout(m.hidden(x)) @ m.linear2.weight.mT,
    "first_bias_left_out": lambda m, x: m.linear2(m.dropout(m.activation(x @ m.linear1.weight.mT))),
    "dropout_kept_share": lambda m, x: m.linear2(F.dropout(m.hidden(x), 1 - m.dropout.p, m.training)),
    "dropout_without_rescaling": lambda m, x: m.linear2(
        m.hidden(x) * (torch.rand_like(m.hidden(x)) >= m.dropout.p) if m.training else m.hidden(x)
    ),
    "dropout_twice": lambda m, x: m.linear2(m.dropout(m.dropout(m.hidden(x)))),
    "dropout_on_both": lambda m, x: m.dropout(m.linear2(m.dropout(m.hidden(x)))),
    "dropout_of_a_tenth": lambda m, x: m.linear2(F.dropout(m.hidden(x), 0.1, m.training)),
    "dropout_in_evaluation_alone": lambda m, x: m.linear2(F.dropout(m.hidden(x), m.dropout.p, not m.training)),
}


def _answering(name, answers):
    def answer(self, x):
        return answers(self, x)

    wrong(type(name, (Feeding,), {"answer": answer}))


for _name, _answers in ANSWERS.items():
    _answering(_name, _answers)


@wrong
class x_changed_in_place(Feeding):
    def answer(self, x):
        found = self.linear2(self.dropout(self.hidden(x.clone())))
        with torch.no_grad():
            x.mul_(0.5)
        return found


def _layers(name, first, second):
    """A misconception whose linear layers are made by first and second, of d_model and d_ff."""

    class Otherwise(RightFeedForward):
        def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
            super().__init__(d_model, d_ff, dropout, activation)
            self.linear1, self.linear2 = first(d_model, d_ff), second(d_model, d_ff)

    Otherwise.__name__ = name
    wrong(Otherwise)


_layers("first_layer_without_bias", lambda d, f: nn.Linear(d, f, bias=False), lambda d, f: nn.Linear(f, d))
_layers("second_layer_without_bias", lambda d, f: nn.Linear(d, f), lambda d, f: nn.Linear(f, d, bias=False))
_layers("four_times_as_wide", lambda d, f: nn.Linear(d, 4 * d), lambda d, f: nn.Linear(4 * d, d))
_layers("second_layer_not_back", lambda d, f: nn.Linear(d, f), lambda d, f: nn.Linear(f, f))
