"""Wrong padding masks that lie on the CPU, wherever the lengths lie."""

import torch

from . import misconception
from ._given import behind_given_checks, refuse_bad_arguments
from ._mask_loops import PADDING, real_tokens


@behind_given_checks(PADDING)
def device_of_lengths_ignored(lengths, max_length=None):
    max_length = int(lengths.max()) if max_length is None else max_length
    return torch.arange(max_length) < lengths.unsqueeze(-1)


@misconception(PADDING, like="device_of_lengths_ignored")
def filled_in_on_the_cpu(lengths, max_length=None):
    refuse_bad_arguments(PADDING, lengths, max_length)
    return real_tokens(lengths, max_length).cpu()


def _on_the_cpu(like, change):
    """Another form of a misconception about the dtype: the device is ignored as well."""

    @misconception(PADDING, like=like)
    def on_the_cpu(lengths, max_length=None):
        refuse_bad_arguments(PADDING, lengths, max_length)
        max_length = int(lengths.max()) if max_length is None else max_length
        return change(torch.arange(max_length) < lengths.unsqueeze(-1))


_on_the_cpu("ones_and_zeros", torch.Tensor.long)
_on_the_cpu("floats_for_booleans", torch.Tensor.float)
_on_the_cpu("small_integers_for_booleans", torch.Tensor.int)
