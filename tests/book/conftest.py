"""The built book, served, once for all tests of its pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from autograder.build.site import build_book, is_fresh
from autograder.course.paths import BOOK


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site: the one in book/_build where it is fresh, else one built for these tests."""
    if is_fresh(BOOK):
        return build_book(BOOK)
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if shared.name.startswith("popen") else shared  # the workers of one run share one build
    return build_book(shared / "book")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing: the tests report what matters."""


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, with a slash at its end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
