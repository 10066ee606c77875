"""The limits that this process was started with: those of what it starts can only be lower."""

from __future__ import annotations

import resource
import sys

MIB = 2**20
#: What an answer, or the grader beside it, may need: its name, how much, in which unit, what of, and how a shell calls
#: it, which may count in other units.
NEEDED = (
    ("NOFILE", 256, 1, "open files", "-n"),
    ("NPROC", 64, 1, "processes and threads", "-u"),
    ("AS", 6144, MIB, "MiB of address space", "-v"),
    ("FSIZE", 64, MIB, "MiB in one file", "-f"),
    ("CPU", 31, 1, "seconds of processor time", "-t"),
)


def raise_or_tell() -> str:
    """Raise what this process may raise itself; what to do about a limit that stays too low, "" where none does."""
    for name, count, unit, what, option in NEEDED:
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:  # another system
            continue
        soft, hard = resource.getrlimit(kind)
        if _is_below(hard, count * unit):
            return (
                f"Grading needs {count} {what}, and the limit that this command was started with is {hard // unit}: "
                f"nothing is run. Raise it where the command is started (in a shell: ulimit {option} unlimited, or a "
                f"number; for a service of systemd: Limit{name}), and run the command again"
            )
        if _is_below(soft, count * unit):
            resource.setrlimit(kind, (hard, hard))
    return ""


def unreadable_path() -> str:
    """What to do where torch cannot be imported for the name of a folder; "" where it can."""
    try:
        for place in (sys.prefix, sys.base_prefix):
            place.encode()
    except UnicodeEncodeError:
        return (
            f"torch cannot be imported from {ascii(place)}: the name of a folder there is not UTF-8. Move the virtual "
            "environment, or make it anew, in a folder whose name is"
        )
    return ""


def _is_below(limit: int, needed: int) -> bool:
    return limit != resource.RLIM_INFINITY and limit < needed
