# /// attack
# about = "calls the library's attention, which the exercise asks to write, in plain words"
# module = "dot_product"
# base = "reference"
# deserves = 0
# log = "asks you to write that step yourself"
# ///
import torch


def scaled_dot_product_attention(query, key, value, mask=None, *, is_causal=False, scale=None, return_weights=False):
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=is_causal)
