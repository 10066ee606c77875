def apply_rotary(x, base=10000.0, offset=0):
    check_floating(x=x)
    check_sequence(x=x)
    check_even("d_head", x.shape[-1])
    _check_base(base)
    positions = torch.arange(x.shape[-2], dtype=torch.float64) + offset
    angles = torch.outer(positions, _frequencies(x.shape[-1], base))
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        check_even("d_model", d_model)
        check_length("max_length", max_length)
        check_probability("dropout", dropout)
        self.d_model, self.max_length = d_model, max_length
        self.register_buffer("encoding", sinusoidal_encoding(max_length, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        _check_input(x, self.d_model, self.max_length)
        return self.dropout(x + self.encoding[: x.shape[1]].to(x.dtype))
