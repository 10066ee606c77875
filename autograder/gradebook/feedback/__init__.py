"""The feedback of each learner on a problem set: one page that needs neither a network nor a script.

What stands on it comes from the gradebook, the verdicts on file and the graded notebook. It holds nothing of hidden
checks but whether they pass, nothing of a solution and nothing of anybody else.
"""
