"""nbgrader: writes results into its gradebook and notebooks, reads marks and penalties, exports scores, keeps the log.

`sync.GradebookSync` writes; `scores.scores` and `exports.export` read; `audit_log.Log` records what changed and why.
"""
