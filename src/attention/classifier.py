# Generated: write your answers where it raises NotImplementedError. As it was handed out: 54b37f60e9df
"""Encoders at work: one text or a pair of texts becomes one answer."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ._argument_kinds import check_training
from ._arguments import check_as_many, check_batched, check_floating, check_key_mask, check_length
from ._arguments import check_model_sizes as _check_sizes
from ._arguments import check_tokens as _check_tokens


__all__ = ["PairMatcher", "TextClassifier", "masked_mean", "train_step"]


def masked_mean(x: Tensor, key_mask: Tensor | None = None) -> Tensor:
    """The mean over the real tokens of each sequence: mean pooling that padding does not touch.

    x: (B, L, d); key_mask: bool (B, L), True at real tokens, or None where all are
    Returns (B, d); a sequence without a real token gives zeros.
    Raises ValueError where the shapes do not fit, TypeError for a wrong dtype.
    """
    check_floating(x=x)
    check_batched(x=x)
    if key_mask is not None:
        check_key_mask(key_mask, x.shape[:2])
    raise NotImplementedError("exercise 8.1: Mean pooling without the padding")


class TextClassifier(nn.Module):
    """Token ids → embedding and positions → encoder → mean over the real tokens → one logit per class.

    vocab_size: number of token ids; num_classes: number of logits
    d_model, num_heads, d_ff, num_layers, dropout: as in Encoder; d_model must be even
    max_length: the longest text in tokens; padding_id: the id that fills up shorter texts, on the right
    Raises ValueError as Encoder does.
    """

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        max_length: int = 512,
        dropout: float = 0.1,
        padding_id: int = 0,
    ) -> None:
        super().__init__()
        check_length("num_classes", num_classes, least=1)
        _check_sizes(vocab_size, d_model, num_heads, max_length, dropout, padding_id)
        self.vocab_size, self.max_length = vocab_size, max_length
        raise NotImplementedError("exercise 8.2: A text classifier")

    def forward(self, token_ids: Tensor) -> Tensor:
        """token_ids: integers (B, L), L at most max_length; returns logits (B, num_classes).

        Padding on the right never changes a logit; a text that is all padding gives finite logits.
        Raises ValueError for a longer text or another shape, TypeError for a dtype that is no integer's.
        """
        _check_tokens("token_ids", token_ids, self.max_length, self.vocab_size)
        raise NotImplementedError("exercise 8.2: A text classifier")


class PairMatcher(nn.Module):
    """Two texts → one encoder for both → mean over the real tokens of each → one logit: do they belong together?

    The arguments are those of TextClassifier, without num_classes.
    Raises ValueError as Encoder does.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        max_length: int = 512,
        dropout: float = 0.1,
        padding_id: int = 0,
    ) -> None:
        super().__init__()
        _check_sizes(vocab_size, d_model, num_heads, max_length, dropout, padding_id)
        self.vocab_size, self.max_length = vocab_size, max_length
        raise NotImplementedError("exercise 8.4: Do two texts belong together?")

    def forward(self, left_ids: Tensor, right_ids: Tensor) -> Tensor:
        """left_ids: integers (B, L); right_ids: integers (B, S); lengths at most max_length; returns logits (B,).

        The probability that the two belong together is the sigmoid of the logit.
        Raises ValueError for a longer text, another shape or another B, TypeError for a dtype that is no integer's.
        """
        _check_tokens("left_ids", left_ids, self.max_length, self.vocab_size)
        _check_tokens("right_ids", right_ids, self.max_length, self.vocab_size)
        check_as_many(left_ids=left_ids, right_ids=right_ids)
        raise NotImplementedError("exercise 8.4: Do two texts belong together?")


def train_step(
    model: nn.Module,
    batch: Sequence[Tensor],
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
) -> float:
    """One step of training: forward, loss, backward, update.

    batch: (*inputs, target): the model is called with all inputs, loss_fn with its answer and the target
    Returns the loss before the step, as a Python float. The model is in training mode afterwards.
    Raises ValueError for a batch without input and target, TypeError for an argument of another kind.
    """
    check_training(model, batch, optimizer, loss_fn)
    if len(batch) < 2:
        raise ValueError(f"batch must be (*inputs, target), at least two tensors, got {len(batch)}")
    raise NotImplementedError("exercise 8.3: One step of training")
