"""The `widget` directive: a custom element whose script the page fetches once the reader is near; until then, a table.

A widget NAME lies in `book/widgets`: NAME.js, NAME.css where it has one, and name.py, whose function `fallback` makes
what readers without JavaScript see. README.md there tells how one is written.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).resolve().parents[1] / "widgets"
PLACE = "_static/widgets"
USES = re.compile(r"^// uses: (.+)$", re.MULTILINE)


class widget(nodes.General, nodes.Element):
    """The custom element; its children are what it shows until its script has come."""


class AnyOption(dict[str, Any]):
    """Options of any name, as text: they become the element's attributes."""

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return lambda text: (text or "").strip()

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


class WidgetDirective(SphinxDirective):
    """```{widget} living-example``` with the element's attributes as options, such as `:view: hero`.

    `:fallback: cell` shows the output of the code cell above it in place of the table.
    """

    required_arguments = 1
    option_spec = AnyOption(any="")

    def run(self) -> list[nodes.Node]:
        name, options = self.arguments[0], dict(self.options)
        if not (FOLDER / f"{name}.js").is_file():
            known = ", ".join(sorted(path.stem for path in FOLDER.glob("*-*.js") if python_module(path.stem)))
            raise self.error(f"expected the name of a widget, got {name}; there are {known}")
        adopts = options.pop("fallback", "") == "cell"
        module = python_module(name)
        for option, value in options.items():
            allowed = module.ATTRIBUTES.get(option) if module else None
            if allowed is None or (allowed and value not in allowed):
                raise self.error(f"expected attributes {module and module.ATTRIBUTES}, got {option}={value!r}")
        number = self.env.new_serialno(f"widget-{name}")
        block = widget(name=name, options=options, adopts=adopts, ids=[name if number == 0 else f"{name}-{number + 1}"])
        self.set_source_info(block)
        if module and not adopts:
            block += nodes.raw("", with_columns(module.fallback(options)), format="html")
        return [block]


@cache
def python_module(name: str) -> ModuleType | None:
    """The Python file beside a widget's script: ATTRIBUTES, {name: values allowed, () for any}, and fallback()."""
    path = FOLDER / f"{name.replace('-', '_')}.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location(f"widget_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ExtensionError(f"{path.name} is no Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_columns(table: str) -> str:
    """The table of a fallback whose cells say their column's name, for phones on which a row becomes a card."""
    tree = BeautifulSoup(table, "html.parser")
    for found in tree.find_all("table"):
        found["class"] = [*found.get("class", []), "cards"]
        names, *rows = found.find_all("tr")
        for row in rows:
            for cell, name in zip(row.find_all(["th", "td"]), names.find_all("th"), strict=True):
                if cell.name == "td":
                    cell["data-column"] = name.get_text()
    return str(tree)


def files_of(name: str, view: str = "") -> list[str]:
    """The files that a widget needs, in the order in which they are loaded: those it uses, itself, its view's own."""
    found: list[str] = []

    def add(script: str) -> None:
        if script in found:
            return
        source = (FOLDER / script).read_text("utf-8")
        for used in USES.findall(source):
            for one in used.split():
                add(one)
        sheet = script.replace(".js", ".css")
        found.extend([sheet] * (FOLDER / sheet).is_file() + [script])

    for script in (f"{name}-{view}.js", f"{name}.js"):
        if (FOLDER / script).is_file():
            add(script)
    return found


def adopt_cells(app: Sphinx, document: nodes.document) -> None:
    """Moves the code cell above a widget with `:fallback: cell` into it."""
    for block in list(document.findall(widget)):
        if not block["adopts"]:
            continue
        place = block.parent.index(block)
        cell = block.parent[place - 1] if place else None
        if not (isinstance(cell, nodes.container) and "cell" in cell.get("classes", ())):
            raise ExtensionError(f"{app.env.docname}: `:fallback: cell` needs a code cell right above the widget")
        block.parent.remove(cell)
        block += cell


def open_element(translator: Any, block: widget) -> None:
    name, options = block["name"], block["options"]
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in options.items())
    files = " ".join(files_of(name, options.get("view", "")))
    translator.body.append(f'<{name} id="{block["ids"][0]}" data-files="{files}"{attributes}>')


def close_element(translator: Any, block: widget) -> None:
    translator.body.append(f"</{block['name']}>")


def skip(translator: Any, block: widget) -> None:
    raise nodes.SkipNode


def add_loader(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Adds the loader to the pages that have a widget."""
    if doctree is not None and next(iter(doctree.findall(widget)), None) is not None:
        app.add_js_file("widgets/loader.js", loading_method="defer")


def copy_files(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        place = Path(app.outdir) / PLACE
        place.mkdir(parents=True, exist_ok=True)
        for path in [*FOLDER.glob("*.js"), *FOLDER.glob("*.css")]:
            shutil.copyfile(path, place / path.name)


def setup(app: Sphinx) -> dict[str, Any]:
    unseen = (skip, None)
    app.add_node(widget, html=(open_element, close_element), latex=unseen, text=unseen, man=unseen, texinfo=unseen)
    app.add_directive("widget", WidgetDirective)
    app.connect("doctree-read", adopt_cells)
    app.connect("html-page-context", add_loader)
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
