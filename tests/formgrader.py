"""nbgrader's formgrader on a course, as an instructor's Jupyter server brings it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

START = 60  # seconds


@contextmanager
def formgrader_on(root: Path, home: Path) -> Iterator[str]:
    """The address of formgrader on the course in a folder; home: an empty folder for Jupyter's own files."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    settings = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "root_dir": root, "open_browser": False}
    command = [sys.executable, "-m", "jupyter_server", "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=root, env=os.environ | {"HOME": str(home)}, **quiet) as server:
        address = f"http://127.0.0.1:{port}/formgrader"
        for _ in range(4 * START):
            with suppress(OSError), urllib.request.urlopen(f"{address}/manage_students", timeout=START):
                break
            time.sleep(0.25)
        try:
            yield address
        finally:
            server.terminate()
