"""Wrong multi-head attention whose dropout acts in another place or at another time."""

from torch.nn import functional as F

from . import misconception
from ._multi_head import Parts

wrong = misconception("multi_head.MultiHeadAttention")


# Dropout


@wrong
class dropout_ignored(Parts):
    def drop(self, weights):
        return weights


@wrong
class dropout_in_evaluation(Parts):
    def drop(self, weights):
        return F.dropout(weights, self.dropout)


@wrong
class dropped_weights_returned(Parts):
    def weigh(self, scores, mask):
        return F.dropout(super().weigh(scores, mask), self.dropout, self.training)

    def drop(self, weights):
        return weights


@wrong
class dropout_on_the_output(Parts):
    def mix(self, weights, v):
        return F.dropout(weights @ v, self.dropout, self.training)
