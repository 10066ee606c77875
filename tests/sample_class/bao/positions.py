# One number at a time for the tables, complex numbers for the rotation.
import math

from torch.nn import functional as F


def sinusoidal_encoding(max_length, d_model, base=10000.0):
    check_length("max_length", max_length)
    check_even("d_model", d_model)
    _check_base(base)
    table = torch.zeros(max_length, d_model)
    for p in range(max_length):
        for column in range(d_model):
            angle = p / base ** ((column - column % 2) / d_model)
            table[p, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


def shift_matrix(offset, d_model, base=10000.0):
    if type(offset) is not int:
        raise TypeError("an int")
    check_even("d_model", d_model)
    _check_base(base)
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        sine, cosine = math.sin(offset / base ** (i / d_model)), math.cos(offset / base ** (i / d_model))
        matrix[i : i + 2, i : i + 2] = torch.tensor([[cosine, -sine], [sine, cosine]])
    return matrix


class PositionalEncoding(nn.Module):
    """The table is made anew for every length: no attribute holds it."""

    def __init__(self, d_model, max_length=1024, dropout=0.0):
        super().__init__()
        check_even("d_model", d_model)
        check_length("max_length", max_length)
        check_probability("dropout", dropout)
        self.d_model, self.max_length, self.p = d_model, max_length, dropout

    def forward(self, x):
        _check_input(x, self.d_model, self.max_length)
        table = sinusoidal_encoding(x.shape[1], self.d_model).to(x)
        return F.dropout(x + table, self.p, self.training)


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, d_model, max_length=1024):
        super().__init__()
        check_length("d_model", d_model, least=1)
        check_length("max_length", max_length)
        self.d_model, self.max_length = d_model, max_length
        self.weight = nn.Parameter(torch.empty(max_length, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        _check_input(x, self.d_model, self.max_length)
        places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
        return x + F.embedding(places, self.weight).to(x.dtype)


def apply_rotary(x, base=10000.0, offset=0):
    check_floating(x=x)
    check_sequence(x=x)
    check_even("d_head", x.shape[-1])
    _check_base(base)
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    places = torch.arange(offset, offset + x.shape[-2], dtype=torch.float64, device=x.device)
    speeds = torch.tensor([base ** (-2 * i / x.shape[-1]) for i in range(pairs.shape[-1])], dtype=torch.float64)
    turns = torch.exp(1j * torch.outer(places, speeds.to(x.device)))
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)


def alibi_bias(num_heads, query_length, key_length=None):
    check_length("num_heads", num_heads, least=1)
    if bin(num_heads).count("1") != 1:
        raise ValueError("a power of two")
    key_length = query_length if key_length is None else key_length
    check_length("query_length", query_length)
    check_length("key_length", key_length)
    bias = torch.zeros(num_heads, query_length, key_length)
    for head, slope in enumerate(0.5 ** (8 * (h + 1) / num_heads) for h in range(num_heads)):
        for i in range(query_length):
            for j in range(key_length):
                bias[head, i, j] = -slope * abs(i + key_length - query_length - j)
    return bias
