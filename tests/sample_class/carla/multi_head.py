def split_heads(x, num_heads):
    check_floating(x=x)
    check_batched(x=x)
    check_heads(x.shape[-1], num_heads)
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, length, d_model // num_heads)
