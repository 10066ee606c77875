"""The answers that are due: the reference's and each misconception's to visible and hidden input draws.

`keys.keys_of` gives an exercise's; `precomputed` keeps those of a course; `hidden` and `misconceptions` are the banks.
"""
