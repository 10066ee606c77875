class TextClassifier(TextClassifier):
    """She gives the encoder True at padding, as torch's layers want it."""

    def forward(self, token_ids):
        _check_tokens("token_ids", token_ids, self.max_length)
        padding = token_ids == self.tower.padding_id
        x = self.tower.positions(self.tower.embedding(token_ids))
        x = self.tower.encoder(x, key_mask=padding)
        return self.output(masked_mean(x, ~padding))


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
