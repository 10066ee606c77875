_finite = LearnedPositionalEmbedding


class LearnedPositionalEmbedding(_finite):
    def __init__(self, d_model, max_length=1024):
        super().__init__(d_model, max_length)
        row = 0
        while row < max_length:
            nn.init.normal_(self.weight.data[row], std=0.02)
