"""Wrong multi-head attention that returns something else, or loses gradients and dtypes."""

import torch
from torch.nn import functional as F

from . import misconception
from ._multi_head import Parts

wrong = misconception("multi_head.MultiHeadAttention")

# What is returned, made of what is due
RESULTS = {
    "weights_summed": lambda output, weights: (output, weights.sum(dim=1)),
    "weights_of_the_first_head": lambda output, weights: (output, weights[:, 0]),
    "weights_turned": lambda output, weights: (output, weights.mT),
    "heads_behind_queries": lambda output, weights: (output, weights.transpose(1, 2)),
    "output_detached": lambda output, weights: (output.detach(), weights),
    "both_detached": lambda output, weights: (output.detach(), weights.detach()),
    "float32_throughout": lambda output, weights: (output.float(), weights.float()),
    "float64_throughout": lambda output, weights: (output.double(), weights.double()),
    "output_in_float32": lambda output, weights: (output.float(), weights),
    "numbers_rounded": lambda output, weights: (output.round(decimals=2), weights.round(decimals=2)),
    "first_sequence_alone": lambda output, weights: (output[:1], weights[:1]),
    "one_head_squeezed": lambda output, weights: (output, weights.squeeze(1)),
}


def _returning(name, changed):
    def attend(self, *arguments):
        return changed(*super(made, self).attend(*arguments))

    made = type(name, (Parts,), {"attend": attend})
    wrong(made)


for _name, _changed in RESULTS.items():
    _returning(_name, _changed)


@wrong
class scores_returned(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        output, _ = super().attend(query, key, value, attn_mask, key_mask)
        q, k, _ = (self.split(x) for x in self.project(query, key, value))
        return output, self.score(q, k)


@wrong
class scores_without_gradient(Parts):
    def score(self, q, k):
        return super().score(q, k).detach()


@wrong
class weights_detached_for_the_output(Parts):
    def mix(self, weights, v):
        return super().mix(weights.detach(), v)


@wrong
class query_changed_in_place(Parts):
    def attend(self, query, *more):
        answer = super().attend(query.clone(), *more)
        with torch.no_grad():
            query.mul_(0.5)
        return answer


@wrong
class attn_mask_changed_in_place(Parts):
    def attend(self, query, key, value, attn_mask, key_mask):
        answer = super().attend(query, key, value, None if attn_mask is None else attn_mask.clone(), key_mask)
        if attn_mask is not None:
            attn_mask.logical_not_()
        return answer


# Dropout


@wrong
class dropout_kept_share(Parts):
    def drop(self, weights):
        return F.dropout(weights, 1 - self.dropout, self.training)


@wrong
class dropout_without_rescaling(Parts):
    def drop(self, weights):
        return weights * (torch.rand_like(weights) >= self.dropout) if self.training else weights


@wrong
class dropout_on_the_scores(Parts):
    def score(self, q, k):
        return F.dropout(super().score(q, k), self.dropout, self.training)

    def drop(self, weights):
        return weights


@wrong
class dropout_twice(Parts):
    def drop(self, weights):
        return super().drop(super().drop(weights))


@wrong
class dropout_on_the_output_too(Parts):
    def finish(self, merged):
        return F.dropout(super().finish(merged), self.dropout, self.training)


@wrong
class dropout_of_a_tenth(Parts):
    def drop(self, weights):
        return F.dropout(weights, 0.1, self.training)


@wrong
class dropout_of_whole_rows(Parts):
    def drop(self, weights):
        return F.dropout(weights.new_ones(*weights.shape[:-1], 1), self.dropout, self.training) * weights


@wrong
class dropout_in_evaluation_alone(Parts):
    def drop(self, weights):
        return F.dropout(weights, self.dropout, not self.training)
