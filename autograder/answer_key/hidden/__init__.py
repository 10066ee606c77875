"""The hidden checks, one file per module, in the form of the visible ones: no file here is ever released."""
