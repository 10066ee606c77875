"""The commands of `python -m autograder`: a module for each, and one for those that run a course."""
