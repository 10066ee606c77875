"""The given lines of the two models' stubs, in front of what an alternative makes and answers."""

from torch import nn

from attention.classifier import _check_sizes, _check_tokens, check_length


class Classifying(nn.Module):
    """What a learner's TextClassifier is handed; `make` and `answer` are the learner's."""

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
        self.max_length, self.padding_id, self.d_model, self.dropout = max_length, padding_id, d_model, dropout
        self.make(vocab_size, d_model, num_heads, d_ff, num_layers)
        self.make_output(d_model, num_classes)

    def make_output(self, d_model, num_classes):
        self.output = nn.Linear(d_model, num_classes)

    def forward(self, token_ids):
        _check_tokens("token_ids", token_ids, self.max_length)
        return self.output(self.pool(token_ids))


class Matching(nn.Module):
    """What a learner's PairMatcher is handed."""

    def __init__(self, vocab_size, d_model, num_heads, d_ff, num_layers, max_length=512, dropout=0.1, padding_id=0):
        super().__init__()
        _check_sizes(vocab_size, d_model, num_heads, max_length, dropout)
        self.max_length, self.padding_id, self.d_model, self.dropout = max_length, padding_id, d_model, dropout
        self.make(vocab_size, d_model, num_heads, d_ff, num_layers)

    def forward(self, left_ids, right_ids):
        _check_tokens("left_ids", left_ids, self.max_length)
        _check_tokens("right_ids", right_ids, self.max_length)
        if len(left_ids) != len(right_ids):
            raise ValueError("left_ids and right_ids must be as many")
        return self.answer(left_ids, right_ids)
