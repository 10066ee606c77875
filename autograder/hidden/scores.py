"""Hidden checks of scores."""
