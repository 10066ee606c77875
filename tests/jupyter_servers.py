"""Starts a Jupyter server on a folder, for a browser that tries what runs in it."""

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

START = 120  # seconds, for a server that takes three on a quiet machine


@contextmanager
def server_on(module: str, root: Path, home: Path, ready: str) -> Iterator[str]:
    """The address of a Jupyter server that answers.

    module: that starts it; root: its folder; home: an empty folder for Jupyter's own files
    ready: the path that answers once the server is ready; TimeoutError where it does not
    """
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    settings = {"ip": "127.0.0.1", "port": port, "port_retries": 0, "root_dir": root, "open_browser": False}
    command = [sys.executable, "-m", module, "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.{name}={value}" for name, value in settings.items()]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "XDG_"))}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=root, env=kept | {"HOME": str(home)}, **quiet) as server:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/{ready}")
            yield address
        finally:
            server.terminate()


def _wait_for(address: str) -> None:
    for _ in range(4 * START):
        with suppress(OSError), urllib.request.urlopen(address, timeout=START):
            return
        time.sleep(0.25)
    raise TimeoutError(f"{address} has not answered within {START} seconds")
