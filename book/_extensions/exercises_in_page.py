"""Exercises that are done in the page: their editors' places, and the files that run what is written there."""

from __future__ import annotations

import functools
import hashlib
import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.build.page_archive import IN_PAGE, PROBLEM_SET, page_files, pressed
from selfcheck.catalogue import Exercise

FOLDER = "in_page"
FIRST, STYLE = f"{FOLDER}/exercises.js", f"{FOLDER}/exercises.css"  # all that a page loads before it is asked for more
OFFLINE = "offline.js"  # at the site's root, whose pages it may serve


def place(exercise: Exercise, stub: str) -> nodes.Node | None:
    """Where the editor of an exercise goes; None for one that no page can run. stub: what stands in it at first"""
    if exercise.problem_set != PROBLEM_SET:
        return None
    facts = {"number": exercise.number, "module": exercise.module, "id": exercise.id, "stub": stub}
    given = " ".join(f'data-{name}="{html.escape(value)}"' for name, value in facts.items())
    return nodes.raw("", f'<div class="exercise-in-page" {given} hidden></div>', format="html")


def write_files(app: Sphinx) -> None:
    """Writes what the pages run to _static/in_page, the large files into a folder named by all that is in them."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / FOLDER
    files, digest = files_and_digest()
    (folder / digest).mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / digest / name).write_bytes(data)
    first = (IN_PAGE / "exercises.js").read_text("utf-8").replace("@FOLDER@", digest)
    (folder / "exercises.js").write_text(first, "utf-8")
    (folder / "exercises.css").write_bytes((IN_PAGE / "exercises.css").read_bytes())
    offline = (IN_PAGE / OFFLINE).read_text("utf-8").replace("@FOLDER@", digest)
    (Path(app.outdir) / OFFLINE).write_text(offline, "utf-8")


@functools.cache
def files_and_digest() -> tuple[dict[str, bytes], str]:
    """The files by name, those that are large pressed as well, and a name for all of them together."""
    files = page_files()
    sizes = {}
    for name in sorted(files):
        if name.rpartition(".")[2] in ("wasm", "json") or name == "pyodide.asm.mjs":
            files[f"{name}.gz"] = pressed(files[name])
        sizes[name] = len(files.get(f"{name}.gz", files[name]))
    files["sizes.json"] = json.dumps(sizes, sort_keys=True).encode()
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{hashlib.sha256(files[name]).hexdigest()}\0".encode())
    return files, whole.hexdigest()[:16]


def load_first(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Has a page with such exercises load the small script that shows their editors."""
    found = doctree.findall(nodes.raw) if doctree is not None else ()
    if any("exercise-in-page" in one.astext() for one in found):
        app.add_js_file(FIRST, loading_method="defer")
        app.add_css_file(STYLE)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", load_first)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
