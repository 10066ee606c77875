"""Releases problem sets without solutions or hidden checks.

`bundle.release` makes a release; `staleness.check_release` refuses one that no longer fits the course's settings, and
`moved` one whose exercises are in other problem sets now.
"""
