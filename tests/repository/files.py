"""What lies in the repository, as git sees it."""

from __future__ import annotations

import gzip
import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE_CLASS = "tests/sample_class/"  # submissions, some of them broken on purpose


@cache
def names() -> tuple[str, ...]:
    """Every file that is committed or about to be, relative to the root; ignored ones are not."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()}))


def ours(suffix: str) -> list[str]:
    """The files with this suffix that are not part of the sample class."""
    return [name for name in names() if name.endswith(suffix) and not name.startswith(SAMPLE_CLASS)]


@cache
def text(name: str) -> str:
    """The text of a file, of what a .gz holds; bytes that are no UTF-8 are replaced."""
    data = (ROOT / name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode(encoding="utf-8", errors="replace")


def make_targets() -> set[str]:
    """The targets that the Makefile defines by name."""
    return {
        target
        for line in re.findall(r"^([\w .-]+):(?!=)", text("Makefile"), flags=re.MULTILINE)
        for target in line.split()
        if not target.startswith(".")
    }


def make_calls(source: str) -> list[tuple[str, list[str]]]:
    """Each `make target NAME=value …` in a text: the target, and the names of the variables."""
    calls = re.findall(r"(?:^ {4}|`|run: )make ([a-z][a-z-]*)((?: [A-Z]+=\S+)*)", source, flags=re.MULTILINE)
    return [(target, re.findall(r"([A-Z]+)=", variables)) for target, variables in calls]
