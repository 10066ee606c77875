"""Wrong encoder layers, each with the argument checks that the stub gives."""

from ..reference_package import reference, reference_module
from . import misconception

LAYER = "encoder.EncoderLayer"
RightFeedForward, RightLayer = reference("encoder.FeedForward"), reference(LAYER)
arguments = reference_module("_arguments")


class Layer(RightLayer):
    """The given lines, then the two orders in pieces that a subclass replaces."""

    def forward(self, x, attn_mask=None, key_mask=None):
        arguments.check_floating(x=x)
        arguments.check_batched(x=x)
        arguments.check_width(self, self.d_model, x=x)
        return self.answer(x, attn_mask, key_mask)

    def answer(self, x, *masks):
        return self.pre(x, *masks) if self.norm_first else self.post(x, *masks)

    def attend(self, x, attn_mask, key_mask):
        return self.dropout(self.self_attention(x, x, x, attn_mask, key_mask)[0])

    def feed(self, x):
        return self.dropout(self.feed_forward(x))

    def pre(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm2(x))

    def post(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return self.norm2(x + self.feed(x))


@misconception(LAYER)
class post_no_residual_around_attention(Layer):
    def post(self, x, *masks):
        x = self.norm1(self.attend(x, *masks))
        return self.norm2(x + self.feed(x))


@misconception(LAYER)
class pre_no_residual_around_attention(Layer):
    def pre(self, x, *masks):
        x = self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm2(x))


@misconception(LAYER)
class post_no_residual_around_feed_forward(Layer):
    def post(self, x, *masks):
        return self.norm2(self.feed(self.norm1(x + self.attend(x, *masks))))


@misconception(LAYER)
class pre_no_residual_around_feed_forward(Layer):
    def pre(self, x, *masks):
        return self.feed(self.norm2(x + self.attend(self.norm1(x), *masks)))


@misconception(LAYER)
class no_residuals(Layer):
    def pre(self, x, *masks):
        return self.feed(self.norm2(self.attend(self.norm1(x), *masks)))

    def post(self, x, *masks):
        return self.norm2(self.feed(self.norm1(self.attend(x, *masks))))


@misconception(LAYER)
class no_norms(Layer):
    def answer(self, x, *masks):
        x = x + self.attend(x, *masks)
        return x + self.feed(x)


@misconception(LAYER)
class post_norm1_missing(Layer):
    def post(self, x, *masks):
        x = x + self.attend(x, *masks)
        return self.norm2(x + self.feed(x))


@misconception(LAYER)
class pre_norm1_missing(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(x, *masks)
        return x + self.feed(self.norm2(x))


@misconception(LAYER)
class post_norm2_missing(Layer):
    def post(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return x + self.feed(x)


@misconception(LAYER)
class pre_norm2_missing(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        return x + self.feed(x)


@misconception(LAYER)
class norm_before_the_sum(Layer):
    def post(self, x, *masks):
        x = x + self.norm1(self.attend(x, *masks))
        return x + self.norm2(self.feed(x))


@misconception(LAYER)
class norm_first_ignored(Layer):
    def answer(self, x, *masks):
        return self.post(x, *masks)


@misconception(LAYER)
class always_pre_norm(Layer):
    def answer(self, x, *masks):
        return self.pre(x, *masks)


@misconception(LAYER)
class norm_first_inverted(Layer):
    def answer(self, x, *masks):
        return self.post(x, *masks) if self.norm_first else self.pre(x, *masks)


@misconception(LAYER)
class residual_normalised_too(Layer):
    def pre(self, x, *masks):
        x = self.norm1(x)
        x = x + self.attend(x, *masks)
        x = self.norm2(x)
        return x + self.feed(x)


@misconception(LAYER)
class keys_and_values_not_normalised(Layer):
    def pre(self, x, *masks):
        x = x + self.dropout(self.self_attention(self.norm1(x), x, x, *masks)[0])
        return x + self.feed(self.norm2(x))


@misconception(LAYER)
class post_second_residual_from_input(Layer):
    def post(self, x, *masks):
        first = self.norm1(x + self.attend(x, *masks))
        return self.norm2(x + self.feed(first))


@misconception(LAYER)
class pre_second_residual_from_input(Layer):
    def pre(self, x, *masks):
        first = x + self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm2(first))


@misconception(LAYER)
class post_feed_forward_reads_input(Layer):
    def post(self, x, *masks):
        first = self.norm1(x + self.attend(x, *masks))
        return self.norm2(first + self.feed(x))


@misconception(LAYER)
class pre_feed_forward_reads_input(Layer):
    def pre(self, x, *masks):
        first = x + self.attend(self.norm1(x), *masks)
        return first + self.feed(self.norm2(x))


@misconception(LAYER)
class post_norm1_twice(Layer):
    def post(self, x, *masks):
        x = self.norm1(x + self.attend(x, *masks))
        return self.norm1(x + self.feed(x))


@misconception(LAYER)
class pre_norm1_twice(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(self.norm1(x), *masks)
        return x + self.feed(self.norm1(x))


@misconception(LAYER)
class post_norms_exchanged(Layer):
    def post(self, x, *masks):
        x = self.norm2(x + self.attend(x, *masks))
        return self.norm1(x + self.feed(x))


@misconception(LAYER)
class pre_norms_exchanged(Layer):
    def pre(self, x, *masks):
        x = x + self.attend(self.norm2(x), *masks)
        return x + self.feed(self.norm1(x))


@misconception(LAYER)
class ends_with_feed_forward(Layer):
    def post(self, x, *masks):
        return self.feed(self.norm1(x + self.attend(x, *masks)))


@misconception(LAYER)
class feed_forward_first(Layer):
    def pre(self, x, *masks):
        x = x + self.feed(self.norm2(x))
        return x + self.attend(self.norm1(x), *masks)

    def post(self, x, *masks):
        x = self.norm2(x + self.feed(x))
        return self.norm1(x + self.attend(x, *masks))


@misconception(LAYER)
class masks_ignored(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, None, None)


@misconception(LAYER)
class attn_mask_ignored(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, None, key_mask)


@misconception(LAYER)
class key_mask_ignored(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, attn_mask, None)


@misconception(LAYER)
class key_mask_inverted(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, attn_mask, None if key_mask is None else ~key_mask)


@misconception(LAYER)
class masks_inverted(Layer):
    def attend(self, x, *masks):
        return super().attend(x, *(None if mask is None else ~mask for mask in masks))


@misconception(LAYER)
class masks_exchanged(Layer):
    def attend(self, x, attn_mask, key_mask):
        return super().attend(x, key_mask, attn_mask)


@misconception(LAYER)
class weights_not_unpacked(Layer):
    def attend(self, x, attn_mask, key_mask):
        return self.self_attention(x, x, x, attn_mask, key_mask)


@misconception(LAYER)
class weights_returned_as_well(Layer):
    def answer(self, x, *masks):
        seen = self.norm1(x) if self.norm_first else x
        return super().answer(x, *masks), self.self_attention(seen, seen, seen, *masks)[1]
