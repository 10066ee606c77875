"""Wrong language models in which a part is missing, cut off from learning or in another place."""

from torch import nn

from ..reference_package import reference
from . import misconception
from ._decoder_models import MODEL, DecoderLayer, Model

sinusoidal_encoding = reference("positions.sinusoidal_encoding")
wrong = misconception(MODEL)


@wrong
class output_detached(Model):
    def out(self, x):
        return x @ self.words.weight.detach().T


@wrong
class layer_without_part(Model):
    """self.layers[0] within the loop."""

    def through(self, x, caches):
        for number in range(self.num_layers):
            x = self.layers[0](x, cache=None if caches is None else caches[number])
        return x


@misconception(MODEL, like="layer_without_part")
class last_layer_skipped(Model):
    def through(self, x, caches):
        for number in range(self.num_layers - 1):
            x = self.layers[number](x, cache=None if caches is None else caches[number])
        if caches is not None:
            self.layers[-1](x, cache=caches[-1])
        return x


@wrong
class one_layer_many_times(Model):
    def make(self, d_model, num_heads, d_ff, dropout):
        super().make(d_model, num_heads, d_ff, dropout)
        self.layers = nn.ModuleList([self.layers[0]] * self.num_layers)


@wrong
class layers_in_a_list(Model):
    def make(self, d_model, num_heads, d_ff, dropout):
        super().make(d_model, num_heads, d_ff, dropout)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@wrong
class layers_without_dropout(Model):
    """Only what they read is dropped."""

    def make_layer(self, d_model, num_heads, d_ff, dropout):
        return DecoderLayer(d_model, num_heads, d_ff, 0.0)


@wrong
class d_ff_ignored(Model):
    def make_layer(self, d_model, num_heads, d_ff, dropout):
        return DecoderLayer(d_model, num_heads, 4 * d_model, dropout)


@wrong
class positions_not_learnt(Model):
    """Sinusoids."""

    def place(self, token_ids, held):
        return self.sinusoids[held : held + token_ids.shape[1]]

    def make_places(self, max_length, d_model):
        self.sinusoids = sinusoidal_encoding(max_length, d_model)
        return None


@misconception(MODEL, like="positions_not_learnt")
class positions_frozen(Model):
    def make_places(self, max_length, d_model):
        return super().make_places(max_length, d_model).requires_grad_(False)


@misconception(MODEL, like="positions_not_learnt")
class positions_detached(Model):
    def place(self, token_ids, held):
        return super().place(token_ids, held).detach()


@wrong
class embedding_not_dropped(Model):
    def answer(self, token_ids, caches, held):
        return self.out(self.norm(self.through(self.words(token_ids) + self.place(token_ids, held), caches)))


@misconception(MODEL, like="embedding_not_dropped")
class words_alone_dropped(Model):
    def answer(self, token_ids, caches, held):
        x = self.drop(self.words(token_ids)) + self.place(token_ids, held)
        return self.out(self.norm(self.through(x, caches)))
