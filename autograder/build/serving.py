"""Serves a folder to browsers on this machine, for as long as a page of it is printed or tested."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

__all__ = ["QuietHandler", "served"]


class QuietHandler(SimpleHTTPRequestHandler):
    """Sends files, and logs no request."""

    def log_message(self, *_: object) -> None:
        """Says nothing: a page that is missing shows in what is printed or tested."""


@contextmanager
def served(folder: Path, handler: type[QuietHandler] = QuietHandler) -> Iterator[str]:
    """The address of a folder that is served meanwhile on a free port, with a slash at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
