"""Right answers on scaled dot-product attention in other styles."""
