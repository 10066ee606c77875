"""Leaves out of the finished site what none of its pages uses: style rules, glyphs of the fonts, scripts."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from formula_fonts import FONTS, MAIN, characters_by_font
from sphinx.application import Sphinx

from autograder.course.paths import ROOT

PURGECSS = ROOT / "node_modules" / ".bin" / "purgecss"
UNUSED = (
    "_static/scripts/fontawesome.js*",
    "_static/scripts/bootstrap.js*",
    "_static/scripts/pydata-sphinx-theme.js*",
    "_static/sphinx-thebe.*",
    "_static/design-tabs.js",
    "_static/togglebutton.*",
    "_static/searchtools.js",
    "_static/doctools.js",
    "_static/sphinx_highlight.js",
    "_static/documentation_options.js",
    "searchindex.js",
    "_static/webpack-macros.html",
    "_static/**/*.map",
    "_static/**/*.ttf",
    "_static/**/*.woff",
)
OLD_FORMATS = re.compile(r",\s*url\([^)]*\.(?:ttf|woff)\)\s*format\([^)]*\)")
ICON = re.compile(r"\\([ef][0-9a-f]{3})")
#: Classes that a script or a reader's choice sets, written in no page: PurgeCSS would not see them used.
SET_LATER = ("show", "active", "scrolled")
#: Kept whole: styles of widgets, whose elements are made by scripts, and those that set colours for other sheets, which
#: PurgeCSS would take for unused.
KEPT = ("_static/widgets/*.css", "_static/colours.css", "_static/attention.css")


def purge_styles(site: Path) -> None:
    """Keeps the rules whose names occur in a page or in a script of the site."""
    kept = {path for pattern in KEPT for path in site.glob(pattern)}
    sheets = sorted(set(site.rglob("*.css")) - kept)
    with tempfile.TemporaryDirectory() as folder:
        used = ("--content", f"{site}/**/*.html", f"{site}/_static/**/*.js", "--safelist", *SET_LATER)
        beside = ("--keyframes", "--font-face", "--variables", "--output", folder)
        command = [str(PURGECSS), "--css", *map(str, sheets), *used, *beside]
        subprocess.run(command, check=True, capture_output=True)
        for sheet in sheets:
            rules = (Path(folder) / sheet.name).read_text("utf-8")
            sheet.write_text(OLD_FORMATS.sub("", rules), "utf-8")


def reduce_fonts(site: Path) -> None:
    """Keeps, of each font, the characters that a page or a style rule shows in it."""
    icons = {chr(int(code, 16)) for sheet in site.rglob("*.css") for code in ICON.findall(sheet.read_text("utf-8"))}
    formulas: dict[str, set[str]] = defaultdict(set)
    for page in site.rglob("*.html"):
        for font, characters in characters_by_font(page.read_text("utf-8")).items():
            formulas[font] |= characters
    for path in sorted(site.rglob("*.woff2")):
        own = formulas[path.stem if path.stem in (MAIN, *FONTS.values()) else ""]
        keep_characters(path, icons if "fontawesome" in path.parts else own)


def keep_characters(path: Path, characters: Iterable[str]) -> None:
    """path: a font in WOFF2, which is written anew with these characters alone"""
    options = subset.Options(flavor="woff2", layout_features=["*"], hinting=False)
    with TTFont(path) as font:
        reducer = subset.Subsetter(options)
        reducer.populate(unicodes=[ord(one) for one in characters])
        reducer.subset(font)
        subset.save_font(font, str(path), options)


def lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for pattern in UNUSED:
        for path in site.glob(pattern):
            path.unlink()
    purge_styles(site)
    reduce_fonts(site)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
