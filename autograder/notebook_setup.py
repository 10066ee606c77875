"""The first cell of every notebook: standard library only, safe to run again, the same everywhere."""

from __future__ import annotations

from .repository import repository

__all__ = ["setup_source"]

TEMPLATE = """\
# Finds the course, or fetches it, and puts it on Python's path. Running this cell again does no harm.
import subprocess
import sys
from pathlib import Path

REPOSITORY = "{url}"
BRANCH = "{branch}"
FOLDERS = {folders}  # of the course, in the order in which Python looks


def find_course():
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, here / "{name}"):
        if (folder / "book" / "_config.yml").is_file() and (folder / "src" / "selfcheck").is_dir():
            return folder
    return None


course = find_course()
if course is None:
    print(f"Fetching {{REPOSITORY}} …")
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", "--branch", BRANCH, REPOSITORY, "{name}"], check=True)
    course = find_course()
paths = [str(course / folder) for folder in FOLDERS]
sys.path[:] = paths + [path for path in sys.path if path not in paths]
print(f"The course is in {{course}}; Python looks first in {{' and '.join(FOLDERS)}}.")
"""


def setup_source(folders: tuple[str, ...]) -> str:
    """The cell's code; folders: what of the course goes on Python's path."""
    home = repository()
    return TEMPLATE.format(
        url=home.url, branch=home.branch, name=home.name, folders=str(folders).replace("'", '"')
    ).rstrip()
