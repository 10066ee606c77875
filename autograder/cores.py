"""How many processes or threads to run at a time."""

import os


def cores() -> int:
    """One per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
