"""Right answers of the classifier written in other ways."""
