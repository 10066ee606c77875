"""Hidden checks of scaled dot-product attention."""
