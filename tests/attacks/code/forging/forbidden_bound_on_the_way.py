# /// attack
# about = "gives an exercise's name to a forbidden function inside other statements: a pattern, a global of a class"
# module = "masks"
# base = "reference"
# deserves = { "masks.masked_softmax" = 0, "dot_product.scaled_dot_product_attention" = 0 }
# log = "calls torch.masked.softmax"
# ///
import torch

_own = masked_softmax  # noqa: F821  (the module before it defines it)


def _theirs(scores, mask=None, dim=-1):
    return _own(scores, mask, dim) if mask is None else torch.masked.softmax(scores, dim, mask=mask).nan_to_num()


match (_own, _theirs):
    case (_, masked_softmax):
        pass


class _Giver:
    global masked_softmax
    masked_softmax = masked_softmax
