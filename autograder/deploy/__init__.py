"""Where the grader runs: bundles for other platforms, and what a machine offers.

`bundle` makes what Gradescope or GitHub Classroom takes, `gradescope` is what Gradescope starts, `doctor` says which
isolation there is. The files that they write stand in `files`, and the container's beside them.
"""
