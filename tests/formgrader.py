"""nbgrader's formgrader on a course, as an instructor's Jupyter server brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .jupyter_servers import server_on


@contextmanager
def formgrader_on(root: Path, home: Path) -> Iterator[str]:
    """The address of formgrader on the course in a folder; home: an empty folder for Jupyter's own files."""
    with server_on("jupyter_server", root, home, ready="formgrader/manage_students") as address:
        yield f"{address}/formgrader"
