"""Tools for authors of exercises.

`scaffold.write` writes the files of a new exercise, `proofs` and `mutation` prove that its checks tell right answers
from wrong ones, and `samples` makes the submissions of the sample class.
"""
