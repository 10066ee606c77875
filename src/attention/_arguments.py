# Generated: given, with nothing to write in it. As it was handed out: c93c195596b0
"""Argument checks that the torch modules share: given to learners, no part of any exercise."""

import numbers
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn


def check_floating(**tensors: Tensor) -> None:
    """TypeError unless all are floating-point tensors of one dtype."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}; try torch.tensor({name})")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must have a floating-point dtype, got {tensor.dtype}; try {name}.float()")
    dtypes = {name: tensor.dtype for name, tensor in tensors.items()}
    if len(set(dtypes.values())) > 1:
        listed = ", ".join(f"{name} {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"all arguments must have one dtype, got {listed}; convert them with .to(dtype)")


def check_sequence(**tensors: Tensor) -> None:
    """ValueError unless each has at least the two axes (length, features)."""
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            raise ValueError(f"{name} must be (..., length, features), got shape {tuple(tensor.shape)}; unsqueeze(0)?")


def check_same_width(query: Tensor, key: Tensor) -> None:
    """ValueError unless query and key have the same, non-empty, last dimension."""
    if query.shape[-1] != key.shape[-1] or query.shape[-1] == 0:
        raise ValueError(
            "query and key must have the same last dimension, at least 1, "
            f"got shapes {tuple(query.shape)} and {tuple(key.shape)}"
        )


def check_batch(**tensors: Tensor) -> torch.Size:
    """The common leading dimensions `...` of (..., length, features); ValueError where they do not broadcast."""
    first, *others = (tensor.shape[:-2] for tensor in tensors.values())
    if all(other == first for other in others):
        return first
    try:
        return torch.broadcast_shapes(first, *others)
    except RuntimeError:
        listed = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"the leading dimensions must be equal or broadcast, got {listed}") from None


def check_mask(name: str, mask: Tensor, shape: tuple[int, ...]) -> None:
    """TypeError unless mask is boolean; ValueError unless it broadcasts to shape without enlarging it."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be a boolean tensor, True = attend, got {came}; an additive mask is not one")
    lengths = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or not all(own in (1, length) for own, length in lengths):
        raise ValueError(
            f"{name} must broadcast to {tuple(shape)}, got {tuple(mask.shape)}; transpose it, or add axes?"
        )


def check_integers(name: str, tensor: Tensor, dimensions: int | None, below: int | None = None) -> None:
    """TypeError unless tensor holds integers; ValueError unless it has that many axes, and only ids 0 … below - 1.

    The ids are looked at where that costs little: not on a GPU, in a graph or under torch.vmap.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be an integer tensor, got {type(tensor).__name__}; try torch.tensor({name})")
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise TypeError(f"{name} must have an integer dtype, got {tensor.dtype}; try {name}.long()")
    if dimensions is not None and tensor.dim() != dimensions:
        raise ValueError(f"{name} must have {dimensions} axes, got shape {tuple(tensor.shape)}")
    if below is None or tensor.numel() == 0 or tensor.device.type != "cpu" or torch.compiler.is_compiling():
        return
    try:
        lowest, highest = int(tensor.min()), int(tensor.max())
    except RuntimeError:  # torch.vmap has no single lowest
        return
    if not 0 <= lowest <= highest < below:
        came = lowest if lowest < 0 else highest
        raise ValueError(f"{name} must lie between 0 and {below - 1}, the ids of the vocabulary, got {came}")


def check_id(name: str, value: int, below: int) -> None:
    """TypeError unless value is an int; ValueError unless it is one of the ids 0 … below - 1."""
    check_whole(name, value)
    if not 0 <= value < below:
        raise ValueError(f"{name} must be a token id between 0 and {below - 1}, got {value}")


def check_tokens(name: str, token_ids: Tensor, max_length: int, vocab_size: int | None = None, held: int = 0) -> None:
    """TypeError unless token_ids holds integers; ValueError unless (B, L), ids of the vocabulary, not too long.

    held: how many tokens before these count towards max_length as well
    """
    check_integers(name, token_ids, dimensions=2, below=vocab_size)
    if held + token_ids.shape[1] > max_length:
        after = f" after {held} others" if held else ""
        raise ValueError(
            f"{name} must have at most max_length = {max_length} tokens, got {token_ids.shape[1]}{after}; cut them, or "
            "make the model with a larger max_length"
        )


def check_as_many(**token_ids: Tensor) -> None:
    """ValueError unless all have the same number of rows."""
    if len({len(ids) for ids in token_ids.values()}) > 1:
        shapes = " and ".join(str(tuple(ids.shape)) for ids in token_ids.values())
        raise ValueError(f"{' and '.join(token_ids)} must be as many, got {shapes}")


def check_model_sizes(
    vocab_size: int,
    d_model: int,
    num_heads: int,
    max_length: int,
    dropout: float,
    padding_id: int = 0,
    num_layers: int = 1,
) -> None:
    """TypeError or ValueError unless a model on token ids can be made with these sizes."""
    check_length("vocab_size", vocab_size, least=1)
    check_id("padding_id", padding_id, vocab_size)
    check_length("max_length", max_length, least=1)
    check_length("num_layers", num_layers, least=1)
    check_heads(d_model, num_heads)
    check_probability("dropout", dropout)


def check_length(name: str, value: int, least: int = 0) -> None:
    """TypeError unless value is an int; ValueError where it is below least."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def check_whole(name: str, value: object) -> None:
    """TypeError unless value is a whole number: Python's, NumPy's, of a traced shape, or a tensor of one integer."""
    if isinstance(value, Tensor):
        fits = (
            value.numel() == 1 and value.dtype != torch.bool and not (value.is_floating_point() or value.is_complex())
        )
    else:
        fits = isinstance(value, (numbers.Integral, torch.SymInt)) and not isinstance(value, bool)
    if not fits:
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {value!r}")


def check_batched(**tensors: Tensor) -> None:
    """ValueError unless each has exactly the three axes (B, length, d_model)."""
    for name, tensor in tensors.items():
        if tensor.dim() != 3:
            raise ValueError(f"{name} must be (B, length, d_model), got shape {tuple(tensor.shape)}; unsqueeze(0)?")


def check_heads(d_model: int, num_heads: int) -> None:
    """TypeError unless both are ints of at least 1; ValueError unless num_heads divides d_model."""
    check_length("d_model", d_model, least=1)
    check_length("num_heads", num_heads, least=1)
    if d_model % num_heads:
        raise ValueError(
            f"num_heads must divide d_model, got d_model {d_model} and num_heads {num_heads}: the features are shared "
            "out among the heads evenly"
        )


def check_same_attention(module: nn.Module, reference: nn.MultiheadAttention) -> None:
    """ValueError where torch's layer has another number of heads, or keys of its own: weights alone would not do."""
    num_heads = getattr(module, "num_heads", reference.num_heads)
    if num_heads != reference.num_heads:
        raise ValueError(f"module must have as many heads as reference, {reference.num_heads} heads, got {num_heads}")
    if reference.bias_k is not None or reference.add_zero_attn:
        raise ValueError("reference must attend to its keys alone; make it without add_bias_kv and add_zero_attn")


def checked_axis(dim: int, scores: Tensor) -> int:
    """dim as an int; TypeError unless it is a whole number, ValueError unless scores have that axis."""
    check_whole("dim", dim)
    axes = max(scores.dim(), 1)
    if not -axes <= dim < axes:
        raise ValueError(f"dim must be an axis of scores {tuple(scores.shape)}, from {-axes} to {axes - 1}, got {dim}")
    return int(dim)


def check_even(name: str, width: int) -> None:
    """TypeError unless width is an int; ValueError unless it is even and at least 2."""
    check_length(name, width, least=1)
    if width % 2:
        raise ValueError(f"{name} must be even, for its columns come in pairs of a sine and a cosine, got {width}")


def check_number(name: str, value: object) -> None:
    """TypeError unless value is a number: Python's, NumPy's, of a traced graph, or a tensor of one."""
    if isinstance(value, Tensor):
        fits = value.numel() == 1
    else:
        fits = isinstance(value, (numbers.Real, torch.SymFloat, torch.SymInt))
    if not fits:
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")


def check_flag(name: str, value: object) -> None:
    """TypeError unless value is True or False, NumPy's, 0 or 1: a text would count as True."""
    if isinstance(value, str) or value not in (True, False):
        raise TypeError(f"{name} must be True or False, got {type(value).__name__} {value!r}")


def check_probability(name: str, value: float) -> None:
    """TypeError unless value is a number; ValueError unless it lies between 0 and 1."""
    check_number(name, value)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must be a probability between 0 and 1, got {value}")


def check_key_mask(key_mask: Tensor, shape: tuple[int, ...], name: str = "key_mask") -> None:
    """TypeError unless key_mask is boolean; ValueError unless its shape is (B, S), nothing broadcast."""
    check_mask(name, key_mask, tuple(shape))
    if tuple(key_mask.shape) != tuple(shape):
        raise ValueError(f"{name} must be (B, S) = {tuple(shape)}, got {tuple(key_mask.shape)}")


def check_width(module: nn.Module, width: int, **tensors: Tensor) -> None:
    """ValueError unless the last dimension of each is width; TypeError unless its dtype is that of the module.

    (Under autocast torch converts by itself, and dtypes may differ.)
    """
    own = next((parameter.dtype for parameter in module.parameters()), None)
    for name, tensor in tensors.items():
        if tensor.shape[-1:] != (width,):
            came = tensor.shape[-1] if tensor.dim() else "a single number"
            raise ValueError(f"{name} must have {width} features, the width the module was made for, got {came}")
        if own is not None and tensor.dtype != own and not torch.is_autocast_enabled(tensor.device.type):
            raise TypeError(
                f"{name} must have the module's dtype {own}, got {tensor.dtype}; convert it with .to({own})"
            )


def checked_chunks(chunks: Iterable[Tensor]) -> Iterator[Tensor]:
    """The chunks one after the other, each checked as it comes; ValueError or TypeError where one does not fit.

    An empty chunk adds nothing and is passed over.
    """
    first, some = None, False
    try:
        numbered = enumerate(chunks)
    except TypeError:
        raise TypeError(f"chunks must be a list of tensors, or give them one by one, got {chunks!r}") from None
    for number, chunk in numbered:
        check_floating(**{f"chunk {number}": chunk})
        if chunk.dim() == 0:
            raise ValueError(f"chunk {number} must be (..., S_i), got a single number")
        first = chunk if first is None else first
        check_floating(**{"chunk 0": first, f"chunk {number}": chunk})
        if chunk.shape[:-1] != first.shape[:-1]:
            raise ValueError(
                f"every chunk must be like the first but for its last axis, {tuple(first.shape)}, "
                f"got {tuple(chunk.shape)} for chunk {number}"
            )
        if chunk.shape[-1]:
            some = True
            yield chunk
    if not some:
        raise ValueError("chunks must hold at least one score, got none")


def check_partials(**partials: tuple[Tensor, Tensor, Tensor]) -> None:
    """TypeError unless each is a triple of tensors of one floating dtype; ValueError unless their shapes fit."""
    for name, triple in partials.items():
        if not isinstance(triple, (tuple, list)) or len(triple) != 3:
            raise TypeError(f"{name} must be a triple (maximum, total, summed), got {type(triple).__name__}")
        check_floating(**{f"{name}[{number}]": part for number, part in enumerate(triple)})
        maximum, total, summed = triple
        if maximum.shape != total.shape or summed.dim() == 0 or summed.shape[:-1] != maximum.shape:
            shapes = ", ".join(str(tuple(part.shape)) for part in triple)
            raise ValueError(f"{name} must be of the shapes (...,), (...,) and (..., d), got {shapes}")
    check_floating(**{name: triple[2] for name, triple in partials.items()})
    widths = {name: tuple(triple[2].shape) for name, triple in partials.items()}
    if len(set(widths.values())) > 1:
        listed = ", ".join(f"{name} {width}" for name, width in widths.items())
        raise ValueError(f"both parts must be about the same queries and values, got summed of {listed}")


def check_backward(
    query: Tensor, key: Tensor, value: Tensor, output: Tensor, log_sums: Tensor, upstream: Tensor
) -> None:
    """TypeError unless all are floating, and but for log_sums of one dtype; ValueError unless their shapes fit."""
    check_floating(query=query, key=key, value=value, output=output, upstream=upstream)
    check_floating(log_sums=log_sums)
    check_sequence(query=query, key=key, value=value)
    check_same_width(query, key)
    (*lead, length, _), keys, d_v = query.shape, key.shape[-2], value.shape[-1]
    due = {"key": (key, (*lead, keys, key.shape[-1])), "value": (value, (*lead, keys, d_v))}
    due |= {"output": (output, (*lead, length, d_v)), "upstream": (upstream, (*lead, length, d_v))}
    for name, (tensor, shape) in (due | {"log_sums": (log_sums, (*lead, length))}).items():
        if tuple(tensor.shape) != shape:
            raise ValueError(
                f"{name} must be of shape {shape} beside a query {tuple(query.shape)}, got {tuple(tensor.shape)}"
            )
