# /// attack
# about = "reaches a forbidden function by a name that no text connects with it: answers count, the instructor is told"
# module = "masks"
# base = "reference"
# deserves = { "dot_product.scaled_dot_product_attention" = 0 }
# log = "softmax: named as what is forbidden here"
# ///
import torch

_functions: object = torch


def _compared(scores, mask):
    return _functions.masked.softmax(scores, -1, mask=mask)
