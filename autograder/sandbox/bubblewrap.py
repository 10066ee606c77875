"""Starts a program behind walls: bubblewrap, an unprivileged user, no network, nothing worth stealing in reach."""

from __future__ import annotations

import functools
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..course.paths import ROOT
from . import seccomp

NOBODY = 65534
LEVELS = ("bubblewrap", "none")
INSIDE = "/room"  # where the staged folder appears
MOUNTS = "/mnt"  # is everywhere and nobody needs it: the interpreter is mounted below it
EXCHANGE = "/usr/local/share/nbgrader"  # nbgrader's usual exchange
OURS = tuple(str(ROOT / name) for name in ("solutions", "autograder", "tests", ".git"))
TMP_BYTES = 64 * 2**20
#: Memory in pieces of 2 MiB, for a program that many are copied from: a copy takes a third of the time.
HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
HUGE_PAGES_TOLD = "/sys/kernel/mm/transparent_hugepage"  # where malloc looks whether there are any
#: Walls of `probe` without which grading goes on, and says so with every grade.
MAY_BE_MISSING = ("a filter of system calls", "no further namespaces")


class SandboxUnavailable(RuntimeError):
    """There is no isolation to be had here; the text says how to get it."""


@dataclass(frozen=True)
class Sandbox:
    """A level of isolation that was tried and works.

    level: one of LEVELS
    lacks: what the walls of this machine do not hold back, of what those of another would
    """

    level: str
    lacks: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is recorded with every grade."""
        return self.level + (f" without {' and '.join(self.lacks)}" if self.lacks else "")

    @contextmanager
    def command(self, stage: Path, program: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """The command line that runs `program` with `stage` in sight, as INSIDE where there are walls.

        Beside it, the descriptors that it has to inherit: they are open within the `with` alone.
        """
        if self.level == "none":
            yield [part.replace(INSIDE, str(stage), 1) if part.startswith(INSIDE) else part for part in program], ()
        else:
            with _walled(stage, program) as walled:
                yield walled


def open_sandbox(wanted: str = "bubblewrap") -> Sandbox:
    """A sandbox of the wanted level, tried once: "bubblewrap", "none", or "auto" for the best there is.

    Raises SandboxUnavailable where bubblewrap is wanted and is missing or refused.
    """
    if wanted == "none":
        return Sandbox("none")
    if wanted not in ("auto", *LEVELS):
        raise ValueError(f"isolation must be auto, {' or '.join(LEVELS)}, got {wanted!r}")
    trouble, lacks = _probe()
    if not trouble:
        return Sandbox("bubblewrap", lacks)
    if wanted == "auto":
        return Sandbox("none")
    raise SandboxUnavailable(
        f"Grading runs strangers' code only inside bubblewrap, and that does not work here: {trouble}\n"
        "Install it (Debian: apt-get install bubblewrap) and allow unprivileged user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1, on others kernel.apparmor_restrict_unprivileged_userns=0).\n"
        "For code you trust: --isolation none; every grade records it."
    )


@functools.cache
def _probe() -> tuple[str, tuple[str, ...]]:
    """Why bubblewrap cannot be used here, or "", and which of the walls that may be missing are."""
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}", ()
    if not shutil.which("bwrap"):
        return "the program bwrap is not installed", ()
    with tempfile.TemporaryDirectory(prefix="attention-probe-") as folder:
        stage = Path(folder)
        stage.chmod(0o755)
        shutil.copyfile(Path(__file__).with_name("self_test.py"), stage / "self_test.py")
        (stage / "self_test.py").chmod(0o644)
        try:
            with _walled(stage, [sys.executable, "-I", "-B", f"{INSIDE}/self_test.py"]) as (command, descriptors):
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, pass_fds=descriptors
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error), ()
    try:
        walls = json.loads(done.stdout)
    except ValueError:
        return (done.stderr.strip() or "it printed nothing")[-500:], ()
    fallen = [name for name, stands in walls.items() if not stands]
    holes = [name for name in fallen if name not in MAY_BE_MISSING]
    return (f"behind its walls there is not: {', '.join(holes)}" if holes else ""), tuple(fallen)


@contextmanager
def _walled(stage: Path, program: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    filtered = seccomp.program()
    if filtered is None:
        yield _wall(stage, program), ()
        return
    descriptor = seccomp.as_descriptor(filtered)
    try:
        yield _wall(stage, program, ["--seccomp", str(descriptor)]), (descriptor,)
    finally:
        os.close(descriptor)


def house_wall(stage: Path, program: list[str]) -> list[str]:
    """The command line of a program that raises further walls itself; it ends with no thread of whoever starts it."""
    return [part for part in _wall(stage, program, settled=False) if part != "--die-with-parent"]


def _wall(stage: Path, program: list[str], more: Sequence[str] = (), settled: bool = True) -> list[str]:
    python_folders = _python_folders()
    hidden = [folder for folder in python_folders if os.geteuid() == 0 and not _open_to_all(folder)]
    seen_as = {folder: f"{MOUNTS}/python{number}" for number, folder in enumerate(hidden)}
    wall = [
        "bwrap",
        *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        "--as-pid-1",  # what runs there cannot end it, nor read the environment that bubblewrap itself was started in
        *more,
        *("--ro-bind", "/usr", "/usr"),
    ]
    for link in ("/bin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(link):
            wall += ["--symlink", os.readlink(link).lstrip("/"), link]
        elif os.path.isdir(link):
            wall += ["--ro-bind", link, link]
    wall += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    wall += ["--proc", "/proc", "--dev", "/dev"]
    if not settled:
        wall += ["--ro-bind-try", HUGE_PAGES_TOLD, HUGE_PAGES_TOLD]
    for scratch in ("/tmp", "/dev/shm"):
        wall += ["--size", str(TMP_BYTES), "--tmpfs", scratch]
    # After the scratch folders: the interpreter, or the stage, may itself lie below /tmp.
    for folder in python_folders:
        wall += ["--ro-bind", seen_as.get(folder, folder), folder]
    wall += ["--ro-bind", str(stage), INSIDE]
    # Other people's submissions, and this repository where it lies below what is shown: pip puts it beside packages.
    shown = ["/usr", *python_folders]
    empty = [place for place in (EXCHANGE, *OURS) if os.path.isdir(place) and _is_below(place, shown)]
    for place in empty:
        wall += ["--tmpfs", place]
    # In memory without a limit, or kept from one room of a house to the next.
    for made in (*empty, "/", "/dev", "/dev/pts"):
        wall += ["--remount-ro", made]
    if settled:
        wall += ["--remount-ro", "/proc"]  # some settings of its own namespaces it could write
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    if not settled:
        environment |= HUGE_PAGES
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
    steps = [f"mount -t tmpfs -o mode=755 none {MOUNTS}"]
    for folder, place in seen_as.items():
        steps.append(f"mkdir {place} && mount --bind {shlex.quote(folder)} {place}")
    script = " && ".join(steps) + ' && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *drop]


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
        if not _is_below(folder, ["/usr", *found]):
            found.append(folder)
    return found


def _is_below(place: str, folders: list[str]) -> bool:
    return any(Path(place).is_relative_to(folder) for folder in folders)


def _open_to_all(folder: str) -> bool:
    """Whether any user can reach and read a folder."""
    path = Path(folder)
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents)) and bool(path.stat().st_mode & 0o004)
