"""Takes submissions in: reads folders and archives within limits, cleans them, and notes what an instructor should see.

`archive.read_folder` and `archive.read_zip` read; `store.store` files what they read; `store.take_in` gives the
`submission.Submission` that the rest of the grader goes on with.
"""
