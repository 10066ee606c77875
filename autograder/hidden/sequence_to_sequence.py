"""Hidden checks of attention before Transformers."""
