"""Wrong feed-forward layers, each with the argument checks that the stub gives."""

from torch import nn
from torch.nn import functional as F

from ..reference_package import reference, reference_module
from . import misconception

FEED_FORWARD = "encoder.FeedForward"
RightFeedForward = reference(FEED_FORWARD)
arguments = reference_module("_arguments")


class Feeding(RightFeedForward):
    """The given lines; what a subclass answers is its own."""

    def forward(self, x):
        arguments.check_floating(x=x)
        arguments.check_width(self, self.d_model, x=x)
        return self.answer(x)

    def hidden(self, x):
        return self.activation(self.linear1(x))


@misconception(FEED_FORWARD)
class no_activation(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(self.linear1(x)))


@misconception(FEED_FORWARD)
class activation_at_the_end(Feeding):
    def answer(self, x):
        return self.activation(self.linear2(self.dropout(self.linear1(x))))


@misconception(FEED_FORWARD)
class activation_twice(Feeding):
    def answer(self, x):
        return self.activation(self.linear2(self.dropout(self.hidden(x))))


@misconception(FEED_FORWARD, "activation_twice")
class relu_at_the_end(Feeding):
    def answer(self, x):
        return F.relu(self.linear2(self.dropout(self.hidden(x))))


@misconception(FEED_FORWARD, "activation_on_the_input")
class relu_always(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(self.linear1(F.relu(x))))


@misconception(FEED_FORWARD)
class activation_on_the_input(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(self.linear1(self.activation(x))))


@misconception(FEED_FORWARD)
class activation_ignored(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(F.relu(self.linear1(x))))


@misconception(FEED_FORWARD)
class gelu_always(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(F.gelu(self.linear1(x))))


@misconception(FEED_FORWARD)
class gelu_by_tanh(Feeding):
    def hidden(self, x):
        hidden = self.linear1(x)
        return F.relu(hidden) if self.activation is F.relu else F.gelu(hidden, approximate="tanh")

    def answer(self, x):
        return self.linear2(self.dropout(self.hidden(x)))


@misconception(FEED_FORWARD)
class residual_inside(Feeding):
    def answer(self, x):
        return x + self.linear2(self.dropout(self.hidden(x)))


@misconception(FEED_FORWARD)
class dropout_on_output(Feeding):
    def answer(self, x):
        return self.dropout(self.linear2(self.hidden(x)))


@misconception(FEED_FORWARD)
class dropout_on_input(Feeding):
    def answer(self, x):
        return self.linear2(self.hidden(self.dropout(x)))


@misconception(FEED_FORWARD)
class dropout_before_activation(Feeding):
    def answer(self, x):
        return self.linear2(self.activation(self.dropout(self.linear1(x))))


@misconception(FEED_FORWARD)
class dropout_ignored(Feeding):
    def answer(self, x):
        return self.linear2(self.hidden(x))


@misconception(FEED_FORWARD)
class dropout_in_evaluation(Feeding):
    def answer(self, x):
        return self.linear2(F.dropout(self.hidden(x), self.dropout.p))


@misconception(FEED_FORWARD)
class flattened(Feeding):
    def answer(self, x):
        return self.linear2(self.dropout(self.hidden(x.reshape(-1, x.shape[-1]))))


@misconception(FEED_FORWARD)
class widths_exchanged(RightFeedForward):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__(d_model, d_ff, dropout, activation)
        self.linear1, self.linear2 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)


@misconception(FEED_FORWARD)
class without_bias(RightFeedForward):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__(d_model, d_ff, dropout, activation)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)


@misconception(FEED_FORWARD)
class one_width_throughout(RightFeedForward):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__(d_model, d_ff, dropout, activation)
        self.linear1, self.linear2 = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
