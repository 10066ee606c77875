"""Wrong decoder layers with a mistake in one step, or in one of the two orders, pre-norm or post-norm."""

from . import misconception
from ._decoder_layer import (
    LAYER,
    Layer,
    causal_mask,
    memory_asked_first,
    no_residual_around_the_memory,
    norms_two_and_three_exchanged,
    wrong,
)


@wrong
class norm_two_for_feed_forward(Layer):
    def last_norm(self, memory):
        return self.norm2


@wrong
class no_residual_around_feed_forward(Layer):
    def chain(self, x, steps):
        *before, (norm, step) = steps
        x = super().chain(x, before)
        return self.dropout(step(norm(x))) if self.norm_first else norm(self.dropout(step(x)))


@misconception(LAYER, like="memory_read_causally")
class aligned_to_the_end(Layer):
    def read(self, x, memory, mask):
        return self.cross_attention(x, memory, memory, causal_mask(x.shape[1], memory.shape[1]), mask)[0]


@misconception(LAYER, like="memory_normalised")
class in_both_orders(Layer):
    def answer(self, x, memory, key_mask, memory_mask, cache):
        memory = memory if memory is None else self.norm2(memory)
        return super().answer(x, memory, key_mask, memory_mask, cache)


@misconception(LAYER, like="residual_normalised_too")
class around_attention_alone(Layer):
    def chain(self, x, steps):
        return super().chain(steps[0][0](x) if self.norm_first else x, steps)

    def pre(self, x, norm, step):
        return x + self.dropout(step(x if norm is self.norm1 else norm(x)))


@misconception(LAYER, like="past_hidden")
class mask_transposed(Layer):
    def mask(self, length):
        return causal_mask(length).T


@wrong
class feed_forward_reads_the_sum(Layer):
    """In pre-norm."""

    def pre(self, x, norm, step):
        return x + self.dropout(step(x if step == self.feed_forward else norm(x)))


@wrong
class memory_added_without_dropout(Layer):
    def chain(self, x, steps):
        if len(steps) < 3:
            return super().chain(x, steps)
        norm, step = steps[1]
        x = super().chain(x, steps[:1])
        x = x + step(norm(x)) if self.norm_first else norm(x + step(x))
        return super().chain(x, steps[2:])


@wrong
class memory_read_last(Layer):
    """Behind the feed-forward layer; the norms stand in the order of their numbers."""

    def chain(self, x, steps):
        if len(steps) == 3:
            (first, past), (second, read), (third, forward) = steps
            steps = [(first, past), (second, forward), (third, read)]
        return super().chain(x, steps)


@misconception(LAYER, like="memory_read_last")
class with_their_norms(Layer):
    """Each norm stays with its step."""

    def chain(self, x, steps):
        return super().chain(x, [steps[0], *steps[:0:-1]])


def _in_one_order(mistake, norm_first, like="", name=""):
    """Another form of a mistake, made in pre-norm alone, or in post-norm alone; like: its id, where it is a form."""

    class Once(mistake):
        def chain(self, x, steps):
            return super().chain(x, steps) if self.norm_first == norm_first else Layer.chain(self, x, steps)

    order = "pre_norm_alone" if norm_first else "post_norm_alone"
    Once.__name__ = f"{name}_in_{order}" if name else order
    misconception(LAYER, like=like or mistake.__name__)(Once)


for _mistake in (
    memory_asked_first,
    no_residual_around_the_memory,
    no_residual_around_feed_forward,
    norms_two_and_three_exchanged,
    norm_two_for_feed_forward,
    memory_read_last,
):
    for _norm_first in (True, False):
        _in_one_order(_mistake, _norm_first)
for _norm_first in (True, False):
    _in_one_order(with_their_norms, _norm_first, "memory_read_last", "with_their_norms")


@wrong
class norm_first_inverted(Layer):
    def chain(self, x, steps):
        for norm, step in steps:
            x = self.post(x, norm, step) if self.norm_first else self.pre(x, norm, step)
        return x


@wrong
class steps_side_by_side(Layer):
    """In pre-norm the feed-forward layer reads what came in, not the sum."""

    def chain(self, x, steps):
        if not self.norm_first:
            return super().chain(x, steps)
        *before, (norm, step) = steps
        return super().chain(x, before) + self.dropout(step(norm(x)))


@misconception(LAYER, like="residual_normalised_too")
class around_feed_forward_alone(Layer):
    def pre(self, x, norm, step):
        normed = norm(x)
        return (normed if step == self.feed_forward else x) + self.dropout(step(normed))


@wrong
class one_head(Layer):
    """Self-attention is made with one head."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.self_attention.num_heads = 1


@wrong
class either_mask_allows(Layer):
    def past(self, x, key_mask, cache):
        if key_mask is None:
            return super().past(x, key_mask, cache)
        return self.self_attention(x, x, x, self.mask(x.shape[1]) | key_mask[:, None, None, :])[0]


@wrong
class kept_share_dropped(Layer):
    """nn.Dropout(1 - dropout)."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.dropout.p = 1 - self.dropout.p

    def seen(self, query, keys, values, mask):
        self.dropout.p = 1 - self.dropout.p
        found = super().seen(query, keys, values, mask)
        self.dropout.p = 1 - self.dropout.p
        return found


def _norm_one_for(places, name):
    class Again(Layer):
        def chain(self, x, steps):
            return super().chain(
                x, [(self.norm1 if at in places else norm, step) for at, (norm, step) in enumerate(steps)]
            )

    Again.__name__ = name
    return Again


wrong(_norm_one_for((1,), "norm_one_for_another_step"))
for _places, _name in (((2,), "the_third"), ((1, 2), "all")):
    misconception(LAYER, like="norm_one_for_another_step")(_norm_one_for(_places, _name))
for _norm_first in (True, False):
    _in_one_order(_norm_one_for((1,), ""), _norm_first, "norm_one_for_another_step")


class NormOneForTheMemory(Layer):
    def chain(self, x, steps):
        if len(steps) == 3:
            steps = [steps[0], (self.norm1, steps[1][1]), steps[2]]
        return super().chain(x, steps)


for _mistake, _name in (
    (NormOneForTheMemory, "the_memory"),
    (_norm_one_for((2,), ""), "the_third"),
    (_norm_one_for((1, 2), ""), "all"),
):
    for _norm_first in (True, False):
        _in_one_order(_mistake, _norm_first, "norm_one_for_another_step", _name)


def _added_behind_its_norm(of_feed_forward):
    class One(Layer):
        def post(self, x, norm, step):
            if (step == self.feed_forward) == of_feed_forward:
                return x + norm(self.dropout(step(x)))
            return super().post(x, norm, step)

    One.__name__ = "of_feed_forward_alone" if of_feed_forward else "of_attention_alone"
    misconception(LAYER, like="norm_before_the_sum")(One)


for _of_feed_forward in (True, False):
    _added_behind_its_norm(_of_feed_forward)


@wrong
class memory_asked_beside(Layer):
    """In pre-norm the queries of cross-attention are those of what came in, not of the sum."""

    def chain(self, x, steps):
        if len(steps) < 3 or not self.norm_first:
            return super().chain(x, steps)
        found = [self.dropout(step(norm(x))) for norm, step in steps[:2]]
        return super().chain(x + sum(found), steps[2:])
