"""For authors of exercises: scaffolds a new one, proves the checks, and judges mutants of the reference.

`scaffold` writes an exercise's files; `proofs` and `mutation` show that its checks tell right from wrong.
"""
