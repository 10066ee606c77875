"""Isolates a program: bubblewrap, an unprivileged user, no network, read-only files, nothing secret in reach."""

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
from dataclasses import dataclass, field
from pathlib import Path

from ..course.paths import ROOT
from . import seccomp, self_test, staging
from .self_test import INSIDE

NOBODY = 65534
LEVELS = ("bubblewrap", "none")
CHOICES = ("bubblewrap", "auto", "none")  # of an instructor; "auto" is the best level there is
MOUNTS = "/mnt"  # is everywhere and nobody needs it: the interpreter is mounted below it
EXCHANGE = "/usr/local/share/nbgrader"  # nbgrader's usual exchange
OURS = tuple(str(ROOT / name) for name in ("solutions", "autograder", "tests", ".git"))
TMP_BYTES = 64 * 2**20
SELF_TEST_SECONDS = 60.0  # by the clock
#: Memory in pieces of 2 MiB, for the fork server: forking it takes a third of the time.
HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
HUGE_PAGES_SETTING = "/sys/kernel/mm/transparent_hugepage"  # where malloc looks whether there are any


class SandboxUnavailable(RuntimeError):
    """There is no isolation to be had here; the text says how to get it."""


@dataclass(frozen=True)
class Sandbox:
    """A level of isolation that was tried and works.

    level: one of LEVELS
    lacks: the properties of `self_test` that it does not have on this machine
    pool: the worker_pool.WorkerPool where its workers come from; None for the pool of this process
    """

    level: str
    lacks: tuple[str, ...] = ()
    pool: object | None = field(default=None, compare=False, repr=False)

    @property
    def description(self) -> str:
        """What is recorded with every grade."""
        return self.level + (f" without {' and '.join(self.lacks)}" if self.lacks else "")

    @contextmanager
    def command(self, stage: Path, program: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """The command line that runs `program` with `stage` in sight, as INSIDE where there is isolation.

        Beside it, the descriptors that it has to inherit: they are open within the `with` alone.
        """
        if self.level == "none":
            yield [part.replace(INSIDE, str(stage), 1) if part.startswith(INSIDE) else part for part in program], ()
        else:
            with _filtered_command(stage, program) as isolated:
                yield isolated


def open_sandbox(wanted: str = "bubblewrap", pool: object | None = None) -> Sandbox:
    """A sandbox of one of CHOICES, tried once in this process.

    Raises SandboxUnavailable where bubblewrap is wanted and is missing or refused.
    """
    if wanted == "none":
        return Sandbox("none")
    if wanted not in CHOICES:
        raise ValueError(f"isolation must be {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, got {wanted!r}")
    trouble, lacks = _run_self_test()
    if not trouble:
        return Sandbox("bubblewrap", lacks, pool)
    if wanted == "auto":
        return Sandbox("none")
    raise SandboxUnavailable(
        f"Grading runs strangers' code only inside bubblewrap, and that does not work here: {trouble}\n"
        "Install it (Debian: apt-get install bubblewrap) and allow unprivileged user namespaces "
        "(sysctl kernel.unprivileged_userns_clone=1, on others kernel.apparmor_restrict_unprivileged_userns=0).\n"
        "For code you trust: --isolation none; every grade records it."
    )


@functools.cache
def _run_self_test() -> tuple[str, tuple[str, ...]]:
    """Why bubblewrap cannot be used here, or "", and which of the optional properties it lacks."""
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}", ()
    if not shutil.which("bwrap"):
        return "the program bwrap is not installed", ()
    with tempfile.TemporaryDirectory(prefix="attention-self-test-") as folder:
        stage = Path(folder)
        staging.stage_programs(stage)
        staging.let_everybody_read(stage)
        try:
            with _filtered_command(stage, staging.command("self_test")) as (command, descriptors):
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    timeout=SELF_TEST_SECONDS,
                    stdin=subprocess.DEVNULL,
                    pass_fds=descriptors,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error), ()
    try:
        properties = json.loads(done.stdout)
    except ValueError:
        return (done.stderr.strip() or "it printed nothing")[-500:], ()
    lacks = tuple(name for name, holds in properties.items() if not holds)
    failed = [name for name in lacks if name not in self_test.OPTIONAL]
    return (f"sandbox self-test failed: {', '.join(failed)}" if failed else ""), lacks


@contextmanager
def _filtered_command(stage: Path, program: list[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The command line that isolates a program, with the seccomp filter, and the descriptors that it inherits."""
    rules = seccomp.program()
    if rules is None:
        yield _command(stage, program), ()
        return
    descriptor = seccomp.as_descriptor(rules)
    try:
        yield _command(stage, program, ["--seccomp", str(descriptor)]), (descriptor,)
    finally:
        os.close(descriptor)


def fork_server_command(stage: Path, program: list[str]) -> list[str]:
    """The command line of a program that isolates further; it does not end with the thread that starts it."""
    return [part for part in _command(stage, program, isolates=True) if part != "--die-with-parent"]


def _command(stage: Path, program: list[str], more: Sequence[str] = (), isolates: bool = False) -> list[str]:
    """A bubblewrap command line; isolates: for a program that makes namespaces within its own."""
    python_folders = _python_folders()
    hidden = [folder for folder in python_folders if os.geteuid() == 0 and not _is_open_to_all(folder)]
    seen_as = {folder: f"{MOUNTS}/python{number}" for number, folder in enumerate(hidden)}
    command = [
        "bwrap",
        *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
        "--as-pid-1",  # what runs there cannot end it, nor read the environment that bubblewrap itself was started in
        *more,
        *("--ro-bind", "/usr", "/usr"),
    ]
    for link in ("/bin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link).lstrip("/"), link]
        elif os.path.isdir(link):
            command += ["--ro-bind", link, link]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    if isolates:
        command += ["--ro-bind-try", HUGE_PAGES_SETTING, HUGE_PAGES_SETTING]
    for scratch in ("/tmp", "/dev/shm"):
        command += ["--size", str(TMP_BYTES), "--tmpfs", scratch]
    # After the scratch folders: the interpreter, or the stage, may itself lie below /tmp.
    for folder in python_folders:
        command += ["--ro-bind", seen_as.get(folder, folder), folder]
    command += ["--ro-bind", str(stage), INSIDE]
    # Other people's submissions, and this repository where it lies below what is shown: pip puts it beside packages.
    shown = ["/usr", *python_folders]
    empty = [place for place in (EXCHANGE, *OURS) if os.path.isdir(place) and _is_below(place, shown)]
    for place in empty:
        command += ["--tmpfs", place]
    # In memory without a limit, or kept from one worker of a fork server to the next.
    for made in (*empty, "/", "/dev", "/dev/pts"):
        command += ["--remount-ro", made]
    if not isolates:
        command += ["--remount-ro", "/proc"]  # some settings of its own namespaces it could write
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    if isolates:
        environment |= HUGE_PAGES
    environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    for name, value in environment.items():
        command += ["--setenv", name, value]
    command += ["--chdir", "/tmp", *program]
    return command if os.geteuid() != 0 else _as_nobody(command, seen_as)


def _as_nobody(command: list[str], seen_as: dict[str, str]) -> list[str]:
    """The command line that gives up root first: bubblewrap never runs as root.

    seen_as: folders that only root can reach, and the places where they are bound before that, in a mount namespace
    of the command's own
    """
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *command]
    if not seen_as:
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
    folders: list[str] = []
    for folder in map(os.path.realpath, wanted):
        if not _is_below(folder, ["/usr", *folders]):
            folders.append(folder)
    return folders


def _is_below(place: str, folders: list[str]) -> bool:
    return any(Path(place).is_relative_to(folder) for folder in folders)


def _is_open_to_all(folder: str) -> bool:
    """Whether any user can reach and read a folder."""
    path = Path(folder)
    return all(place.stat().st_mode & 0o001 for place in (path, *path.parents)) and bool(path.stat().st_mode & 0o004)
