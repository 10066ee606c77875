"""Runnable wrong answers of attention that scales."""
