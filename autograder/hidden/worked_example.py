"""Hidden checks of the worked example."""
