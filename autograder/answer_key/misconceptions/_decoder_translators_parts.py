"""Wrong translating models in which a part is missing, cut off from learning or hidden."""

import torch
from torch import nn

from . import misconception
from ._decoder_translators import TRANSLATOR, Apart, DecoderLayer, Encoder, Translator

wrong = misconception(TRANSLATOR)


@wrong
class encoder_left_out(Translator):
    """It is made and not used."""

    def encode(self, x, real):
        return x


@misconception(TRANSLATOR, like="stack_too_small")
class no_encoder_made(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        del self.encoder

    def encode(self, x, real):
        return x


@wrong
class memory_of_one_position(Translator):
    """Its mean over the real tokens."""

    def decode(self, x, memory, real):
        count = real.sum(dim=1).clamp(min=1)[:, None, None]
        mean = memory.where(real.unsqueeze(-1), 0.0).sum(dim=1, keepdim=True) / count
        return super().decode(x, mean, real.any(dim=1, keepdim=True))


@misconception(TRANSLATOR, like="memory_of_one_position")
class first_position_alone(Translator):
    def decode(self, x, memory, real):
        return super().decode(x, memory[:, :1], real[:, :1])


@wrong
class encoder_learns_nothing(Translator):
    def encode(self, x, real):
        with torch.no_grad():
            return super().encode(x, real)


@misconception(TRANSLATOR, like="encoder_learns_nothing")
class memory_detached(Translator):
    def encode(self, x, real):
        return super().encode(x, real).detach()


@wrong
class encoder_layers_called_one_by_one(Translator):
    """Each decoder layer reads the encoder layer of its own number."""

    def encode(self, x, real):
        return x

    def decode(self, x, memory, real):
        for encoding, layer in zip(self.encoder.layers, self.layers, strict=True):
            memory = encoding(memory, key_mask=real)
            x = self.step(layer, x, memory, real)
        return x


@misconception(TRANSLATOR, like="encoder_layers_called_one_by_one")
class before_the_decoder(Translator):
    """All of them; the last norm alone is left out."""

    def encode(self, x, real):
        for layer in self.encoder.layers:
            x = layer(x, key_mask=real)
        return x


@wrong
class layer_without_part(Translator):
    """self.layers[0] within the loop."""

    def decode(self, x, memory, real):
        for _ in self.layers:
            x = self.step(self.layers[0], x, memory, real)
        return x


@misconception(TRANSLATOR, like="layer_without_part")
class one_layer_called(Translator):
    def decode(self, x, memory, real):
        return self.step(self.layers[-1], x, memory, real)


@wrong
class memory_in_one_layer(Apart):
    def look(self, layer, x, memory, real):
        return super().look(layer, x, memory, real) if layer is self.layers[-1] else x


@misconception(TRANSLATOR, like="memory_in_one_layer")
class memory_in_the_first_layer(Apart):
    def look(self, layer, x, memory, real):
        return super().look(layer, x, memory, real) if layer is self.layers[0] else x


@wrong
class stack_too_small(Translator):
    """The encoder has a single layer."""

    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        self.encoder = Encoder(1, d_model, num_heads, d_ff, dropout, norm_first=True)


@misconception(TRANSLATOR, like="stack_too_small")
class decoder_of_one_layer(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        self.layers = nn.ModuleList([self.layers[0]] * num_layers)


@misconception(TRANSLATOR, like="stack_too_small")
class one_layer_made(Translator):
    """And in the encoder as well."""

    def make_layers(self, num_layers, *sizes):
        super().make_layers(1, *sizes)


@misconception(TRANSLATOR, like="stack_too_small")
class one_decoder_layer_made(Translator):
    def make_layers(self, num_layers, *sizes):
        super().make_layers(num_layers, *sizes)
        self.layers = self.layers[:1]


@wrong
class layers_in_a_list(Translator):
    def make_layers(self, *sizes):
        super().make_layers(*sizes)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@wrong
class target_padding_hidden(Translator):
    def answer(self, source_ids, target_ids):
        self.words_of_target = target_ids != self.padding_id
        return super().answer(source_ids, target_ids)

    def step(self, layer, x, memory, real):
        return layer(x, memory, key_mask=self.words_of_target, memory_key_mask=real)


@wrong
class no_last_norm(Translator):
    def answer(self, source_ids, target_ids):
        real = self.real(source_ids)
        return self.out(self.decode(self.embed(target_ids, 1), self.encode(self.embed(source_ids, 0), real), real))


@misconception(TRANSLATOR, like="no_last_norm")
class no_norm_made(Translator):
    def make(self, *sizes):
        super().make(*sizes)
        self.norm = nn.Identity()


@wrong
class target_shifted(Translator):
    """A start token in front, and the last one left out: that belongs to whoever trains."""

    def answer(self, source_ids, target_ids):
        first = torch.zeros_like(target_ids[:, :1])
        return super().answer(source_ids, torch.cat([first, target_ids[:, :-1]], dim=1))


@wrong
class layers_without_dropout(Translator):
    """The decoder's; what they read is dropped."""

    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        for layer in self.layers:
            for part in layer.modules():
                if isinstance(part, nn.Dropout):
                    part.p = 0.0
                elif hasattr(part, "dropout") and isinstance(part.dropout, float):
                    part.dropout = 0.0


@misconception(TRANSLATOR, like="layers_without_dropout")
class on_either_side(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, 0.0)


@misconception(TRANSLATOR, like="dropout_not_passed_on")
class encoder_with_its_own_dropout(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, norm_first=True)


@misconception(TRANSLATOR, like="dropout_not_passed_on")
class layers_with_their_own_dropout(Translator):
    def make_layers(self, num_layers, d_model, num_heads, d_ff, dropout):
        super().make_layers(num_layers, d_model, num_heads, d_ff, dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, cross_attention=True) for _ in range(num_layers)
        )


@wrong
class mask_of_the_first_source(Translator):
    def real(self, source_ids):
        return super().real(source_ids)[:1].expand(source_ids.shape)
