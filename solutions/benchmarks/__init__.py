"""Times the reference against torch's own layers, each only after its answers were found right."""
