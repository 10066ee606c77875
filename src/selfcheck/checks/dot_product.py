"""Visible checks of scaled dot-product attention."""
