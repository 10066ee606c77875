"""Run inside the sandbox before any submission: tells which properties of the isolation hold, as JSON."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence

from . import linux

INSIDE = "/sandbox"  # where the staged folder is mounted
SYSCALL_FILTER = "a filter of system calls"
NO_NAMESPACES = "a ban on further namespaces"
IMPORTS = "numpy and torch"
PROGRAMS = "its own programs"
#: Properties without which grading goes on, and records that with every grade.
OPTIONAL = (SYSCALL_FILTER, NO_NAMESPACES)
#: What to do where a property is missing.
ADVICE = {
    IMPORTS: "Submissions need numpy and torch, and the sandbox shows the folders of the grader's own Python alone: "
    "packages that pip installed with --user, or that PYTHONPATH names, are not there. Install both into the virtual "
    "environment of the grader: make setup.",
    PROGRAMS: "What runs beside a submission cannot be imported in the sandbox: the grader's files are incomplete, or "
    "older than its Python. Install it again: make setup.",
}


def properties(private: Sequence[str] = ()) -> dict[str, bool]:
    """The name of each property, and whether it holds; private: files and folders that are not to be seen."""
    return {
        "no network": _network_devices() <= {"lo"},
        "no processes but its own": all(int(name) < 100 for name in os.listdir("/proc") if name.isdigit()),
        "no rights": os.getuid() != 0 and int(_status("CapEff"), 16) == 0 and _status("NoNewPrivs") == "1",
        "no writable files": not any(map(_can_create_file, ("/", "/dev", "/usr", INSIDE)))
        and not _can_write("/proc/sys/kernel/sem"),
        "nothing private": not any(map(_is_seen, private)),
        IMPORTS: _can_import(),
        PROGRAMS: _can_import_programs(),
        "no environment": "HOME" in os.environ and len(os.environ) < 16,
        SYSCALL_FILTER: _status("Seccomp") == "2" and linux.is_refused(0),
        NO_NAMESPACES: linux.is_refused(linux.NEW_USER),
    }


def main(*private: str) -> None:
    """Print the properties."""
    print(json.dumps(properties(private)))


def _status(field: str) -> str:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next((line.split()[1] for line in lines if line.startswith(field + ":")), "")


def _can_create_file(folder: str) -> bool:
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.join(folder, "self-test"), os.O_CREAT | os.O_WRONLY)
        os.close(descriptor)
        return True
    return False


def _can_write(path: str) -> bool:
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY))
        return True
    return False


def _is_seen(path: str) -> bool:
    """Whether there is a file, or a folder that is not empty."""
    try:
        return bool(os.listdir(path)) if os.path.isdir(path) else os.path.lexists(path)
    except OSError:
        return False


def _can_import() -> bool:
    """Whether numpy can be imported, and torch is imported or can be found: to import it takes seconds.

    Where the latter is not enough, no worker that needs torch begins, and nothing is graded.
    """
    try:
        import numpy  # noqa: F401

        return "torch" in sys.modules or importlib.util.find_spec("torch") is not None
    except Exception:  # a package that is damaged can raise anything
        return False


def _can_import_programs() -> bool:
    """Whether what answers in a worker can be imported: without it every answer would be missing."""
    try:
        from selfcheck import eager, runner  # noqa: F401  (as staged)

        from . import worker  # noqa: F401

        return True
    except Exception:  # as above
        return False


def _network_devices() -> set[str]:
    with open("/proc/net/dev", encoding="ascii") as lines:
        return {line.split(":")[0].strip() for line in lines if ":" in line}
