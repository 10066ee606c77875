"""Finds the programs that pip cannot install, or says how to get them.

Standard library only, and readable by any Python 3.7: it runs before .venv exists.

    python3 -I autograder/prerequisites.py python      is this Python one that the course supports?
    python3 -I autograder/prerequisites.py course      what `make course` needs
    python3 -I autograder/prerequisites.py test        what `make test` needs
    python3 -I autograder/prerequisites.py test-all    and what `make test-all` tries beside
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

OLDEST, NEWEST = (3, 11), (3, 14)  # what the pins have wheels for


class Program(NamedTuple):
    """A program by any of its names, the Debian package that brings it, what it is for.

    versions: where Debian keeps it off the PATH, in a folder for each version
    """

    names: tuple[str, ...]
    package: str
    purpose: str
    elsewhere: str
    versions: Path | None = None


NODE = Program(("node", "nodejs"), "nodejs", "renders the formulas of the book", "Node.js 18 or newer, from nodejs.org")
NPM = Program(("npm",), "npm", "installs KaTeX from package-lock.json", "npm, which comes with Node.js")
BUBBLEWRAP = Program(("bwrap",), "bubblewrap", "the sandbox that submissions are graded in", "Linux only")
SETPRIV = Program(("setpriv",), "util-linux", "starts the sandbox as an unprivileged user", "Linux only")
CHROMIUM = Program(
    ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "chromium",
    "the browser that opens the book's pages in the tests",
    "Chromium or Google Chrome, on the PATH as chromium or google-chrome",
)
FIREFOX = Program(
    ("firefox-esr", "firefox"),
    "firefox-esr",
    "the second browser that exercises and widgets are tried in",
    "Firefox, on the PATH as firefox",
)
WEBKIT = Program(
    ("WebKitWebDriver",),
    "webkit2gtk-driver",
    "the third browser that exercises and widgets are tried in",
    "WebKitGTK with its WebDriver, Linux only",
)
SCREEN = Program(("xvfb-run",), "xvfb", "the screen that WebKit draws on", "Xvfb, Linux only")
POSTGRESQL = Program(
    ("initdb",),
    "postgresql",
    "the database server that two graders share in the tests",
    "PostgreSQL, from postgresql.org, with its initdb on the PATH",
    Path("/usr/lib/postgresql"),
)

TESTED = (NODE, NPM, BUBBLEWRAP, SETPRIV, CHROMIUM, POSTGRESQL)
NEEDED = {"course": (NODE, NPM), "test": TESTED, "test-all": TESTED}
# The sample class of `make course` is the course's own code, so there a missing sandbox is a warning.
WISHED = {"course": (BUBBLEWRAP, SETPRIV), "test": (), "test-all": (FIREFOX, WEBKIT, SCREEN)}


def python_problem(version: Sequence[int], find: Callable[[str], str | None] = shutil.which) -> str | None:
    """What is wrong with this version of Python, and what to try; None where nothing is."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        if importlib.util.find_spec("ensurepip"):
            return None
        return "This Python cannot make virtual environments. On Debian or Ubuntu: sudo apt-get install python3-venv"
    text = (
        f"Attention by Hand needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}, and this is Python {version[0]}.{version[1]}."
    )
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = f"python3.{minor}"
        if find(name):
            return f"{text}\n  You have {name}; try: make PYTHON={name} …"
    return text + "\n  On Debian 12 or newer: sudo apt-get install python3 python3-venv. Elsewhere: python.org."


def path_of(program: Program, find: Callable[[str], str | None] = shutil.which) -> str | None:
    """Where a program is: on the PATH, or its newest version off the PATH; None where it is not."""
    on_path = next(filter(None, map(find, program.names)), None)
    if on_path or not program.versions:
        return on_path
    places = [path for name in program.names for path in program.versions.glob(f"*/bin/{name}")]
    newest = max(places, key=lambda path: [int(number) for number in re.findall(r"\d+", path.parts[-3])], default=None)
    return str(newest) if newest else None


def missing(programs: Sequence[Program], find: Callable[[str], str | None] = shutil.which) -> list[Program]:
    """Those programs that are not on this machine."""
    return [program for program in programs if not path_of(program, find)]


def installer(find: Callable[[str], str | None] = shutil.which) -> list[str] | None:
    """The command that Debian packages are installed with, as far as `apt-get`; None where we may not."""
    if not find("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if find("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        return ["sudo", "-n", "apt-get"]
    return None


def advice(programs: Sequence[Program]) -> str:
    """What to install, exactly, where we could not."""
    lines = [f"  {program.names[0]:<10} {program.purpose}" for program in programs]
    lines.append("On Debian or Ubuntu: sudo apt-get install " + " ".join(program.package for program in programs))
    lines += [f"Elsewhere, for {program.names[0]}: {program.elsewhere}." for program in programs]
    return "\n".join(lines)


def install(programs: Sequence[Program], command: list[str]) -> None:
    """Installs their Debian packages, in full view; a failure shows in what is still missing afterwards."""
    packages = [program.package for program in programs]
    print("Installing Debian packages: " + " ".join(packages), flush=True)
    options = ["-o", "Dpkg::Use-Pty=0", "-y", "--no-install-recommends"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    if command[0] == "sudo":
        command = [*command[:-1], "DEBIAN_FRONTEND=noninteractive", command[-1]]
    subprocess.run([*command, "update"], env=environment, stdin=subprocess.DEVNULL, check=False)
    subprocess.run([*command, "install", *options, *packages], env=environment, stdin=subprocess.DEVNULL, check=False)


def provide(goal: str) -> int:
    """Brings what `goal` needs on to this machine where that is allowed. Returns the exit status."""
    absent = missing(NEEDED[goal] + WISHED[goal])
    command = installer() if absent else None
    if absent and command:
        install(absent, command)
    wished, needed = missing(WISHED[goal]), missing(NEEDED[goal])
    if wished:
        print(f"Missing, and `make {goal}` goes on without:\n{advice(wished)}", flush=True)
    if needed:
        print(f"Please install these, then run `make {goal}` again:\n{advice(needed)}", file=sys.stderr)
    return 1 if needed else 0


def main(arguments: Sequence[str]) -> int:
    """Answers one goal: python, course, test or test-all."""
    if len(arguments) != 1 or arguments[0] not in ("python", *NEEDED):
        print("usage: prerequisites.py python|course|test|test-all", file=sys.stderr)
        return 2
    problem = python_problem(sys.version_info[:3])
    if problem:
        print(problem, file=sys.stderr)
        return 1
    return 0 if arguments[0] == "python" else provide(arguments[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
