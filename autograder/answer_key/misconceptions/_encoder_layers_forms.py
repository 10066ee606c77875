"""Wrong encoder layers that treat one order, or one of the two halves, otherwise than the other."""

from . import _encoder_layers_more, misconception
from ._encoder_layers import (
    LAYER,
    Layer,
    attn_mask_ignored,
    key_mask_ignored,
    key_mask_inverted,
    masks_exchanged,
    masks_ignored,
    masks_inverted,
)

wrong = misconception(LAYER)

# A mask goes wrong in one order alone

MASKS = (
    masks_ignored,
    attn_mask_ignored,
    key_mask_ignored,
    key_mask_inverted,
    masks_inverted,
    masks_exchanged,
    _encoder_layers_more.attn_mask_turned,
)


def _in_one_order(code, first):
    class One(code):
        def attend(self, x, *masks):
            return (code if self.norm_first == first else Layer).attend(self, x, *masks)

    One.__name__ = "in_pre_norm" if first else "in_post_norm"
    misconception(LAYER, code.__name__)(One)


for _code in MASKS:
    _in_one_order(_code, False)
    if _code is not masks_ignored:  # that is masks_for_post_norm_alone
        _in_one_order(_code, True)


def _zeroed(x, key_mask):
    return x if key_mask is None else x * key_mask.unsqueeze(-1)


@wrong
class padding_tokens_zeroed(Layer):
    def answer(self, x, attn_mask, key_mask):
        return super().answer(_zeroed(x, key_mask), attn_mask, None)


@misconception(LAYER, "padding_tokens_zeroed")
class before_the_mask(Layer):
    def answer(self, x, attn_mask, key_mask):
        return super().answer(_zeroed(x, key_mask), attn_mask, key_mask)


# Which sum is normalised


@wrong
class pre_attention_added_to_the_norm(Layer):
    def pre(self, x, *masks):
        seen = self.norm1(x)
        x = seen + self.attend(seen, *masks)
        return x + self.feed(self.norm2(x))


@wrong
class pre_feed_forward_added_to_the_norm(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        seen = self.norm2(x)
        return seen + self.feed(seen)


@misconception(LAYER, "pre_feed_forward_reads_input")
class through_norm1(Layer):
    def pre(self, x, *masks):
        seen = self.norm1(x)
        return x + self.attend(seen, *masks) + self.feed(self.norm2(seen))


@wrong
class post_second_half_pre_norm(Layer):
    def post(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return x + self.feed(self.norm2(x))


@wrong
class post_first_half_pre_norm(Layer):
    def post(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        return self.norm2(x + self.feed(x))


@wrong
class pre_first_half_post_norm(Layer):
    def pre(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return x + self.feed(self.norm2(x))


@wrong
class post_attention_normed_before_the_sum(Layer):
    def post(self, x, *masks):
        x = x + self.norm1(self.attend(x, *masks))
        return self.norm2(x + self.feed(x))


@wrong
class post_feed_forward_normed_before_the_sum(Layer):
    def post(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return x + self.norm2(self.feed(x))


# One branch without dropout


@wrong
class dropout_missing_on_attention(Layer):
    def attend(self, x, *masks):
        return self.self_attention(x, x, x, *masks)[0]


@wrong
class dropout_missing_on_feed_forward(Layer):
    def feed(self, x):
        return self.feed_forward(x)


@misconception(LAYER, "dropout_on_the_sum")
class in_pre_norm(Layer):
    def pre(self, x, *masks):
        seen = self.norm1(x)
        x = self.dropout(x + self.self_attention(seen, seen, seen, *masks)[0])
        return self.dropout(x + self.feed_forward(self.norm2(x)))


@misconception(LAYER, "dropout_on_the_sum")
class in_post_norm(Layer):
    def post(self, x, *masks):
        x = self.norm1(self.dropout(x + self.self_attention(x, x, x, *masks)[0]))
        return self.norm2(self.dropout(x + self.feed_forward(x)))


@misconception(LAYER, "dropout_on_the_sum")
class of_attention(Layer):
    def post(self, x, *masks):
        x = self.norm1(self.dropout(x + self.self_attention(x, x, x, *masks)[0]))
        return self.norm2(x + self.feed(x))


@wrong
class dropout_behind_the_norms(Layer):
    def post(self, x, *masks):
        x = self.dropout(self.norm1(x + self.self_attention(x, x, x, *masks)[0]))
        return self.dropout(self.norm2(x + self.feed_forward(x)))


# One object for two parts


@misconception(LAYER, "one_norm_for_both")
class under_two_names(Layer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.norm2 = self.norm1


@wrong
class no_residual_around_feed_forward(Layer):
    def pre(self, x, *masks):
        return self.feed(self.norm2(x + self.attend(self.norm1(x), *masks)))

    def post(self, x, *masks):
        return self.norm2(self.feed(self.norm1(x + self.attend(x, *masks))))


@wrong
class no_residual_around_attention(Layer):
    def pre(self, x, *masks):
        x = self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm2(x))

    def post(self, x, *masks):
        x = self.norm1(self.attend(x, *masks))
        return self.norm2(x + self.feed(x))
