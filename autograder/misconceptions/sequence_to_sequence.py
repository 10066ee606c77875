"""Runnable wrong answers of attention before Transformers."""
