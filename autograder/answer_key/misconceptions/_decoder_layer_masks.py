"""Wrong decoder layers that use the mask of one side at another place."""

from . import misconception
from ._decoder_layer import LAYER, Layer, causal_mask, wrong


@wrong
class key_mask_for_the_memory(Layer):
    """Where the memory has no mask of its own and as many positions."""

    def answer(self, x, memory, key_mask, memory_mask, cache):
        if memory is not None and memory_mask is None and key_mask is not None and key_mask.shape == memory.shape[:2]:
            memory_mask = key_mask
        return super().answer(x, memory, key_mask, memory_mask, cache)


@misconception(LAYER, like="key_mask_for_the_memory")
class in_place_of_its_own(Layer):
    def answer(self, x, memory, key_mask, memory_mask, cache):
        return super().answer(x, memory, key_mask, key_mask, cache)


@wrong
class key_mask_on_the_queries(Layer):
    """What padding has found is zeroed; others attend to padding."""

    def past(self, x, key_mask, cache):
        found = super().past(x, None, cache)
        return found if key_mask is None else found * key_mask.unsqueeze(-1)


@wrong
class padding_zeroed(Layer):
    """x is zero at padding, and attended to."""

    def answer(self, x, memory, key_mask, memory_mask, cache):
        x = x if key_mask is None else x * key_mask.unsqueeze(-1)
        return super().answer(x, memory, None, memory_mask, cache)


@misconception(LAYER, like="memory_read_causally")
class where_it_is_as_long(Layer):
    """The mask of self-attention, where it fits."""

    def read(self, x, memory, mask):
        allowed = causal_mask(x.shape[1]) if x.shape[1] == memory.shape[1] else None
        return self.cross_attention(x, memory, memory, allowed, mask)[0]


@wrong
class key_mask_lost_in_post_norm(Layer):
    def past(self, x, key_mask, cache):
        return super().past(x, key_mask if self.norm_first else None, cache)


@wrong
class memory_key_mask_lost_in_post_norm(Layer):
    def read(self, x, memory, mask):
        return super().read(x, memory, mask if self.norm_first else None)
