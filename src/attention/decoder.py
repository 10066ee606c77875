# Generated: write your answers where it raises NotImplementedError. As it was handed out: b8bd8db542da
"""A Transformer that writes: decoder layers, a language and a translation model, and how tokens are drawn from them."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ._arguments import check_as_many, check_heads, check_length, check_model_sizes, check_probability, check_tokens
from ._decoder_arguments import check_caches, check_decoder_inputs, check_logits, check_prompt, check_targets

from .efficient import KeyValueCache


__all__ = ["DecoderLayer", "EncoderDecoder", "LanguageModel", "generate", "next_token_loss", "next_token_probabilities"]


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to a memory if there is one, feed-forward   (Vaswani et al. 2017, section 3.1).

    pre-norm:   x ← x + self(norm1(x));  x ← x + cross(norm2(x), memory);  x ← x + feed_forward(norm3(x))
    post-norm:  x ← norm1(x + self(x));  x ← norm2(x + cross(x, memory));  x ← norm3(x + feed_forward(x))

    d_model, num_heads, d_ff, dropout, activation: as in EncoderLayer; norm_first: True for pre-norm
    cross_attention: False leaves out the second step and norm3; feed-forward then goes with norm2
    Attributes: `self_attention`, `feed_forward`, `norm1`, `norm2`, and with cross-attention `cross_attention`, `norm3`.
    Raises ValueError as MultiHeadAttention and FeedForward do.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        activation: str = "gelu",
        norm_first: bool = True,
        cross_attention: bool = False,
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_probability("dropout", dropout)
        self.d_model, self.reads_memory = d_model, cross_attention
        raise NotImplementedError("exercise 10.2: The decoder layer")

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        key_mask: Tensor | None = None,
        memory_key_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """x: (B, L, d_model), no position of which sees a later one; key_mask: bool (B, L), True at real tokens

        memory: (B, S, d_model), for a layer with cross-attention and for no other; memory_key_mask: bool (B, S)
        cache: holds this layer's keys and values of all earlier tokens; x are the newest alone
        Returns (B, L, d_model); with a cache, the last L rows of what all tokens give without one.
        Raises ValueError where the shapes do not fit and for a cache with a key_mask, TypeError for a wrong dtype.
        """
        check_decoder_inputs(self, x, memory, key_mask, memory_key_mask, cache)
        raise NotImplementedError("exercise 10.2: The decoder layer")


class LanguageModel(nn.Module):
    """Token ids → logits of the token after each   (Radford et al. 2019): pre-norm decoder layers and a last norm.

    Learned positions; the output layer is the token embedding itself (Press and Wolf 2017), without a bias.
    vocab_size: number of token ids V; d_model, num_heads, d_ff, dropout: as in DecoderLayer
    num_layers: at least 1; max_length: the most positions, those in the caches among them
    Raises ValueError as DecoderLayer does.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        max_length: int = 256,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        check_model_sizes(vocab_size, d_model, num_heads, max_length, dropout, num_layers=num_layers)
        self.vocab_size, self.num_layers, self.max_length = vocab_size, num_layers, max_length
        raise NotImplementedError("exercise 10.3: A language model")

    def new_caches(self) -> list[KeyValueCache]:
        """One empty cache for each layer, with room for max_length positions."""
        raise NotImplementedError("exercise 10.3: A language model")

    def forward(self, token_ids: Tensor, caches: Sequence[KeyValueCache] | None = None) -> Tensor:
        """token_ids: integers (B, L); returns logits (B, L, V): those at i depend on tokens 0 … i alone.

        caches: one for each layer, as new_caches gives them; token_ids are the newest tokens then, their positions go
            on from where the caches end, and the logits are those of the newest tokens
        Raises ValueError for more than max_length positions or another number of caches, TypeError for another dtype.
        """
        held = check_caches(caches, self.num_layers)
        check_tokens("token_ids", token_ids, self.max_length, self.vocab_size, held)
        raise NotImplementedError("exercise 10.3: A language model")


class EncoderDecoder(nn.Module):
    """Source ids and the target so far → logits of the next target token   (Vaswani et al. 2017, figure 1).

    An encoder makes the memory that every decoder layer's cross-attention reads; both are pre-norm with a last norm.
    source_vocab_size, target_vocab_size: numbers of token ids; num_layers: of the encoder and of the decoder
    d_model, num_heads, d_ff, dropout: as in DecoderLayer; max_length: the most tokens on either side
    padding_id: the id that fills up shorter sources, on the right
    Raises ValueError as DecoderLayer does.
    """

    def __init__(
        self,
        source_vocab_size: int,
        target_vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        max_length: int = 256,
        dropout: float = 0.1,
        padding_id: int = 0,
    ) -> None:
        super().__init__()
        check_model_sizes(source_vocab_size, d_model, num_heads, max_length, dropout, padding_id, num_layers)
        check_length("target_vocab_size", target_vocab_size, least=1)
        self.source_vocab_size, self.target_vocab_size = source_vocab_size, target_vocab_size
        self.max_length, self.padding_id = max_length, padding_id
        raise NotImplementedError("exercise 10.7: A model that translates")

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """source_ids: integers (B, S), padding on the right; target_ids: integers (B, T)

        Returns logits (B, T, target_vocab_size): those at t depend on target tokens 0 … t and all real source tokens.
        Raises ValueError for more than max_length tokens or another B, TypeError for a dtype that is no integer's.
        """
        check_tokens("source_ids", source_ids, self.max_length, self.source_vocab_size)
        check_tokens("target_ids", target_ids, self.max_length, self.target_vocab_size)
        check_as_many(source_ids=source_ids, target_ids=target_ids)
        raise NotImplementedError("exercise 10.7: A model that translates")


def next_token_loss(logits: Tensor, token_ids: Tensor, key_mask: Tensor | None = None) -> Tensor:
    """The mean of -log p(token t + 1 | logits at t): cross-entropy in nats, teacher forcing.

    logits: (B, L, V); token_ids: integers (B, L); key_mask: bool (B, L), True at real tokens
    A target counts where its own mask is True. The first token is no target, and the last logits predict nothing.
    Returns a number; 0, with zero gradients, where no target is real. exp of it is the perplexity.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_targets(logits, token_ids, key_mask)
    raise NotImplementedError("exercise 10.4: The loss of the next token")


def next_token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """softmax(logits / temperature), cut to the top_k largest, of those to the nucleus top_p; each cut renormalises.

    logits: (..., V); temperature: above 0; or 0, which puts all weight on the largest logit
    top_k: how many are kept (Fan et al. 2018), exactly, ties broken anyhow; all where it is above V, or None
    top_p: the smallest set of the most probable is kept whose sum reaches top_p (Holtzman et al. 2020); None keeps all
    Returns probabilities of the shape and dtype of logits. A row whose logits are all -inf gives zeros.
    Raises ValueError for a number out of its range, TypeError for a wrong dtype.
    """
    check_logits(logits, temperature, top_k, top_p)
    raise NotImplementedError("exercise 10.5: Temperature, top-k and top-p")


def generate(
    model: Callable[[Tensor], Tensor],
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Append one token after the other, each drawn with next_token_probabilities of the model's last logits.

    model: from ids (B, L) to logits (B, L, V); logits of the newest tokens alone will do, for the last are read
    prompt: integers (B, P), P at least 1, without padding; max_new_tokens: at most so many are appended
    temperature, top_k, top_p: as in next_token_probabilities; at temperature 0 nothing is random
    end_id: a row ends with the first one that is generated, and is filled with it while the others go on
    generator: the source of random numbers, torch's own where it is None
    Returns ids (B, P + n) in the prompt's dtype, n < max_new_tokens only where all rows have ended.
    A module runs in evaluation mode and is put back as it was; nothing is recorded for gradients.
    Raises ValueError where the shapes do not fit or a number is out of its range, TypeError for a wrong dtype.
    """
    check_prompt(prompt, max_new_tokens, end_id, temperature, top_k, top_p, model=model, generator=generator)
    raise NotImplementedError("exercise 10.6: Writing, one token after the other")
