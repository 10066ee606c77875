"""Wrong decoder layers, each with the argument checks that the stub gives."""

import torch

from ..reference_package import reference, reference_module
from . import misconception

LAYER = "decoder.DecoderLayer"
RightLayer, FeedForward = reference(LAYER), reference("encoder.FeedForward")
causal_mask = reference("masks.causal_mask")
attend = reference("dot_product.scaled_dot_product_attention")
split_heads, merge_heads = reference("multi_head.split_heads"), reference("multi_head.merge_heads")
given = reference_module("_decoder_arguments")
wrong = misconception(LAYER)


class Layer(RightLayer):
    """The given lines, then the steps in pieces that a subclass replaces."""

    def forward(self, x, memory=None, key_mask=None, memory_key_mask=None, cache=None):
        given.check_decoder_inputs(self, x, memory, key_mask, memory_key_mask, cache)
        return self.answer(x, memory, key_mask, memory_key_mask, cache)

    def answer(self, x, memory, key_mask, memory_mask, cache):
        steps = [(self.norm1, lambda one: self.past(one, key_mask, cache))]
        if memory is not None:
            steps.append((self.norm2, lambda one: self.read(one, memory, memory_mask)))
        steps.append((self.last_norm(memory), self.feed_forward))
        return self.chain(x, steps)

    def last_norm(self, memory):
        return self.norm2 if memory is None else self.norm3

    def chain(self, x, steps):
        for norm, step in steps:
            x = self.pre(x, norm, step) if self.norm_first else self.post(x, norm, step)
        return x

    def pre(self, x, norm, step):
        return x + self.dropout(step(norm(x)))

    def post(self, x, norm, step):
        return norm(x + self.dropout(step(x)))

    def past(self, x, key_mask, cache):
        if cache is None:
            return self.self_attention(x, x, x, self.mask(x.shape[1]), key_mask)[0]
        return self.with_cache(x, cache)

    def mask(self, length):
        return causal_mask(length)

    def projected(self, x):
        attention = self.self_attention
        projections = (attention.q_proj, attention.k_proj, attention.v_proj)
        return [split_heads(projection(x), attention.num_heads) for projection in projections]

    def with_cache(self, x, cache):
        query, key, value = self.projected(x)
        keys, values = cache.append(key, value)
        return self.seen(query, keys, values, self.cache_mask(x.shape[1], keys.shape[-2]))

    def cache_mask(self, length, keys):
        return causal_mask(length, keys)

    def seen(self, query, keys, values, mask):
        heads, _ = attend(query, keys, values, mask, self.dropout.p if self.training else 0.0)
        return self.self_attention.out_proj(merge_heads(heads))

    def read(self, x, memory, mask):
        return self.cross_attention(x, memory, memory, key_mask=mask)[0]


# The three steps and their norms


@wrong
class future_seen(Layer):
    def mask(self, length):
        return None


@wrong
class past_hidden(Layer):
    """The mask is the wrong way round, as for torch.nn.MultiheadAttention."""

    def mask(self, length):
        return ~causal_mask(length)


@wrong
class own_position_hidden(Layer):
    def mask(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(-1)


@wrong
class memory_read_causally(Layer):
    def read(self, x, memory, mask):
        allowed = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
        return self.cross_attention(x, memory, memory, allowed, mask)[0]


@wrong
class memory_is_the_query(Layer):
    def read(self, x, memory, mask):
        return self.cross_attention(memory, x, x)[0]


@wrong
class memory_not_read(Layer):
    """Cross-attention from x to x."""

    def read(self, x, memory, mask):
        return self.cross_attention(x, x, x)[0]


@wrong
class memory_normalised(Layer):
    def answer(self, x, memory, key_mask, memory_mask, cache):
        if memory is not None and self.norm_first:
            memory = self.norm2(memory)
        return super().answer(x, memory, key_mask, memory_mask, cache)


@wrong
class memory_asked_first(Layer):
    def chain(self, x, steps):
        return super().chain(x, [steps[1], steps[0], steps[2]] if len(steps) == 3 else steps)


@wrong
class one_attention_for_both(Layer):
    """self_attention reads the memory too."""

    def read(self, x, memory, mask):
        return self.self_attention(x, memory, memory, key_mask=mask)[0]


@wrong
class norms_two_and_three_exchanged(Layer):
    def chain(self, x, steps):
        if len(steps) == 3:
            steps = [steps[0], (self.norm3, steps[1][1]), (self.norm2, steps[2][1])]
        return super().chain(x, steps)


@wrong
class norm_first_ignored(Layer):
    def chain(self, x, steps):
        for norm, step in steps:
            x = self.pre(x, norm, step)
        return x


@wrong
class always_post_norm(Layer):
    def chain(self, x, steps):
        for norm, step in steps:
            x = self.post(x, norm, step)
        return x


@wrong
class residual_normalised_too(Layer):
    def pre(self, x, norm, step):
        x = norm(x)
        return x + self.dropout(step(x))


@wrong
class norm_before_the_sum(Layer):
    def post(self, x, norm, step):
        return x + norm(self.dropout(step(x)))


@wrong
class no_residuals(Layer):
    def pre(self, x, norm, step):
        return self.dropout(step(norm(x)))

    def post(self, x, norm, step):
        return norm(self.dropout(step(x)))


@wrong
class no_residual_around_the_memory(Layer):
    def chain(self, x, steps):
        for place, (norm, step) in enumerate(steps):
            before = x
            x = self.pre(x, norm, step) if self.norm_first else self.post(x, norm, step)
            if len(steps) == 3 and place == 1:
                x = step(norm(before)) if self.norm_first else norm(step(before))
        return x


@wrong
class relu_by_default(Layer):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="relu", norm_first=True, cross_attention=False
    ):
        super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first, cross_attention)


@wrong
class activation_ignored(Layer):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="gelu", norm_first=True, cross_attention=False
    ):
        super().__init__(d_model, num_heads, d_ff, dropout, "gelu", norm_first, cross_attention)


@wrong
class memory_parts_always_made(Layer):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="gelu", norm_first=True, cross_attention=False
    ):
        super().__init__(d_model, num_heads, d_ff, dropout, activation, norm_first, True)
        self.reads_memory = cross_attention


# Masks


@wrong
class key_mask_ignored(Layer):
    def past(self, x, key_mask, cache):
        return super().past(x, None, cache)


@wrong
class causal_mask_dropped_under_key_mask(Layer):
    def past(self, x, key_mask, cache):
        if key_mask is not None:
            return self.self_attention(x, x, x, None, key_mask)[0]
        return super().past(x, key_mask, cache)


@wrong
class memory_key_mask_ignored(Layer):
    def read(self, x, memory, mask):
        return super().read(x, memory, None)


@wrong
class memory_key_mask_inverted(Layer):
    def read(self, x, memory, mask):
        return super().read(x, memory, None if mask is None else ~mask)
