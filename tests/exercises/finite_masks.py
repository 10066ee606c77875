"""Answers that hide a score behind a number in place of -inf, and are right in all else."""

import contextlib
import functools
import math

import torch

from autograder.answer_key.reference_package import reference, reference_module

#: What people write for minus infinity; None stands for the smallest number of the dtype.
NUMBERS = (-1e4, -1e9, None)
MASKING_MODULES = ("masks", "dot_product", "sequence_to_sequence")  # of the reference: these call masked_softmax


def of_dtype(number, dtype):
    """The number in a dtype, which may be too narrow for it."""
    if number == -math.inf:
        return number
    smallest = torch.finfo(dtype).min
    return smallest if number is None else max(number, smallest)


def softmax_over(number):
    """masked_softmax with the number as the score of whatever is hidden; fully masked rows are looked after."""

    def masked_softmax(scores, mask=None, dim=-1):
        seen = scores != -torch.inf if mask is None else (scores != -torch.inf) & mask
        some = seen.any(dim=dim, keepdim=True)
        scores = scores.masked_fill(~seen, of_dtype(number, scores.dtype)).where(some, 0.0)
        return torch.softmax(scores, dim=dim) * some

    return masked_softmax


@contextlib.contextmanager
def every_softmax_over(number):
    """Within it the reference's modules hide scores behind the number."""
    modules = [reference_module(name) for name in MASKING_MODULES]
    kept = modules[0].masked_softmax
    try:
        for module in modules:
            module.masked_softmax = softmax_over(number)
        yield
    finally:
        for module in modules:
            module.masked_softmax = kept


def reference_over(exercise, number):
    """The reference, whose parts hide scores behind the number."""
    answer = reference(exercise.id)
    if isinstance(answer, type):

        class Over(answer):
            def forward(self, *arguments, **options):
                with every_softmax_over(number):
                    return super().forward(*arguments, **options)

        return Over

    @functools.wraps(answer)
    def over(*arguments, **options):
        with every_softmax_over(number):
            return answer(*arguments, **options)

    return over


def masked_softmax_over(exercise, number):
    """masked_softmax itself."""
    return softmax_over(number)


def additive_over(exercise, number):
    """to_additive that adds the number where a mask is False."""

    def to_additive(mask, dtype=torch.float32):
        return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, of_dtype(number, dtype))

    return to_additive


def online_over(exercise, number):
    """online_softmax whose largest score so far begins with the number."""

    def online_softmax(chunks):
        chunks = list(chunks)
        start = of_dtype(number, chunks[0].dtype)
        largest = torch.full_like(chunks[0][..., :1], start)
        total = torch.zeros_like(largest)
        for chunk in chunks:
            new = torch.maximum(largest, chunk.detach().amax(dim=-1, keepdim=True))
            safe = new.where(new != -torch.inf, 0.0)
            total = total * torch.exp(largest - safe) + torch.exp(chunk - safe).sum(dim=-1, keepdim=True)
            largest = new
        some, safe = total > 0, largest.where(largest != -torch.inf, 0.0)
        return torch.cat([torch.exp(chunk - safe) / total.where(some, 1.0) for chunk in chunks], dim=-1)

    return online_softmax


def blockwise_over(exercise, number):
    """blockwise_attention that hides scores behind the number, block by block."""

    def blockwise_attention(query, key, value, block_size=128, is_causal=False, attn_mask=None):
        wide = torch.promote_types(query.dtype, torch.float32)
        scores = query.to(wide) @ key.to(wide).mT / math.sqrt(query.shape[-1])
        scores = scores.expand(*torch.broadcast_shapes(scores.shape[:-2], value.shape[:-2]), -1, -1)
        seen = torch.ones_like(scores, dtype=torch.bool)
        if is_causal:
            seen = seen.tril(key.shape[-2] - query.shape[-2])
        if attn_mask is not None:
            seen = seen & attn_mask
        some = seen.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~seen, of_dtype(number, wide)).where(some, 0.0)
        largest, total, summed = -math.inf, 0.0, 0.0
        for start in range(0, key.shape[-2], block_size):
            block = scores[..., start : start + block_size]
            new = torch.maximum(torch.as_tensor(largest, dtype=wide), block.amax(dim=-1, keepdim=True))
            safe = new.where(new != -torch.inf, 0.0)
            part, shrink = torch.exp(block - safe), torch.exp(largest - safe)
            total = total * shrink + part.sum(dim=-1, keepdim=True)
            summed = summed * shrink + part @ value[..., start : start + block_size, :].to(wide)
            largest = new
        return (summed / total * some).to(query.dtype)

    return blockwise_attention


def merge_over(exercise, number):
    """merge_partials that takes the number, or less, for the maximum of a part without a key."""

    def merge_partials(first, second):
        maximum = torch.maximum(first[0], second[0])
        shift = maximum.clamp(min=of_dtype(number, maximum.dtype))
        shift = shift.where(shift != -torch.inf, 0.0)
        parts = [
            (torch.exp(part[0] - shift) * (part[0] > of_dtype(number, maximum.dtype)), part[1], part[2])
            for part in (first, second)
        ]
        total = sum(share * part for share, part, _ in parts)
        return maximum, total, sum(share[..., None] * part for share, _, part in parts)

    return merge_partials


def cut_over(exercise, number):
    """next_token_probabilities that gives the number to each logit that top_k or top_p leaves out."""

    def next_token_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
        if temperature == 0:
            temperature, top_k = 1.0, 1
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
        some = (wide != -torch.inf).any(dim=-1, keepdim=True)
        ordered, order = (wide / temperature).sort(dim=-1, descending=True)
        out, softmax = of_dtype(number, wide.dtype), softmax_over(-math.inf)
        if top_k is not None:
            ordered = ordered.where(torch.arange(ordered.shape[-1]) < top_k, out)
        if top_p is not None and top_p < 1:
            shares = softmax(ordered)
            ordered = ordered.where(shares.cumsum(dim=-1) - shares < top_p, out)
        return torch.zeros_like(wide).scatter(-1, order, softmax(ordered) * some).to(logits.dtype)

    return next_token_probabilities
