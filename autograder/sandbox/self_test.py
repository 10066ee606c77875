"""Run behind the walls, before any stranger's code: prints which walls stand, as JSON. It imports nothing of ours."""

import contextlib
import ctypes
import json
import os


def status(name: str) -> str:
    with open("/proc/self/status", encoding="ascii") as lines:
        return next((line.split()[1] for line in lines if line.startswith(name + ":")), "")


def cannot_write(folder: str) -> bool:
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.join(folder, "probe"), os.O_CREAT | os.O_WRONLY)
        os.close(descriptor)
        return False
    return True


def cannot_open(path: str) -> bool:
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_WRONLY))
        return False
    return True


def network_names() -> set[str]:
    with open("/proc/net/dev", encoding="ascii") as lines:
        return {line.split(":")[0].strip() for line in lines if ":" in line}


def refused(function: str, *arguments: int) -> bool:
    """Whether a function of the C library comes back with an error."""
    return getattr(ctypes.CDLL(None, use_errno=True), function)(*arguments) == -1


def walls() -> dict[str, bool]:
    """Each wall's name, and whether it stands."""
    return {
        "no network": network_names() <= {"lo"},
        "no processes but its own": all(int(name) < 100 for name in os.listdir("/proc") if name.isdigit()),
        "no rights": os.getuid() != 0 and int(status("CapEff"), 16) == 0 and status("NoNewPrivs") == "1",
        "no writable files": all(map(cannot_write, ("/", "/dev", "/usr", "/room")))
        and cannot_open("/proc/sys/kernel/sem"),
        "no environment": "HOME" in os.environ and len(os.environ) < 12,
        "a filter of system calls": status("Seccomp") == "2" and refused("unshare", 0),
        "no further namespaces": refused("unshare", 0x10000000),
    }


if __name__ == "__main__":
    print(json.dumps(walls()))
