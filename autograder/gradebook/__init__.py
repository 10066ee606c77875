"""The nbgrader adapter: enters results into its gradebook, reads scores back, exports them, keeps the log.

`sync.GradebookSync` writes; `scores.scores` and `exports.export` read; `audit_log.Log` records what changed, with the
reason; `nbgrader.api` is nbgrader's own interface on a course.
"""
