"""Says which isolation this machine offers, what is missing, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..prerequisites import python_problem
from ..sandbox import cgroup
from ..sandbox.bubblewrap import NOBODY, PROGRAMS, PROGRAMS_OF_ROOT, SandboxUnavailable, open_sandbox
from ..sandbox.self_test import NO_NAMESPACES, SYSCALL_FILTER
from ..sandbox.sight import InSight

GOOD, LACKS, FAILS = "good", "lacks", "fails"
#: Settings of the kernel that may forbid user namespaces: file below /proc/sys, the value that does, what to do.
SYSCTLS = (
    ("kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
    ("user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"),
)
CONTAINERS = ("/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io")
#: Flags with which a container lets bubblewrap make namespaces of its own; no privilege of the host's is among them.
FLAGS = {
    "docker": "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined",
    "podman": "--security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable",
}
IN_CONTAINER = (
    "This is a container, which forbids namespaces within it by default. Start it with\n"
    + "\n".join(f"  {name} run {flags} …" for name, flags in FLAGS.items())
    + "\nor grade on the host, on a copy of the course folder."
)
WITHOUT = {
    SYSCALL_FILTER: "Install libseccomp2 (Debian: apt-get install libseccomp2) and pyseccomp (make setup). Until then "
    "submitted code may call the kernel as any unprivileged program may.",
    NO_NAMESPACES: "It needs the filter of system calls.",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. state: GOOD, LACKS (grading goes on without it) or FAILS; remedy: "" where good"""

    name: str
    state: str
    text: str
    remedy: str = ""


def examine(private: Sequence[Path] = (), proc_sys: Path = Path("/proc/sys")) -> list[Finding]:
    """Everything that decides whether and how grading is isolated here; private: what submissions must not see."""
    return [*_python(), *_programs(), *_namespaces(proc_sys), *_sandbox(private), _cgroup()]


def _python() -> Iterator[Finding]:
    problem = python_problem(sys.version_info[:3])
    yield Finding("Python", FAILS if problem else GOOD, platform.python_version(), problem or "")
    for name in ("numpy", "torch"):
        try:
            yield Finding(name, GOOD, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, FAILS, "not installed", "make setup")


def _programs() -> Iterator[Finding]:
    if sys.platform != "linux":
        text = f"this is {platform.system()}: there is no isolation"
        yield Finding("Linux", FAILS, text, "Grade on Linux, in a virtual machine or a container of it.")
        return
    yield Finding("Linux", GOOD, platform.release())
    for program, package in PROGRAMS_OF_ROOT if is_root() else PROGRAMS:
        place = shutil.which(program)
        if place:
            yield Finding(program, GOOD, place)
        else:
            yield Finding(program, FAILS, "not installed", f"Debian and Ubuntu: apt-get install {package}")


def _namespaces(proc_sys: Path) -> Iterator[Finding]:
    """Whether an ordinary user may make namespaces, and what forbids it."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return
    command = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "true"]
    if is_root() and shutil.which("setpriv"):
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    if done.returncode == 0:
        yield Finding("user namespaces", GOOD, "an ordinary user may make them")
        return
    said = (done.stderr.strip().splitlines() or ["refused"])[-1]
    yield Finding("user namespaces", FAILS, said, "\n".join(_forbidden_by(proc_sys)) or "Ask who runs this machine.")


def _forbidden_by(proc_sys: Path) -> Iterator[str]:
    for name, forbids, remedy in SYSCTLS:
        path = proc_sys / name
        if path.exists() and path.read_text(encoding="ascii").strip() == forbids:
            yield f"{name.replace('/', '.')} is {forbids}. On the host, as root: {remedy}"
    if any(map(os.path.exists, CONTAINERS)):
        yield IN_CONTAINER


def _sandbox(private: Sequence[Path]) -> Iterator[Finding]:
    """The self-test, which is what counts."""
    try:
        sandbox = open_sandbox(private=private)
    except InSight as error:
        yield Finding("sandbox", FAILS, "a submission would see what is private", str(error))
    except SandboxUnavailable as error:
        remedy = IN_CONTAINER if any(map(os.path.exists, CONTAINERS)) else ""
        yield Finding("sandbox", FAILS, str(error).splitlines()[0], remedy or "See what fails above.")
    else:
        yield Finding("sandbox", GOOD, f"{sandbox.description}: its self-test passes")
        for name in sandbox.lacks:
            yield Finding(name, LACKS, "not to be had", WITHOUT.get(name, ""))


def _cgroup() -> Finding:
    parent = cgroup.delegated_parent() if sys.platform == "linux" else None
    if parent:
        return Finding("memory by cgroup", GOOD, str(parent))
    remedy = "Optional: systemd-run --user --scope -p Delegate=yes python -m autograder grade … (cgroup version 2)"
    return Finding("memory by cgroup", LACKS, "no cgroup is delegated: memory is watched from outside instead", remedy)


def is_root() -> bool:
    """Whether this is root, who gives up the rights before bubblewrap is started."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
