class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        check_length("d_model", d_model, least=1)
        check_length("d_ff", d_ff, least=1)
        check_probability("dropout", dropout)
        if activation not in ACTIVATIONS:
            raise ValueError("relu or gelu")
        self.d_model = d_model
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x):
        check_floating(x=x)
        check_width(self, self.d_model, x=x)
        return self.linear2(self.dropout(self.activation(self.linear1(x))))
