"""What is said of a slip in a score function holds however the slip was written."""

from selfcheck.learner import check

DIAGONAL = """
from torch import Tensor


def bilinear_scores(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    return (query * weight.diagonal()) @ key.transpose(-2, -1)
"""


def test_the_diagonal_of_the_weight_is_named_without_blaming_subscripts(tmp_path, monkeypatch):
    package = tmp_path / "attention"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "scores.py").write_text(DIAGONAL)
    monkeypatch.chdir(tmp_path)
    said = " ".join(repr(check("scores.bilinear_scores")).split())
    assert "your answer takes the diagonal alone" in said
    assert "your subscripts" not in said
