"""The benchmark: how fast this grader and stock nbgrader grade the same class, and whether they agree."""
