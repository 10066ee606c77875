"""Run inside the sandbox before any submission: tells which properties of the isolation hold, as JSON."""

from __future__ import annotations

import contextlib
import json
import os

from . import linux

INSIDE = "/sandbox"  # where the staged folder is mounted
SYSCALL_FILTER = "a filter of system calls"
NO_NAMESPACES = "no further namespaces"
#: Properties without which grading goes on, and records that with every grade.
OPTIONAL = (SYSCALL_FILTER, NO_NAMESPACES)


def properties() -> dict[str, bool]:
    """The name of each property, and whether it holds."""
    return {
        "no network": _network_devices() <= {"lo"},
        "no processes but its own": all(int(name) < 100 for name in os.listdir("/proc") if name.isdigit()),
        "no rights": os.getuid() != 0 and int(_status("CapEff"), 16) == 0 and _status("NoNewPrivs") == "1",
        "no writable files": not any(map(_can_create_file, ("/", "/dev", "/usr", INSIDE)))
        and not _can_write("/proc/sys/kernel/sem"),
        "no environment": "HOME" in os.environ and len(os.environ) < 12,
        SYSCALL_FILTER: _status("Seccomp") == "2" and linux.is_refused(0),
        NO_NAMESPACES: linux.is_refused(linux.NEW_USER),
    }


def main() -> None:
    """Print the properties."""
    print(json.dumps(properties()))


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


def _network_devices() -> set[str]:
    with open("/proc/net/dev", encoding="ascii") as lines:
        return {line.split(":")[0].strip() for line in lines if ":" in line}
