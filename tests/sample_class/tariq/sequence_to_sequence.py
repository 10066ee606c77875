from attention.masks import masked_softmax


def attend(query, keys, values, score, mask=None):
    check_floating(query=query, keys=keys, values=values)
    check_sequence(query=query, keys=keys, values=values)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError("keys and values must have the same length S")
    check_batch(query=query, keys=keys, values=values)
    if mask is not None:
        check_mask("mask", mask, (*check_batch(query=query, keys=keys), query.shape[-2], keys.shape[-2]))
    weights = masked_softmax(score(query, keys), mask)
    return weights @ values, weights


class AttentionDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, score="additive"):
        super().__init__()
        check_length("vocab_size", vocab_size, least=1)
        check_length("d_model", d_model, least=1)
        if score not in SCORES:
            raise ValueError("no such score")
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.gru = nn.GRU(d_model, d_model)
        self.combine = nn.Linear(2 * d_model, d_model)
        self.output = nn.Linear(d_model, vocab_size)
        self.score = score
        if score == "additive":
            self.score_w1 = nn.Parameter(torch.rand(d_model, 2 * d_model) - 0.5)
            self.score_w2 = nn.Parameter(torch.rand(d_model) - 0.5)
        if score == "bilinear":
            self.score_weight = nn.Parameter(torch.rand(d_model, d_model) - 0.5)

    def score_function(self, q, k):
        from attention import scores

        if self.score == "additive":
            return scores.additive_scores(q, k, self.score_w1, self.score_w2)
        if self.score == "bilinear":
            return scores.bilinear_scores(q, k, self.score_weight)
        if self.score == "dot":
            return scores.dot_scores(q, k)
        return scores.scaled_dot_scores(q, k)

    def forward(self, token_ids, encoder_states, mask=None):
        check_integers("token_ids", token_ids, dimensions=2)
        check_floating(encoder_states=encoder_states)
        check_batched(encoder_states=encoder_states)
        check_width(self, self.d_model, encoder_states=encoder_states)
        if len(token_ids) != len(encoder_states):
            raise ValueError("token_ids and encoder_states must have one batch size")
        if mask is not None:
            check_key_mask(mask, encoder_states.shape[:2])
        h, _ = self.gru(self.embedding(token_ids))
        c, weights = attend(h, encoder_states, encoder_states, self.score_function, None if mask is None else mask[:, None])
        return self.output(torch.tanh(self.combine(torch.cat([c, h], dim=-1)))), weights
