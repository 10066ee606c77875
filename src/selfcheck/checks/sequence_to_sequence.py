"""Visible checks of attention before Transformers."""
