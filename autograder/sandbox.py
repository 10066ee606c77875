"""Starts a program behind walls: bubblewrap, an unprivileged user, no network, nothing worth stealing in reach."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
LEVELS = ("bubblewrap", "none")
INSIDE = "/room"  # where the staged folder appears
EXCHANGE = "/usr/local/share/nbgrader"  # nbgrader's usual exchange
TMP_BYTES = 64 * 2**20


class SandboxUnavailable(RuntimeError):
    """There is no isolation to be had here; the text says how to get it."""


@dataclass(frozen=True)
class Sandbox:
    """A level of isolation that was tried and works."""

    level: str  # one of LEVELS

    def command(self, stage: Path, program: list[str]) -> list[str]:
        """The command line that runs `program` with `stage` in sight, as INSIDE where there are walls."""
        if self.level == "none":
            return [part.replace(INSIDE, str(stage), 1) if part.startswith(INSIDE) else part for part in program]
        return _walled(stage, program)


def open_sandbox(wanted: str = "bubblewrap") -> Sandbox:
    """A sandbox of the wanted level, tried once: "bubblewrap", "none", or "auto" for the best there is.

    Raises SandboxUnavailable where bubblewrap is wanted and is missing or refused.
    """
    if wanted == "none":
        return Sandbox("none")
    if wanted not in ("auto", *LEVELS):
        raise ValueError(f"isolation must be auto, {' or '.join(LEVELS)}, got {wanted!r}")
    trouble = _trouble()
    if not trouble:
        return Sandbox("bubblewrap")
    if wanted == "auto":
        return Sandbox("none")
    raise SandboxUnavailable(
        f"Grading runs strangers' code only inside bubblewrap, and that does not work here: {trouble}\n"
        "Install it (Debian: apt-get install bubblewrap) and allow unprivileged user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1, on others kernel.apparmor_restrict_unprivileged_userns=0).\n"
        "For code you trust: --isolation none; every grade records it."
    )


@functools.cache
def _trouble() -> str:
    """Why bubblewrap cannot be used here, or ""."""
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}"
    if not shutil.which("bwrap"):
        return "the program bwrap is not installed"
    try:
        done = subprocess.run(
            _walled(Path("/usr"), [sys.executable, "-I", "-c", "print('inside')"]),
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.stdout.strip() == "inside" else (done.stderr.strip() or "it printed nothing")[-500:]


def _walled(stage: Path, program: list[str]) -> list[str]:
    python_folders = _python_folders()
    hidden = [folder for folder in python_folders if os.geteuid() == 0 and not _open_to_all(folder)]
    seen_as = {folder: f"{stage_root()}/python{number}" for number, folder in enumerate(hidden)}
    wall = [
        "bwrap",
        *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        *("--ro-bind", "/usr", "/usr"),
    ]
    if os.path.isdir(EXCHANGE):
        wall += ["--tmpfs", EXCHANGE]  # other people's submissions may lie there
    for link in ("/bin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(link):
            wall += ["--symlink", os.readlink(link).lstrip("/"), link]
        elif os.path.isdir(link):
            wall += ["--ro-bind", link, link]
    wall += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    wall += ["--proc", "/proc", "--dev", "/dev"]
    for scratch in ("/tmp", "/dev/shm"):
        wall += ["--size", str(TMP_BYTES), "--tmpfs", scratch]
    # After the scratch folders: the interpreter, or the stage, may itself lie below /tmp.
    for folder in python_folders:
        wall += ["--ro-bind", seen_as.get(folder, folder), folder]
    wall += ["--ro-bind", str(stage), INSIDE]
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    for name, value in environment.items():
        wall += ["--setenv", name, value]
    wall += ["--chdir", "/tmp", *program]
    if os.geteuid() != 0:
        return wall
    # Never bubblewrap as root: give up root first. What only root can reach is bound to an open place before that,
    # in a mount namespace of its own.
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *wall]
    if not hidden:
        return drop
    steps = [f"mount -t tmpfs -o mode=755 none {shlex.quote(stage_root())}"]
    for folder, place in seen_as.items():
        steps.append(f"mkdir {shlex.quote(place)} && mount --bind {shlex.quote(folder)} {shlex.quote(place)}")
    script = " && ".join(steps) + ' && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *drop]


def stage_root() -> str:
    """A folder that exists everywhere and nobody needs, to mount the interpreter under."""
    return "/mnt"


def _python_folders() -> list[str]:
    """The interpreter's own folders outside /usr: its base, its virtual environment."""
    wanted = [
        sys.base_prefix,
        sys.prefix,
        sysconfig.get_paths()["purelib"],
        os.path.dirname(os.path.realpath(sys.executable)),
    ]
    found: list[str] = []
    for folder in map(os.path.realpath, wanted):
        if not any(Path(folder).is_relative_to(other) for other in ["/usr", *found]):
            found.append(folder)
    return found


def _open_to_all(folder: str) -> bool:
    """Whether any user can reach and read a folder."""
    path = Path(folder)
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents)) and bool(path.stat().st_mode & 0o004)
