"""A course folder: where its files are, its settings and grading policy, what was released, and how files are written safely.

`Course` (folder.py) is the entry; `GradingPolicy` (policy.py) is what a verdict depends on beside the submission.
"""
