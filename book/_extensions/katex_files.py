"""Takes KaTeX's script, style and fonts from node_modules, so that no page asks another machine for them."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinxcontrib import katex

DIST = Path(__file__).resolve().parents[2] / "node_modules" / "katex" / "dist"
START = katex.KaTeXServer.start_server_process
GET = katex.KaTeXServer.get
OTHER_FORMATS = re.compile(r',url\([^)]+\.(?:woff|ttf)\) format\("[a-z]+"\)')


def point_to_own_files(app: Sphinx, config: Config) -> None:
    """Renders with our KaTeX, and makes a formula it cannot read an error instead of red text."""
    config.katex_js_path = str(DIST / "katex.min.js")
    config.katex_css_path = "katex/katex.min.css"
    katex.KATEX_DEFAULT_OPTIONS.update(throwOnError=True, strict="ignore")
    katex.KaTeXServer.start_server_process = _start_and_try_again
    katex.KaTeXServer.get = _get_own
    katex.STARTUP_TIMEOUT = 60.0


def _start_and_try_again(rundir: Path, timeout: float) -> tuple[Any, Any]:
    """Starts KaTeX's server; on a busy machine its socket may be there a moment before node listens to it."""
    for attempt in map(str, range(9)):
        (rundir / attempt).mkdir()
        with suppress(ConnectionRefusedError):
            return START(rundir / attempt, timeout)
    return START(rundir, timeout)


def _get_own() -> katex.KaTeXServer:
    """This process's server: Sphinx's workers are forks, and answers on a shared socket would be mixed up."""
    if getattr(katex.KaTeXServer, "owner", None) != os.getpid():
        katex.KaTeXServer.katex_server = None
        katex.KaTeXServer.owner = os.getpid()
    return GET()


def copy_files(app: Sphinx) -> None:
    """Copies the style and the woff2 fonts, which every browser in use reads."""
    target = Path(app.outdir) / "_static" / "katex"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    style = (DIST / "katex.min.css").read_text("utf-8")
    (target / "katex.min.css").write_text(OTHER_FORMATS.sub("", style), "utf-8")
    for font in sorted((DIST / "fonts").glob("*.woff2")):
        shutil.copyfile(font, target / "fonts" / font.name)


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("sphinxcontrib.katex")
    app.connect("config-inited", point_to_own_files)
    app.connect("builder-inited", copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
