"""Visible checks of the worked example."""
