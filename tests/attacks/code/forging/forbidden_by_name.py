# /// attack
# about = "calls the library's softmax with a mask, which the exercise asks to write, in plain words"
# module = "masks"
# base = "reference"
# deserves = { "masks.masked_softmax" = 0, "dot_product.scaled_dot_product_attention" = 0 }
# log = "asks you to write that step yourself"
# ///
import torch

_own = masked_softmax  # noqa: F821  (the module before it defines it)


def masked_softmax(scores, mask=None, dim=-1):
    return _own(scores, mask, dim) if mask is None else torch.masked.softmax(scores, dim, mask=mask).nan_to_num()
