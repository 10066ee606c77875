"""The experiments of the chapters, one module each."""
