"""Wrong pair matchers, each with the argument checks that the stub gives."""

import torch
from torch import nn

from . import misconception
from ._classifier_models import Encoder, PositionalEncoding, given, masked_mean

PAIR = "classifier.PairMatcher"


class Matcher(nn.Module):
    """The given lines, then one tower for both sides and a comparison, in pieces that a subclass replaces."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length=512, dropout=0.1, padding_id=0):
        super().__init__()
        given._check_sizes(vocab_size, d_model, num_heads, max_length, dropout)
        self.max_length, self.padding_id, self.p = max_length, padding_id, dropout
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = self.make_places(d_model, max_length, dropout)
        self.encoder = self.make_encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.compare = nn.Sequential(nn.Linear(4 * d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, 1))
        self.make_more(d_model)

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length, dropout)

    def make_encoder(self, *sizes):
        return Encoder(*sizes, norm_first=True)

    def make_more(self, d_model):
        pass

    def forward(self, left_ids, right_ids):
        given._check_tokens("left_ids", left_ids, self.max_length)
        given._check_tokens("right_ids", right_ids, self.max_length)
        if len(left_ids) != len(right_ids):
            raise ValueError("left_ids and right_ids must be as many")
        return self.answer(left_ids, right_ids)

    def real(self, ids):
        return ids != self.padding_id

    def vector(self, ids):
        real = self.real(ids)
        return self.pool(self.encoder(self.places(self.words(ids)), key_mask=real), real)

    def pool(self, x, real):
        return masked_mean(x, real)

    def answer(self, left_ids, right_ids):
        return self.compared(self.vector(left_ids), self.vector(right_ids))

    def compared(self, left, right):
        return self.compare(torch.cat([left, right, left * right, (left - right).abs()], dim=-1)).squeeze(-1)


@misconception(PAIR)
class sigmoid_in_forward(Matcher):
    def compared(self, left, right):
        return torch.sigmoid(super().compared(left, right))


@misconception(PAIR)
class axis_kept(Matcher):
    def compared(self, left, right):
        return super().compared(left, right).unsqueeze(-1)


@misconception(PAIR)
class squeezed_too_far(Matcher):
    """squeeze() without an axis: of a single pair no axis is left."""

    def compared(self, left, right):
        return super().compared(left, right).squeeze()


@misconception(PAIR)
class two_logits(Matcher):
    def make_more(self, d_model):
        self.two = nn.Linear(2 * d_model, 2)

    def compared(self, left, right):
        return self.two(torch.cat([left, right], dim=-1))


@misconception(PAIR)
class every_pair(Matcher):
    """All left texts against all right texts, as in contrastive training."""

    def compared(self, left, right):
        return left @ right.T


@misconception(PAIR)
class left_twice(Matcher):
    def answer(self, left_ids, right_ids):
        left = self.vector(left_ids)
        return self.compared(left, left)


@misconception(PAIR)
class sides_added(Matcher):
    """One linear layer on both vectors side by side."""

    def make_more(self, d_model):
        self.linear = nn.Linear(2 * d_model, 1)

    def compared(self, left, right):
        return self.linear(torch.cat([left, right], dim=-1)).squeeze(-1)


@misconception(PAIR)
class cosine_as_logit(Matcher):
    def compared(self, left, right):
        return torch.cosine_similarity(left, right, dim=-1)


@misconception(PAIR)
class left_mask_for_both(Matcher):
    def answer(self, left_ids, right_ids):
        right = self.encoder(self.places(self.words(right_ids)), key_mask=self.real(left_ids))
        return self.compared(self.vector(left_ids), masked_mean(right, self.real(right_ids)))


@misconception(PAIR, like="left_mask_for_both")
class right_mask_for_both(Matcher):
    def answer(self, left_ids, right_ids):
        left = self.encoder(self.places(self.words(left_ids)), key_mask=self.real(right_ids))
        return self.compared(masked_mean(left, self.real(left_ids)), self.vector(right_ids))


@misconception(PAIR, like="left_mask_for_both")
class exchanged_in_the_mean(Matcher):
    def answer(self, left_ids, right_ids):
        left = self.encoder(self.places(self.words(left_ids)), key_mask=self.real(left_ids))
        return self.compared(masked_mean(left, self.real(right_ids)), self.vector(right_ids))


@misconception(PAIR)
class distance_as_logit(Matcher):
    def compared(self, left, right):
        return -(left - right).norm(dim=-1)


@misconception(PAIR)
class key_mask_by_position(Matcher):
    """The encoder's second argument is attn_mask."""

    def vector(self, ids):
        real = self.real(ids)
        return self.pool(self.encoder(self.places(self.words(ids)), real), real)


@misconception(PAIR)
class positions_missing(Matcher):
    def make_places(self, d_model, max_length, dropout):
        return nn.Dropout(dropout)


@misconception(PAIR)
class words_do_not_interact(Matcher):
    """Two layers for each word with its position, their mean, and a dot product of the two means."""

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))

    def vector(self, ids):
        return self.pool(self.encoder(self.places(self.words(ids))), self.real(ids))

    def compared(self, left, right):
        return (left * right).sum(dim=-1)


@misconception(PAIR)
class padding_counts(Matcher):
    def vector(self, ids):
        return self.encoder(self.places(self.words(ids))).mean(dim=1)


@misconception(PAIR)
class only_left_masked(Matcher):
    """The right text goes through the same lines, but without a mask."""

    def answer(self, left_ids, right_ids):
        right = self.encoder(self.places(self.words(right_ids))).mean(dim=1)
        return self.compared(self.vector(left_ids), right)


@misconception(PAIR)
class right_text_shifted(Matcher):
    """Both texts in one sequence, the right one behind the left one's padding."""

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, 2 * max_length, dropout)

    def answer(self, left_ids, right_ids):
        ids = torch.cat([left_ids, right_ids], dim=1)
        real = self.real(ids)
        x = self.encoder(self.places(self.words(ids)), key_mask=real)
        left, right = x.split([left_ids.shape[1], right_ids.shape[1]], dim=1)
        real_left, real_right = real.split([left_ids.shape[1], right_ids.shape[1]], dim=1)
        return self.compared(masked_mean(left, real_left), masked_mean(right, real_right))


@misconception(PAIR)
class no_room_for_both(right_text_shifted):
    """Both texts in one sequence, whose table of positions has max_length rows."""

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length, dropout)


@misconception(PAIR)
class padding_id_fixed(Matcher):
    def real(self, ids):
        return ids != 0


@misconception(PAIR)
class empty_text_is_nan(Matcher):
    def pool(self, x, real):
        real = real.unsqueeze(-1)
        return (x * real).sum(dim=1) / real.sum(dim=1)


@misconception(PAIR)
class rows_attend_to_each_other(Matcher):
    def vector(self, ids):
        x = self.encoder(self.places(self.words(ids)).transpose(0, 1)).transpose(0, 1)
        return masked_mean(x, self.real(ids))


@misconception(PAIR)
class dropout_in_evaluation(Matcher):
    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length)

    def vector(self, ids):
        real = self.real(ids)
        x = nn.functional.dropout(self.places(self.words(ids)), self.p)
        return masked_mean(self.encoder(x, key_mask=real), real)


@misconception(PAIR)
class dropout_ignored(Matcher):
    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length)

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return Encoder(num_layers, d_model, num_heads, d_ff, 0.0, norm_first=True)


@misconception(PAIR)
class dropout_not_passed_on(Matcher):
    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return Encoder(num_layers, d_model, num_heads, d_ff, norm_first=True)
