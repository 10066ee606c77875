"""Hidden checks of attention that scales."""
