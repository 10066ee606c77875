"""Visible checks of attention that scales."""
