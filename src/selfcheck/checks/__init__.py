"""The visible checks, one file per module."""
