"""Judges a submission: asks the sandbox for answers, compares them with the answer key, and gives a result.

`judge.judge_problem_set` judges; `result.verdicts` is what any worker can compute; `cluster.judged` shares it out.
"""
