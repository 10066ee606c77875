class AttentionDecoder(nn.Module):
    def __init__(self, vocab_size, d_model, score="additive")
        super().__init__()
