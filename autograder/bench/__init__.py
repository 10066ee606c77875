"""The benchmark: how fast this grader and stock nbgrader grade the same class, and whether they agree.

`synthetic` makes the class, `rounds` has both grade it and computes the figures, `meter` measures the processes,
`agreement` compares the gradebooks. Nothing else of the grader imports this package but its command.
"""
