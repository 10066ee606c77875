"""Takes submissions in: reads folders and archives within limits, cleans them, and notes what an instructor should see.

`archive.read_folder` and `archive.read_zip` read; `submission.store` files what they read.
"""
