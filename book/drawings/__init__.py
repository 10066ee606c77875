"""The figures of the chapters, one module each."""
