"""Wrong decoder layers: what goes wrong with a cache, and with dropout."""

import torch

from . import misconception
from ._decoder_layer import LAYER, Layer, attend, causal_mask, merge_heads, split_heads, wrong


@wrong
class cache_not_used(Layer):
    """Only the newest tokens are seen."""

    def with_cache(self, x, cache):
        query, key, value = self.projected(x)
        cache.append(key, value)
        return self.seen(query, key, value, causal_mask(x.shape[1]))


@wrong
class mask_aligned_to_start(Layer):
    def cache_mask(self, length, keys):
        return torch.ones(length, keys, dtype=torch.bool).tril()


@wrong
class no_mask_with_a_cache(Layer):
    def cache_mask(self, length, keys):
        return None


@wrong
class mask_of_the_newest_alone(Layer):
    def cache_mask(self, length, keys):
        return causal_mask(length)


@wrong
class appended_twice(Layer):
    def with_cache(self, x, cache):
        query, key, value = self.projected(x)
        cache.append(key, value)
        keys, values = cache.append(key, value)
        return self.seen(query, keys, values, self.cache_mask(x.shape[1], keys.shape[-2]))


@wrong
class new_tokens_added_again(Layer):
    """What append returns holds the newest already."""

    def with_cache(self, x, cache):
        query, key, value = self.projected(x)
        keys, values = (torch.cat(pair, dim=-2) for pair in zip(cache.append(key, value), (key, value), strict=True))
        return self.seen(query, keys, values, self.cache_mask(x.shape[1], keys.shape[-2]))


@wrong
class keys_and_values_exchanged(Layer):
    def with_cache(self, x, cache):
        query, key, value = self.projected(x)
        values, keys = cache.append(key, value)
        return self.seen(query, keys, values, self.cache_mask(x.shape[1], keys.shape[-2]))


@wrong
class inputs_for_keys_and_values(Layer):
    """What is cached was never projected."""

    def with_cache(self, x, cache):
        attention = self.self_attention
        query = split_heads(attention.q_proj(x), attention.num_heads)
        keys, values = (split_heads(one, attention.num_heads) for one in cache.append(x, x))
        return self.seen(query, keys, values, self.cache_mask(x.shape[1], keys.shape[-2]))


@wrong
class one_head_with_a_cache(Layer):
    def projected(self, x):
        attention = self.self_attention
        return [projection(x).unsqueeze(1) for projection in (attention.q_proj, attention.k_proj, attention.v_proj)]


@wrong
class output_projection_forgotten(Layer):
    def seen(self, query, keys, values, mask):
        return merge_heads(attend(query, keys, values, mask)[0])


@wrong
class heads_not_put_back(Layer):
    """reshape without the transpose before it."""

    def seen(self, query, keys, values, mask):
        heads, _ = attend(query, keys, values, mask)
        merged = heads.reshape(len(heads), heads.shape[2], -1)
        return self.self_attention.out_proj(merged)


@wrong
class norm_forgotten_with_a_cache(Layer):
    def pre(self, x, norm, step):
        if norm is self.norm1 and self.cached:
            return x + self.dropout(step(x))
        return super().pre(x, norm, step)

    def answer(self, x, memory, key_mask, memory_mask, cache):
        self.cached = cache is not None
        return super().answer(x, memory, key_mask, memory_mask, cache)


@wrong
class memory_appended(Layer):
    """Cross-attention's keys and values go to the same cache."""

    def answer(self, x, memory, key_mask, memory_mask, cache):
        self.kept = cache
        return super().answer(x, memory, key_mask, memory_mask, cache)

    def read(self, x, memory, mask):
        if self.kept is None:
            return super().read(x, memory, mask)
        attention = self.cross_attention
        query, key, value = (
            split_heads(projection(one), attention.num_heads)
            for projection, one in ((attention.q_proj, x), (attention.k_proj, memory), (attention.v_proj, memory))
        )
        keys, values = self.kept.append(key, value)
        return attention.out_proj(merge_heads(attend(query, keys, values)[0]))


@wrong
class kept_in_the_layer(Layer):
    """The layer holds the first cache it met."""

    held = None

    def with_cache(self, x, cache):
        self.held = self.held or cache
        return super().with_cache(x, self.held)


# Dropout


@wrong
class dropout_in_evaluation(Layer):
    def answer(self, x, memory, key_mask, memory_mask, cache):
        self.dropout.train()
        return super().answer(x, memory, key_mask, memory_mask, cache)


@wrong
class dropout_with_a_cache_in_evaluation(Layer):
    """scaled_dot_product_attention is not told that the layer does not train."""

    def seen(self, query, keys, values, mask):
        heads, _ = attend(query, keys, values, mask, self.dropout.p)
        return self.self_attention.out_proj(merge_heads(heads))


@wrong
class results_not_dropped(Layer):
    def pre(self, x, norm, step):
        return x + step(norm(x))

    def post(self, x, norm, step):
        return norm(x + step(x))


@wrong
class dropout_on_the_sum(Layer):
    def pre(self, x, norm, step):
        return self.dropout(x + step(norm(x)))

    def post(self, x, norm, step):
        return norm(self.dropout(x + step(x)))


class Undropped(Layer):
    """Parts, of these names, are made without dropout."""

    attentions: tuple[str, ...] = ()
    units = False

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name in self.attentions:
            if hasattr(self, name):
                getattr(self, name).dropout = 0.0
        if self.units:
            self.feed_forward.dropout.p = 0.0


@wrong
class weights_not_dropped(Undropped):
    attentions = ("self_attention", "cross_attention")


@misconception(LAYER, like="weights_not_dropped")
class of_self_attention(Undropped):
    attentions = ("self_attention",)


@misconception(LAYER, like="weights_not_dropped")
class of_cross_attention(Undropped):
    attentions = ("cross_attention",)


@wrong
class weights_not_dropped_with_a_cache(Layer):
    def seen(self, query, keys, values, mask):
        heads, _ = attend(query, keys, values, mask)
        return self.self_attention.out_proj(merge_heads(heads))


@wrong
class hidden_units_not_dropped(Undropped):
    units = True


# The mask, the scale, the norm and the memory, with a cache


@wrong
class one_later_seen_with_a_cache(Layer):
    """tril with a diagonal that is one too large."""

    def cache_mask(self, length, keys):
        return torch.ones(length, keys, dtype=torch.bool).tril(keys - length + 1)


@wrong
class own_position_hidden_with_a_cache(Layer):
    """tril with a diagonal that is one too small."""

    def cache_mask(self, length, keys):
        return torch.ones(length, keys, dtype=torch.bool).tril(keys - length - 1)


@wrong
class divided_by_root_of_d_model_with_a_cache(Layer):
    def seen(self, query, keys, values, mask):
        return super().seen(query / query.shape[1] ** 0.5, keys, values, mask)


@wrong
class scores_not_divided_with_a_cache(Layer):
    def seen(self, query, keys, values, mask):
        return super().seen(query * query.shape[-1] ** 0.5, keys, values, mask)


@wrong
class keys_before_the_norm_with_a_cache(Layer):
    """The query is that of norm1(x), keys and values are those of x."""

    def answer(self, x, memory, key_mask, memory_mask, cache):
        self.came = x
        return super().answer(x, memory, key_mask, memory_mask, cache)

    def projected(self, x):
        _, *kept = super().projected(self.came)
        return [super().projected(x)[0], *kept]


@wrong
class memory_left_out_with_a_cache(Layer):
    def answer(self, x, memory, key_mask, memory_mask, cache):
        self.cached = cache is not None
        return super().answer(x, memory, key_mask, memory_mask, cache)

    def chain(self, x, steps):
        return super().chain(x, self.left(*steps) if self.cached and len(steps) == 3 else steps)

    def left(self, first, read, last):
        return [first, last]


@misconception(LAYER, like="memory_left_out_with_a_cache")
class norm_three_too(memory_left_out_with_a_cache):
    def left(self, first, read, last):
        return [first, (read[0], last[1])]
