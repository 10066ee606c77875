"""The given lines of the decoder's stubs, in front of what a right or a wrong answer makes and answers."""

from torch import nn

from ..reference_package import reference_module

arguments, given = reference_module("_arguments"), reference_module("_decoder_arguments")


class Decoding(nn.Module):
    """What a learner's DecoderLayer is handed; `make` and `answer` are the learner's."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, activation="gelu", norm_first=True, cross_attention=False
    ):
        super().__init__()
        arguments.check_heads(d_model, num_heads)
        arguments.check_probability("dropout", dropout)
        self.d_model, self.reads_memory = d_model, cross_attention
        self.make(d_model, num_heads, d_ff, dropout, activation, norm_first, cross_attention)

    def forward(self, x, memory=None, key_mask=None, memory_key_mask=None, cache=None):
        given.check_decoder_inputs(self, x, memory, key_mask, memory_key_mask, cache)
        return self.answer(x, memory, key_mask, memory_key_mask, cache)


class Modelling(nn.Module):
    """What a learner's LanguageModel is handed."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length=256, dropout=0.1):
        super().__init__()
        arguments.check_model_sizes(vocab_size, d_model, num_heads, max_length, dropout, num_layers=num_layers)
        self.vocab_size, self.num_layers, self.max_length = vocab_size, num_layers, max_length
        self.make(d_model, num_heads, d_ff, dropout)

    def forward(self, token_ids, caches=None):
        held = given.check_caches(caches, self.num_layers)
        arguments.check_tokens("token_ids", token_ids, self.max_length, self.vocab_size, held)
        return self.answer(token_ids, caches, held)


class Translating(nn.Module):
    """What a learner's EncoderDecoder is handed."""

    def __init__(
        self,
        source_vocab_size,
        target_vocab_size,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        max_length=256,
        dropout=0.1,
        padding_id=0,
    ):
        super().__init__()
        sizes = max_length, dropout, padding_id, num_layers
        arguments.check_model_sizes(source_vocab_size, d_model, num_heads, *sizes)
        arguments.check_length("target_vocab_size", target_vocab_size, least=1)
        self.source_vocab_size, self.target_vocab_size = source_vocab_size, target_vocab_size
        self.max_length, self.padding_id = max_length, padding_id
        self.make(d_model, num_heads, d_ff, num_layers, dropout)

    def forward(self, source_ids, target_ids):
        arguments.check_tokens("source_ids", source_ids, self.max_length, self.source_vocab_size)
        arguments.check_tokens("target_ids", target_ids, self.max_length, self.target_vocab_size)
        arguments.check_as_many(source_ids=source_ids, target_ids=target_ids)
        return self.answer(source_ids, target_ids)
