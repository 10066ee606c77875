"""Serves a folder on this machine as hosts do: text with gzip."""

from __future__ import annotations

import gzip
from io import BytesIO
from pathlib import Path
from typing import Any

from autograder.build.serving import QuietHandler

TEXT = {".html", ".css", ".js", ".svg", ".json", ".xml"}


class Compressed(QuietHandler):
    """Sends text as hosts do: with gzip, over connections that stay open."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> Any:
        path = Path(self.translate_path(self.path))
        if path.suffix not in TEXT or not path.is_file():
            return super().send_head()
        content = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return BytesIO(content)
