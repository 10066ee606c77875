"""Pages that hold one widget each, with the files that the extension would copy: no book has to be built for them."""

from __future__ import annotations

import importlib.util
import shutil
from functools import cache
from html import escape
from pathlib import Path
from types import ModuleType

from autograder.course.paths import BOOK

STYLES = ("attention.css", "colours.css")
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>A widget</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="_static/attention.css"><link rel="stylesheet" href="_static/colours.css">
<script>document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"
</script>
<script defer src="_static/widgets/loader.js"></script>
<style>body {{ margin: 0; background: var(--paper); color: var(--ink); font-family: sans-serif }}
main {{ max-width: 44rem; margin: auto; padding: 16px }}</style>
</head><body><main><h1>A widget</h1>{before}{element}</main></body></html>"""


@cache
def extension() -> ModuleType:
    """book/_extensions/widgets.py"""
    spec = importlib.util.spec_from_file_location("widgets_extension", BOOK / "_extensions" / "widgets.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_page(folder: Path, name: str, before: str = "", **attributes: str) -> Path:
    """A page in folder with the widget `name` and what it needs; before: HTML above it. Returns the page's path."""
    files = folder / "_static" / "widgets"
    if not files.is_dir():
        files.mkdir(parents=True)
        for path in [*(BOOK / "widgets").glob("*.js"), *(BOOK / "widgets").glob("*.css")]:
            shutil.copyfile(path, files / path.name)
        for style in STYLES:
            shutil.copyfile(BOOK / "_static" / style, folder / "_static" / style)
    needed = " ".join(extension().files_of(name, attributes.get("view", "")))
    given = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    module = extension().python_module(name)
    inside = module.fallback(attributes) if module else ""
    element = f'<{name} id="{name}" data-files="{needed}"{given}>{inside}</{name}>'
    page = folder / ("-".join([name, *attributes.values(), *(["below"] if before else [])]) + ".html")
    page.write_text(PAGE.format(before=before, element=element), "utf-8")
    return page
