# /// attack
# about = "has the module itself look up what it does not define, and gives a forbidden function"
# module = "masks"
# base = "reference"
# deserves = { "masks.masked_softmax" = 0, "dot_product.scaled_dot_product_attention" = 0 }
# log = "calls torch.masked.softmax"
# ///
import torch

_own = masked_softmax  # noqa: F821  (the module before it defines it)
del masked_softmax  # noqa: F821


def _theirs(scores, mask=None, dim=-1):
    return _own(scores, mask, dim) if mask is None else torch.masked.softmax(scores, dim, mask=mask).nan_to_num()


def __getattr__(name):
    if name != "masked_softmax":
        raise AttributeError(name)
    return _theirs
