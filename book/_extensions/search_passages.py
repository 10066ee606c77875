"""Writes what the site's search looks through: the prose of every section, term and exercise, with its anchor."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from folds import fold
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

from autograder.course.paths import BOOK, ROOT

LOG = logging.getLogger(__name__)
OTHER_NAMES = BOOK / "other_names.toml"
LIBRARY = ROOT / "node_modules" / "minisearch"
#: What is no prose, or is to be found out before it is read: code, outputs, formulas on lines of their own, folds.
SILENT = (nodes.literal_block, nodes.math_block, nodes.image, nodes.comment, nodes.raw, nodes.target, fold)
SILENT_CLASSES = {"cell_input", "cell_output", "exercise-facts", "exercise-work", "exercise-title"}
OWN = (addnodes.glossary, nodes.section, nodes.title)  # passages of their own, as exercises are
#: Names in formulas and the signs that stand for them in a line of prose.
NAMED = "infty ∞ top ᵀ cdot · times × neq ≠ to → dots … cdots … ell ℓ sqrt √ varepsilon ε"
SIGNS = dict(zip(NAMED.split()[::2], NAMED.split()[1::2], strict=True))


class Passage(NamedTuple):
    """What one result of the search shows."""

    page: str
    anchor: str  # empty for the page itself
    title: str
    kind: str  # page, section, term or exercise
    text: str  # prose, of which an excerpt is shown
    more: str  # words of tables and of the list of works, searched but not shown
    ids: tuple[str, ...]  # the labels of the place


def passages(doctree: nodes.document, page: str) -> Iterator[Passage]:
    """The passages of a page in their order; doctree: its tree, with every reference resolved."""
    for section in doctree.findall(nodes.section):
        title = section.next_node(nodes.title)
        top = isinstance(section.parent, nodes.document)
        own = [child for child in section.children if not isinstance(child, OWN)]
        anchor = "" if top else section["ids"][0]
        yield Passage(page, anchor, prose(title), "page" if top else "section", *_texts(own), tuple(section["ids"]))
    for item in doctree.findall(nodes.definition_list_item):
        term = item.next_node(nodes.term)
        if "glossary" in item.parent["classes"]:
            yield Passage(page, term["ids"][0], prose(term), "term", *_texts(item.children[1:]), ())
    if page.startswith("chapters/"):  # an exercise stands in its chapter and in its problem set
        for block in doctree.findall(lambda node: "exercise" in getattr(node, "attributes", {}).get("classes", ())):
            title = next(child for child in block.children if "exercise-title" in child["classes"])
            yield Passage(page, block["ids"][0], title.astext(), "exercise", *_texts(block.children), ())


def _texts(children: list[nodes.Node]) -> tuple[str, str]:
    """The prose below these nodes, and what stands in tables and in lists of works."""
    shown, more = [], []
    for child in children:
        if "exercise" not in child.get("classes", ()):
            (more if isinstance(child, nodes.table | nodes.citation) else shown).append(prose(child))
    return " ".join(filter(None, shown)), " ".join(filter(None, more))


def prose(node: nodes.Node) -> str:
    """The sentences of a node in one line, formulas in them as plain signs."""
    return re.sub(r"\s+([.,;:?!)])(?=\s|$)", r"\1", " ".join("".join(_pieces(node)).split()))


def _pieces(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Text):
        yield str(node)
        return
    if isinstance(node, SILENT) or SILENT_CLASSES & set(node.get("classes", ())):
        return
    if isinstance(node, nodes.math):
        yield formula(node.astext())
        return
    for child in node.children:
        yield from _pieces(child)
    if not isinstance(node, nodes.Inline):
        yield " "


def formula(source: str) -> str:
    """A formula of TeX in one line of plain signs: `\\\\sqrt{d_k}` becomes √d_k."""
    text = re.sub(r"\\(?:text|mathrm|operatorname|mathbf|bar|hat|tilde)\s*\{([^{}]*)\}", r"\1", source)
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√\1", text)
    text = re.sub(r"\\[td]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda name: _sign(name[1]), text)
    return re.sub(r"\\[,;:! ]|[{}$]|\\", "", text).replace("-", "−")


def _sign(name: str) -> str:
    """The sign of a name in TeX; HTML has most of the Greek letters and operators under the same names."""
    return SIGNS.get(name) or html5.get(f"{name};") or (name if len(name) > 2 else "")


def collect(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keeps the passages of a page; the book is always built whole, so that none is missing in the end."""
    if app.builder.format == "html":
        _collected(app)[page] = list(passages(doctree, page))


def write(app: Sphinx, exception: Exception | None) -> None:
    """Writes the passages, and beside them the library that searches them."""
    if exception is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    content = json.dumps(given(app), ensure_ascii=False, separators=(",", ":"))
    (static / "passages.js").write_text(f"const bookPassages = {content};\n", "utf-8")
    version = json.loads((LIBRARY / "package.json").read_text("utf-8"))["version"]
    code = (LIBRARY / "dist" / "umd" / "index.js").read_text("utf-8").partition("//# sourceMappingURL")[0]
    (static / "minisearch.js").write_text(f"/*! MiniSearch {version}, Luca Ongaro, MIT licence */\n{code}", "utf-8")


def given(app: Sphinx) -> dict[str, list[Any]]:
    """What find.js reads: pages are [address, title], passages [its page, anchor, kind, title, text, more, names]"""
    found = dict(sorted(_collected(app).items()))
    names = {label.lower(): other for label, other in tomllib.loads(OTHER_NAMES.read_text("utf-8")).items()}
    numbers = {page: index for index, page in enumerate(found)}
    shown = []
    for one in (passage for page in found.values() for passage in page):
        others = [name for label in one.ids for name in names.pop(label, ())]
        shown.append([numbers[one.page], one.anchor, one.kind, one.title, one.text, _unseen(one), others])
    for label in names:
        LOG.warning("other_names.toml gives names to %s: expected the label of a section, and no section has it", label)
    titles = [[app.builder.get_target_uri(page), app.env.titles[page].astext()] for page in found]
    return {"pages": titles, "passages": shown}


def _unseen(passage: Passage) -> str:
    """The words of tables and lists of works that the text has not."""
    seen = set(re.findall(r"\w+", passage.text.lower()))
    words = re.findall(r"[^\W\d]\w+", passage.more)
    return " ".join(dict.fromkeys(word for word in words if word.lower() not in seen))


def _collected(app: Sphinx) -> dict[str, list[Passage]]:
    if not hasattr(app.builder, "search_passages"):
        app.builder.search_passages = {}
    return app.builder.search_passages


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", collect, priority=900)
    app.connect("build-finished", write, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
