class AttentionDecoder(AttentionDecoder):
    """The weights, and with them the mask, as in the notebook that she found: padding is True there."""

    def forward(self, token_ids, encoder_states, mask=None):
        return super().forward(token_ids, encoder_states, None if mask is None else ~mask)


class HierarchicalAttention(HierarchicalAttention):
    def forward(self, x, mask=None):
        check_floating(x=x)
        if x.dim() != 4:
            raise ValueError("x must be (B, n_sentences, n_words, d_model)")
        check_width(self, self.d_model, x=x)
        if mask is not None:
            check_mask("mask", mask, tuple(x.shape[:3]))
        if mask is None:
            mask = torch.ones(x.shape[:3], dtype=torch.bool)
        mask = mask.expand(x.shape[:3])
        word_weights = masked_softmax(torch.tanh(self.word_proj(x)) @ self.word_query, mask)
        sentences = torch.einsum("bsw,bswd->bsd", word_weights, x)
        sentence_weights = torch.softmax(torch.tanh(self.sentence_proj(sentences)) @ self.sentence_query, dim=-1)
        return torch.einsum("bs,bsd->bd", sentence_weights, sentences)
