"""Runnable wrong answers of the classifier."""
