def sinusoidal_encoding(max_length, d_model, base=10000.0):
    check_length("max_length", max_length)
    check_even("d_model", d_model)
    _check_base(base)
    table = torch.zeros(max_length, d_model)
    place = torch.arange(1, max_length + 1).unsqueeze(1)
    speed = base ** (-torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = torch.sin(place * speed)
    table[:, 1::2] = torch.cos(place * speed)
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        check_even("d_model", d_model)
        check_length("max_length", max_length)
        check_probability("dropout", dropout)
        self.d_model, self.max_length = d_model, max_length
        self.register_buffer("table", sinusoidal_encoding(max_length, d_model), persistent=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        _check_input(x, self.d_model, self.max_length)
        return self.drop(x + self.table[: x.shape[1]].type_as(x))
