"""What models on token ids begin with: token vectors, with positions."""

# solution: begin (drop)
from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    """Token ids (B, L) → positions(token vectors), (B, L, d_model).

    positions: adds the positions to (B, L, d_model)
    """

    def __init__(self, vocab_size: int, d_model: int, positions: nn.Module) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = positions

    def embed(self, token_ids: Tensor, *more: int) -> Tensor:
        """more: further arguments of the positions."""
        embedded: Tensor = self.positions(self.embedding(token_ids.long()), *more)
        return embedded


# solution: end
