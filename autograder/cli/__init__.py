"""The commands of `python -m autograder`, a module each."""
