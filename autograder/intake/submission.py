"""A submission as the grader goes on with it: cleaned, read once, no longer a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from .time_stamps import stamp_time


@dataclass(frozen=True, kw_only=True)
class Submission:
    """What somebody handed in for a problem set.

    files: the text of each module, by its file name ("masks.py")
    notebook: text of the released notebook with the learner's written answers in it
    remarks: what an instructor should know of how it came in
    digest: of every file of the cleaned folder but the time stamp; 64 hexadecimal digits
    stamp: text of the time stamp, "" where there is none; ticket: nbgrader's submission secret
    in_cells: ids of the exercises whose code is in the notebook's cells, where nothing runs it, and not in the module
    """

    student: str
    problem_set: str
    files: Mapping[str, bytes] = field(repr=False)
    notebook: str = field(repr=False)
    remarks: tuple[str, ...] = ()
    digest: str = ""
    stamp: str = ""
    ticket: str = field(default="", repr=False)
    in_cells: tuple[str, ...] = ()

    @property
    def arrived(self) -> datetime | None:
        """When it came in, in UTC; None where that cannot be known."""
        return stamp_time(self.stamp)
