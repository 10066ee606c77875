class TextClassifier(TextClassifier):
    """She does not pass max_length on: the positions have their own default."""

    def __init__(
        self, vocab_size, num_classes, d_model, num_heads, d_ff, num_layers, max_length=512, dropout=0.1, padding_id=0
    ):
        super().__init__(vocab_size, num_classes, d_model, num_heads, d_ff, num_layers, max_length, dropout, padding_id)
        self.tower.positions = PositionalEncoding(d_model, dropout=dropout)


def train_step(model, batch, optimizer, loss_fn):
    if len(batch) < 2:
        raise ValueError("a batch is (*inputs, target)")
    *inputs, target = batch
    model.train()
    loss = loss_fn(model(*inputs), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
