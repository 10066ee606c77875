"""Takes submissions in: reads folders and archives within limits, cleans them, and notes what an instructor should see.

`archive.read_path` reads what was handed in, wherever `layout.find_layout` finds its parts; `hand_in.hand_in` takes in
one submission from an instructor, `collecting.collect` a whole download; `store.store` files what was read, and
`store.take_in` gives the `submission.Submission` that the rest of the grader goes on with.
"""
