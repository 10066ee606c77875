"""Right answers on the worked example in other styles."""
