"""Isolates a program: bubblewrap, an unprivileged user, no network, read-only files, nothing secret in reach."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from . import linux, own_limits, seccomp, self_test, sight, staging
from .self_test import INSIDE
from .stage_folder import stage_folder

NOBODY = 65534
LEVELS = ("bubblewrap", "none")
CHOICES = ("bubblewrap", "auto", "none")  # of an instructor; "auto" is the best level there is
MOUNTS = "/mnt"  # is everywhere and nobody needs it: the interpreter is mounted below it
TMP_BYTES = 64 * 2**20
UNKNOWN_OPTION = "Unknown option"  # as bubblewrap says it
TOO_OLD = "This bubblewrap is too old: it has to be 0.7.0 or later."
PROGRAMS = (("bwrap", "bubblewrap"),)  # that it takes, and their Debian packages; root gives up its rights first
PROGRAMS_OF_ROOT = (*PROGRAMS, ("setpriv", "util-linux"), ("unshare", "util-linux"))
SELF_TEST_SECONDS = 60.0  # by the clock
#: Memory in pieces of 2 MiB, for the fork server: forking it takes a third of the time.
HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
#: Where malloc looks whether there are any; what else lies in that folder counts for the whole machine.
HUGE_PAGES_SETTINGS = [f"/sys/kernel/mm/transparent_hugepage/{name}" for name in ("enabled", "hpage_pmd_size")]
#: What the self-test found, by the private places that it looked for.
_tried: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}


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


def open_sandbox(
    wanted: str = "bubblewrap", pool: object | None = None, private: Sequence[str | os.PathLike[str]] = ()
) -> Sandbox:
    """A sandbox of one of CHOICES, tried once in this process.

    private: files and folders that must not be seen inside
    Raises SandboxUnavailable where bubblewrap is wanted and is missing or refused, or where the limits of this process
    leave no answer with any isolation; InSight where it would show one of these, or the temporary folder, in which
    submissions lie while they run.
    """
    trouble = own_limits.raise_or_tell() or own_limits.unreadable_path()
    if trouble:
        raise SandboxUnavailable(trouble)
    if wanted == "none":
        return Sandbox("none")
    if wanted not in CHOICES:
        raise ValueError(f"isolation must be {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, got {wanted!r}")
    sight.require_out_of_sight(private)
    sight.require_stages_out_of_sight()
    trouble, lacks = _self_test_of(tuple(str(place) for place in private))
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


def _self_test_of(private: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Why bubblewrap cannot be used here, or "", and which of the optional properties it lacks: tried once."""
    if private not in _tried:
        _tried[private] = _run_self_test((*sight.OURS, *private))
        _tried.setdefault((), _tried[private])
    return _tried[private]


def _run_self_test(private: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    if sys.platform != "linux":
        return f"it needs Linux, this is {sys.platform}", ()
    for program, package in PROGRAMS_OF_ROOT if os.geteuid() == 0 else PROGRAMS:
        if not shutil.which(program):
            of = "" if package == "bubblewrap" else f" (Debian: apt-get install {package})"  # for that, advice follows
            return f"the program {program} is not installed{of}", ()
    with stage_folder() as stage:
        staging.stage_programs(stage)
        staging.let_everybody_read(stage)
        try:
            with _filtered_command(stage, staging.command("self_test", *private)) as (command, descriptors):
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    encoding="utf-8",
                    errors="replace",  # names of files may be in another one
                    timeout=SELF_TEST_SECONDS,
                    stdin=subprocess.DEVNULL,
                    pass_fds=descriptors,
                )
        except subprocess.TimeoutExpired:
            return f"{command[0]} has not ended within {SELF_TEST_SECONDS:.0f} seconds", ()
        except OSError as error:
            return str(error), ()
    try:
        # What the installation prints when Python starts, from a sitecustomize.py or .pth file, stands before it.
        properties = dict(json.loads(done.stdout.strip().rpartition("\n")[2]))
    except (TypeError, ValueError):
        said = (done.stderr.strip() or done.stdout.strip() or "it printed nothing")[-500:]
        return said + (f"\n{TOO_OLD}" if UNKNOWN_OPTION in said else ""), ()
    lacks = tuple(name for name, holds in properties.items() if not holds)
    failed = [name for name in lacks if name not in self_test.OPTIONAL]
    advice = "".join(f"\n{self_test.ADVICE[name]}" for name in failed if name in self_test.ADVICE)
    return (f"sandbox self-test failed: {', '.join(failed)}{advice}" if failed else ""), lacks


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


def _covered_counters() -> list[str]:
    """The options that cover what counts for the whole machine."""
    files, folders = (
        [place for name in names if os.path.exists(place := f"/proc/{name}")]
        for names in (linux.COUNTERS, linux.COUNTING_FOLDERS)
    )
    options = [option for place in files for option in ("--dev-bind", os.devnull, place)]
    return options + [option for place in folders for option in ("--tmpfs", place, "--remount-ro", place)]


def _command(stage: Path, program: list[str], more: Sequence[str] = (), isolates: bool = False) -> list[str]:
    """A bubblewrap command line; isolates: for a program that makes namespaces within its own."""
    arrangement = sight.arrangement()
    sources = dict.fromkeys([source for _, source in arrangement if source] + [str(stage)])
    hidden = [source for source in sources if os.geteuid() == 0 and not _is_open_to_all(source)]
    seen_as = {source: f"{MOUNTS}/place{number}" for number, source in enumerate(hidden)}
    command = [
        "bwrap",
        *("--unshare-all", "--hostname", "sandbox", "--die-with-parent", "--new-session", "--clearenv"),
        "--as-pid-1",  # what runs there cannot end it, nor read the environment that bubblewrap itself was started in
        *more,
        *("--ro-bind", sight.SYSTEM, sight.SYSTEM),
    ]
    for link in ("/bin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link).lstrip("/"), link]
        elif os.path.isdir(link):
            command += ["--ro-bind", link, link]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--dev-bind", "/dev/full", "/dev/zero"]  # zeros too, but no memory that a map could share
    if not isolates:  # the fork server's workers have a /proc of their own
        command += _covered_counters()
    if isolates:
        command += [option for place in HUGE_PAGES_SETTINGS for option in ("--ro-bind-try", place, place)]
    for scratch in ("/tmp", "/dev/shm"):
        command += ["--size", str(TMP_BYTES), "--tmpfs", scratch]
    # After the scratch folders: the interpreter, or the stage, may itself lie below /tmp.
    for place, source in arrangement:
        command += ["--ro-bind", seen_as.get(source, source), place] if source else ["--tmpfs", place]
    command += ["--ro-bind", seen_as.get(str(stage), str(stage)), INSIDE]
    command += ["--tmpfs", "/dev/pts"]  # terminals, of which the machine has a number
    # In memory without a limit, or kept from one worker of a fork server to the next.
    for made in (*(place for place, source in arrangement if not source), "/", "/dev", "/dev/pts"):
        command += ["--remount-ro", made]
    if not isolates:
        command += ["--remount-ro", "/proc"]  # some settings of its own namespaces it could write
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
    if isolates:
        environment |= HUGE_PAGES
    environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    environment["TORCHDYNAMO_DISABLE"] = "1"  # whoever calls torch's compiler by another name gets back what was given
    for name, value in environment.items():
        command += ["--setenv", name, value]
    command += ["--chdir", "/tmp", *program]
    return command if os.geteuid() != 0 else _as_nobody(command, seen_as)


def _as_nobody(command: list[str], seen_as: dict[str, str]) -> list[str]:
    """The command line that gives up root first: bubblewrap never runs as root.

    seen_as: files and folders that only root can reach, and the places where they are bound before that, in a mount
        namespace of the command's own
    """
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *command]
    if not seen_as:
        return drop
    steps = [f"mount -t tmpfs -o mode=755 none {MOUNTS}"]
    for source, place in seen_as.items():
        make = "mkdir" if os.path.isdir(source) else "touch"
        steps.append(f"{make} {place} && mount --bind {shlex.quote(source)} {place}")
    script = " && ".join(steps) + ' && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *drop]


def _is_open_to_all(place: str) -> bool:
    """Whether any user can reach and read a file or folder."""
    path = Path(place)
    folders = (path, *path.parents) if path.is_dir() else path.parents
    return all(folder.stat().st_mode & 0o001 for folder in folders) and bool(path.stat().st_mode & 0o004)
