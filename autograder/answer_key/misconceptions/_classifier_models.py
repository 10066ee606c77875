"""Wrong text classifiers, each with the argument checks that the stub gives."""

import torch
from torch import nn

from ..reference_package import reference, reference_module
from . import misconception

TEXT = "classifier.TextClassifier"
Encoder, PositionalEncoding = reference("encoder.Encoder"), reference("positions.PositionalEncoding")
masked_mean = reference("classifier.masked_mean")
given = reference_module("classifier")


class Classifier(nn.Module):
    """The given lines, then words, positions, encoder, pooling and output in pieces that a subclass replaces."""

    def __init__(
        self,
        vocab_size,
        num_classes,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        max_length=512,
        dropout=0.1,
        padding_id=0,
    ):
        super().__init__()
        given.check_length("num_classes", num_classes, least=1)
        given._check_sizes(vocab_size, d_model, num_heads, max_length, dropout)
        self.max_length, self.padding_id, self.p = max_length, padding_id, dropout
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = self.make_places(d_model, max_length, dropout)
        self.encoder = self.make_encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.output = nn.Linear(d_model, num_classes)

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length, dropout)

    def make_encoder(self, *sizes):
        return Encoder(*sizes, norm_first=True)

    def forward(self, token_ids):
        given._check_tokens("token_ids", token_ids, self.max_length)
        return self.answer(token_ids)

    def answer(self, token_ids):
        return self.output(self.pool(*self.encode(token_ids)))

    def real(self, token_ids):
        return token_ids != self.padding_id

    def encode(self, token_ids):
        real = self.real(token_ids)
        return self.encoder(self.places(self.words(token_ids)), key_mask=real), real

    def pool(self, x, real):
        return masked_mean(x, real)


@misconception(TEXT)
class padding_counts(Classifier):
    def encode(self, token_ids):
        return self.encoder(self.places(self.words(token_ids))), None


@misconception(TEXT)
class divided_by_length(Classifier):
    def pool(self, x, real):
        return x.masked_fill(~real.unsqueeze(-1), 0.0).mean(dim=1)


@misconception(TEXT)
class padding_id_fixed(Classifier):
    def real(self, token_ids):
        return token_ids != 0


@misconception(TEXT)
class mask_inverted(Classifier):
    def real(self, token_ids):
        return token_ids == self.padding_id


@misconception(TEXT)
class key_mask_by_position(Classifier):
    """The encoder's second argument is attn_mask."""

    def encode(self, token_ids):
        real = self.real(token_ids)
        return self.encoder(self.places(self.words(token_ids)), real), real


@misconception(TEXT)
class positions_missing(Classifier):
    def make_places(self, d_model, max_length, dropout):
        return nn.Dropout(dropout)


@misconception(TEXT)
class words_do_not_interact(Classifier):
    """Two layers for each word with its position, and the mean of what they give."""

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model))

    def encode(self, token_ids):
        return self.encoder(self.places(self.words(token_ids))), self.real(token_ids)


@misconception(TEXT)
class positions_by_batch(Classifier):
    """The table of a tutorial that puts the length first: x + table[: len(x)]. It is longer than any batch."""

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, 5000, dropout)

    def encode(self, token_ids):
        real = self.real(token_ids)
        x = self.places(self.words(token_ids).transpose(0, 1)).transpose(0, 1)
        return self.encoder(x, key_mask=real), real


@misconception(TEXT, like="positions_by_batch")
class in_a_table_of_max_length(positions_by_batch):
    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length, dropout)


@misconception(TEXT)
class pooling_mask_inverted(Classifier):
    """The encoder has the right one."""

    def pool(self, x, real):
        return masked_mean(x, ~real)


@misconception(TEXT)
class attention_mask_inverted(Classifier):
    """As torch's src_key_padding_mask is meant; the pooling has the right one."""

    def encode(self, token_ids):
        real = self.real(token_ids)
        return self.encoder(self.places(self.words(token_ids)), key_mask=~real), real


@misconception(TEXT, like="attention_mask_inverted")
class in_torchs_layers(attention_mask_inverted):
    """A text without padding gives NaN."""

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True)
        return nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)

    def encode(self, token_ids):
        real = self.real(token_ids)
        return self.encoder(self.places(self.words(token_ids)), src_key_padding_mask=real), real


@misconception(TEXT)
class cut_to_the_shortest(Classifier):
    """So that no padding is left."""

    def encode(self, token_ids):
        token_ids = token_ids[:, : max(int(self.real(token_ids).sum(dim=1).min()), 1)]
        return super().encode(token_ids)


@misconception(TEXT)
class mask_of_the_first_batch(Classifier):
    """Kept in self."""

    kept = None

    def real(self, token_ids):
        if self.kept is None:
            self.kept = super().real(token_ids)
        return self.kept


@misconception(TEXT)
class rows_attend_to_each_other(Classifier):
    """torch's layers without batch_first."""

    def encode(self, token_ids):
        real = self.real(token_ids)
        return self.encoder(self.places(self.words(token_ids)).transpose(0, 1)).transpose(0, 1), real


@misconception(TEXT)
class softmax_in_forward(Classifier):
    def answer(self, token_ids):
        return torch.softmax(super().answer(token_ids), dim=-1)


@misconception(TEXT)
class sigmoid_in_forward(Classifier):
    def answer(self, token_ids):
        return torch.sigmoid(super().answer(token_ids))


@misconception(TEXT)
class argmax_in_forward(Classifier):
    def answer(self, token_ids):
        return super().answer(token_ids).argmax(dim=-1)


@misconception(TEXT)
class pooling_forgotten(Classifier):
    def pool(self, x, real):
        return x


@misconception(TEXT)
class empty_text_is_nan(Classifier):
    def pool(self, x, real):
        real = real.unsqueeze(-1)
        return (x * real).sum(dim=1) / real.sum(dim=1)


@misconception(TEXT)
class dropout_in_evaluation(Classifier):
    """torch.nn.functional.dropout drops unless it is told otherwise."""

    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length)

    def encode(self, token_ids):
        real = self.real(token_ids)
        x = nn.functional.dropout(self.places(self.words(token_ids)), self.p)
        return self.encoder(x, key_mask=real), real


@misconception(TEXT)
class dropout_ignored(Classifier):
    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, max_length)

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return Encoder(num_layers, d_model, num_heads, d_ff, 0.0, norm_first=True)


@misconception(TEXT)
class dropout_not_passed_on(Classifier):
    """The encoder keeps its own default of 0.1."""

    def make_encoder(self, num_layers, d_model, num_heads, d_ff, dropout):
        return Encoder(num_layers, d_model, num_heads, d_ff, norm_first=True)


@misconception(TEXT)
class max_length_not_passed_on(Classifier):
    def make_places(self, d_model, max_length, dropout):
        return PositionalEncoding(d_model, dropout=dropout)


@misconception(TEXT)
class class_token_without_place(Classifier):
    """A vector in front makes the sequence one longer than the table of positions."""

    def encode(self, token_ids):
        first = self.output.weight[:1].expand(len(token_ids), 1, -1)
        x = self.places(torch.cat([first, self.words(token_ids)], dim=1))
        real = self.real(token_ids)
        return self.encoder(x, key_mask=torch.cat([torch.ones_like(real[:, :1]), real], dim=1)), real

    def pool(self, x, real):
        return x[:, 0]


@misconception(TEXT)
class layers_made_in_forward(Classifier):
    def answer(self, token_ids):
        output = nn.Linear(self.output.in_features, self.output.out_features)
        return output(self.pool(*self.encode(token_ids)))
