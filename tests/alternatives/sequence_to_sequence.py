"""Right answers of attention before Transformers written in other ways."""
