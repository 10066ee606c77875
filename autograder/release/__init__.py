"""Releases problem sets, without solutions or hidden checks, and tells when what was released is out of date.

`bundle.release` makes a release; `staleness.check_release` refuses one that no longer fits the course.
"""
