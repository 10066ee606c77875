"""Judges a submission: asks the sandbox for answers, compares them with the answer key, and gives a result.

`judge.judge_problem_set` judges; `task.judge_task` is what any worker can do; `cluster.judged` shares it out;
`cache` keeps each `result.Result` on file.
"""
