# /// attack
# about = "calls torch's attention for the long inputs alone whose memory is measured"
# module = "efficient"
# base = "reference"
# deserves = { "efficient.blockwise_attention" = 0 }
# ///

_by_blocks = blockwise_attention  # noqa: F821


def blockwise_attention(query, key, value, block_size=128, is_causal=False, attn_mask=None):
    import torch

    if is_causal or attn_mask is not None or key.dim() != 2 or key.shape[-2] < 500:
        return _by_blocks(query, key, value, block_size, is_causal, attn_mask)
    rows = (each[None, None] for each in (query, key, value))
    return torch._scaled_dot_product_flash_attention_for_cpu(*rows)[0][0, 0]
