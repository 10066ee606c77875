# torch's own layers, a class token in front of each text, one joint sequence for a pair, plain loops for the mean.
import copy
import functools


def masked_mean(x, key_mask=None):
    check_floating(x=x)
    check_batched(x=x)
    if key_mask is None:
        key_mask = x.new_ones(x.shape[:2], dtype=torch.bool)
    check_key_mask(key_mask, x.shape[:2])
    means = [row[real].double().mean(dim=0) if real.any() else row[:0].sum(dim=0) for row, real in zip(x, key_mask)]
    return torch.stack([mean.to(x.dtype) for mean in means])


class _Reader(nn.Module):
    """Ids → the vector that a learned token in front has collected; texts share the parameters, not the positions."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length, dropout, padding_id):
        super().__init__()
        self.padding_id, self.max_length = padding_id, max_length
        self.words = nn.Embedding(vocab_size, d_model)
        self.places = nn.Parameter(torch.randn(max_length, d_model) * 0.1)
        self.front = nn.Parameter(torch.randn(1, 1, d_model))
        self.sides = nn.Embedding(2, d_model)
        layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, "gelu", batch_first=True)
        self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))

    def forward(self, *texts):
        parts, ignored = [self.front.expand(len(texts[0]), -1, -1)], [texts[0].new_zeros(len(texts[0]), 1).bool()]
        for side, ids in enumerate(texts):
            parts.append(self.words(ids) + self.places[: ids.shape[1]] + self.sides.weight[side])
            ignored.append(ids == self.padding_id)
        x, ignored = torch.cat(parts, dim=1), torch.cat(ignored, dim=1)
        return functools.reduce(lambda x, layer: layer(x, src_key_padding_mask=ignored), self.layers, x)[:, 0]


class TextClassifier(nn.Module):
    def __init__(
        self,
        vocab_size,
        num_classes,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        max_length=512,
        dropout=0.1,
        padding_id=0,
    ):
        super().__init__()
        check_length("num_classes", num_classes, least=1)
        _check_sizes(vocab_size, d_model, num_heads, max_length, dropout)
        self.max_length = max_length
        self.reader = _Reader(vocab_size, d_model, num_heads, d_ff, num_layers, max_length, dropout, padding_id)
        self.classes = nn.Parameter(torch.zeros(d_model, num_classes))

    def forward(self, token_ids):
        _check_tokens("token_ids", token_ids, self.max_length)
        return self.reader(token_ids) @ self.classes


class PairMatcher(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length=512, dropout=0.1, padding_id=0):
        super().__init__()
        _check_sizes(vocab_size, d_model, num_heads, max_length, dropout)
        self.max_length = max_length
        self.reader = _Reader(vocab_size, d_model, num_heads, d_ff, num_layers, max_length, dropout, padding_id)
        self.says = nn.Linear(d_model, 1)

    def forward(self, left_ids, right_ids):
        _check_tokens("left_ids", left_ids, self.max_length)
        _check_tokens("right_ids", right_ids, self.max_length)
        if len(left_ids) != len(right_ids):
            raise ValueError("as many left as right texts")
        return self.says(self.reader(left_ids, right_ids))[..., 0]


def train_step(model, batch, optimizer, loss_fn):
    if len(batch) < 2:
        raise ValueError("inputs and a target")
    for parameters in optimizer.param_groups:
        for parameter in parameters["params"]:
            parameter.grad = None
    loss = loss_fn(model.train()(*batch[:-1]), batch[-1])
    loss.backward()
    optimizer.step()
    return float(loss)
