"""Hidden checks of the classifier."""
