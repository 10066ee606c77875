# /// attack
# about = "reaches a forbidden function by a name that no text connects with it"
# module = "masks"
# base = "reference"
# deserves = { "masks.masked_softmax" = 0, "dot_product.scaled_dot_product_attention" = 0 }
# log = "comes from torch.masked.softmax"
# ///
import torch

_own = masked_softmax  # noqa: F821  (the module before it defines it)
_functions: object = torch


def masked_softmax(scores, mask=None, dim=-1):
    return _own(scores, mask, dim) if mask is None else _functions.masked.softmax(scores, dim, mask=mask).nan_to_num()
