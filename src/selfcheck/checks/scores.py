"""Visible checks of scores."""
