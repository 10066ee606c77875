"""A Transformer that writes: decoder layers, a language and a translation model, and how tokens are drawn from them."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ._arguments import check_as_many, check_heads, check_length, check_model_sizes, check_probability, check_tokens
from ._decoder_arguments import check_caches, check_decoder_inputs, check_logits, check_prompt, check_targets

# solution: begin (drop)
from ._decoder_parts import LearnedEmbedding, attend_with_cache, drawn, evaluation, last_logits, renormalised, widened

# solution: end
from .efficient import KeyValueCache

# solution: begin (drop)
from .encoder import Encoder, FeedForward
from .masks import causal_mask, masked_softmax
from .multi_head import MultiHeadAttention

# solution: end

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
        # solution: begin
        self.norm_first = norm_first
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        if cross_attention:
            self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
            self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        # solution: end

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
        # solution: begin
        feed_norm = self.norm2 if memory is None else self.norm3
        if self.norm_first:
            x = x + self._look_back(self.norm1(x), key_mask, cache)
            if memory is not None:
                x = x + self._look_up(self.norm2(x), memory, memory_key_mask)
            return x + self.dropout(self.feed_forward(feed_norm(x)))
        x = self.norm1(x + self._look_back(x, key_mask, cache))
        if memory is not None:
            x = self.norm2(x + self._look_up(x, memory, memory_key_mask))
        return feed_norm(x + self.dropout(self.feed_forward(x)))
        # solution: end

    # solution: begin (drop)
    def _look_back(self, x: Tensor, key_mask: Tensor | None, cache: KeyValueCache | None) -> Tensor:
        """Causal self-attention; with a cache x are the newest tokens, which see what is kept as well."""
        if cache is not None:
            rate = self.dropout.p if self.training else 0.0
            return self.dropout(attend_with_cache(self.self_attention, x, cache, rate))
        mask = causal_mask(x.shape[1], device=x.device)
        return self.dropout(self.self_attention(x, x, x, mask, key_mask, need_weights=False)[0])

    def _look_up(self, x: Tensor, memory: Tensor, memory_key_mask: Tensor | None) -> Tensor:
        """Cross-attention: queries from x, keys and values from the memory, all of which may be seen."""
        return self.dropout(self.cross_attention(x, memory, memory, key_mask=memory_key_mask, need_weights=False)[0])

    # solution: end


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
        # solution: begin
        self.embedding = LearnedEmbedding(vocab_size, d_model, max_length, dropout)
        self.layers = nn.ModuleList(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.final_norm = nn.LayerNorm(d_model)
        # solution: end

    def new_caches(self) -> list[KeyValueCache]:
        """One empty cache for each layer, with room for max_length positions."""
        # solution: begin
        return [KeyValueCache(self.max_length) for _ in self.layers]
        # solution: end

    def forward(self, token_ids: Tensor, caches: Sequence[KeyValueCache] | None = None) -> Tensor:
        """token_ids: integers (B, L); returns logits (B, L, V): those at i depend on tokens 0 … i alone.

        caches: one for each layer, as new_caches gives them; token_ids are the newest tokens then, their positions go
            on from where the caches end, and the logits are those of the newest tokens
        Raises ValueError for more than max_length positions or another number of caches, TypeError for another dtype.
        """
        held = check_caches(caches, self.num_layers)
        check_tokens("token_ids", token_ids, self.max_length, self.vocab_size, held)
        # solution: begin
        x = self.embedding(token_ids, held)  # (B, L, d_model)
        for number, layer in enumerate(self.layers):
            x = layer(x, cache=None if caches is None else caches[number])
        return self.embedding.logits(self.final_norm(x))
        # solution: end


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
        # solution: begin
        self.source_embedding = LearnedEmbedding(source_vocab_size, d_model, max_length, dropout)
        self.target_embedding = LearnedEmbedding(target_vocab_size, d_model, max_length, dropout)
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, "gelu", norm_first=True)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, cross_attention=True) for _ in range(num_layers)
        )
        self.final_norm = nn.LayerNorm(d_model)
        # solution: end

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """source_ids: integers (B, S), padding on the right; target_ids: integers (B, T)

        Returns logits (B, T, target_vocab_size): those at t depend on target tokens 0 … t and all real source tokens.
        Raises ValueError for more than max_length tokens or another B, TypeError for a dtype that is no integer's.
        """
        check_tokens("source_ids", source_ids, self.max_length, self.source_vocab_size)
        check_tokens("target_ids", target_ids, self.max_length, self.target_vocab_size)
        check_as_many(source_ids=source_ids, target_ids=target_ids)
        # solution: begin
        source_mask = source_ids != self.padding_id  # (B, S)
        memory = self.encoder(self.source_embedding(source_ids), key_mask=source_mask)  # (B, S, d_model)
        x = self.target_embedding(target_ids)  # (B, T, d_model)
        for layer in self.layers:
            x = layer(x, memory, memory_key_mask=source_mask)
        return self.target_embedding.logits(self.final_norm(x))
        # solution: end


def next_token_loss(logits: Tensor, token_ids: Tensor, key_mask: Tensor | None = None) -> Tensor:
    """The mean of -log p(token t + 1 | logits at t): cross-entropy in nats, teacher forcing.

    logits: (B, L, V); token_ids: integers (B, L); key_mask: bool (B, L), True at real tokens
    A target counts where its own mask is True. The first token is no target, and the last logits predict nothing.
    Returns a number; 0, with zero gradients, where no target is real. exp of it is the perplexity.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_targets(logits, token_ids, key_mask)
    # solution: begin
    targets = token_ids[:, 1:].long().unsqueeze(-1)  # (B, L - 1, 1)
    real = torch.ones_like(targets, dtype=torch.bool) if key_mask is None else key_mask[:, 1:].unsqueeze(-1)
    predicted = logits[:, :-1].where(real, 0.0)  # what stands at padding has no influence, not even a NaN
    log_probabilities = torch.log_softmax(widened(predicted), dim=-1)
    losses = -log_probabilities.gather(-1, targets).where(real, 0.0)
    return (losses.sum() / real.sum().clamp(min=1)).to(logits.dtype)
    # solution: end


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
    # solution: begin
    wide = widened(logits)
    ordered, token_ids = wide.sort(dim=-1, descending=True)  # (..., V), the most probable first
    if temperature == 0:
        temperature, top_k = 1.0, 1
    largest = ordered[..., :1].clamp(min=torch.finfo(wide.dtype).min)  # at a small temperature none overflows
    ordered = masked_softmax((ordered - largest) / temperature)
    if top_k is not None:
        ordered = renormalised(ordered, torch.arange(ordered.shape[-1], device=logits.device) < top_k)
    if top_p is not None and top_p < 1:
        before = ordered.cumsum(dim=-1) - ordered  # the sum of all that are more probable
        ordered = renormalised(ordered, before < top_p)
    return torch.zeros_like(wide).scatter(-1, token_ids, ordered).to(logits.dtype)
    # solution: end


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
    # solution: begin
    ended = torch.zeros_like(prompt[:, :1], dtype=torch.bool)
    with torch.no_grad(), evaluation(model):
        for _ in range(max_new_tokens):
            last = last_logits(model(prompt), len(prompt))  # (B, V)
            probabilities = next_token_probabilities(last, temperature, top_k, top_p)
            new = probabilities.argmax(-1, True) if temperature == 0 else drawn(probabilities, generator)  # (B, 1)
            if end_id is not None:
                new = new.where(~ended, end_id)
                ended = ended | (new == end_id)
            prompt = torch.cat([prompt, new.to(prompt.dtype)], dim=1)
            if end_id is not None and ended.all():
                break
    return prompt
    # solution: end
