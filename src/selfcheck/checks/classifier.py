"""Visible checks of the classifier."""
