"""Right answers on scores in other styles."""
