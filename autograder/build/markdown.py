"""Converts a page's MyST to the plain Markdown that Colab and JupyterLab show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..course.paths import BOOK
from .book_index import BookIndex
from .inline_markdown import Inline
from .quick_questions import find, plain
from .solution_marks import without_marks, without_solutions, without_tool_comments
from .urls import site_url

__all__ = ["Block", "Directive", "convert", "pieces"]

OPEN = re.compile(r"^(?P<indent>\s*)(?P<fence>`{3,}|:{3,}|~{3,})\{(?P<name>[^}]+)\}[ \t]*(?P<argument>.*)$")
CODE = re.compile(r"^\s*(?P<fence>`{3,}|~{3,})")
OPTION = re.compile(r"^:([A-Za-z-]+):[ \t]*(.*)$")
LABEL = re.compile(r"^\([^()\s]+\)=\s*$")
FORMULA_END = re.compile(r"\$\$\s*(?:\(([^()\s]+)\))?\s*$")
ADMONITIONS = ("note", "tip", "hint", "important", "warning", "caution", "attention", "danger", "error", "seealso")
TRANSPARENT = ("grid", "grid-item", "tab-set", "div", "container", "only", "table-wrapper")
DROPPED = ("toctree", "tableofcontents", "contents", "bibliography", "index", "raw", "widget")


@dataclass(frozen=True)
class Directive:
    """A fenced directive of a page: its name, argument, options and the lines inside."""

    name: str
    argument: str
    options: dict[str, str]
    body: list[str]


Block = str | Directive


def pieces(text: str, page: str, index: BookIndex, apart: tuple[str, ...] = ()) -> Iterator[Block]:
    """The plain Markdown of a text, cut at the directives named in `apart`, which are passed on as they are.

    page: the page's name, for relative links and messages
    Raises LookupError for a reference to nothing, ValueError for a role or directive that has no plain form.
    """
    gathered: list[str] = []
    for block in _blocks(text.splitlines()):
        if isinstance(block, Directive) and block.name in apart:
            if _joined(gathered):
                yield _joined(gathered)
            gathered = []
            yield block
        else:
            gathered += _Converter(page, index).block(block)
    if _joined(gathered):
        yield _joined(gathered)


def convert(text: str, page: str, index: BookIndex) -> str:
    """The plain Markdown of a text; see `pieces`."""
    return "\n\n".join(str(piece) for piece in pieces(text, page, index))


def _joined(lines: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _blocks(lines: list[str]) -> Iterator[Block]:
    """Cuts lines into directives, code and formulas (strings that start with a fence) and paragraphs."""
    position = 0
    while position < len(lines):
        line = lines[position]
        opened, code = OPEN.match(line), CODE.match(line)
        if opened:
            end = _closing(lines, position, opened["fence"])
            yield _directive(opened, [text.removeprefix(opened["indent"]) for text in lines[position + 1 : end]])
        elif code:
            end = _closing(lines, position, code["fence"])
            yield "\n".join(lines[position : end + 1])
        elif line.startswith("$$"):
            end = position
            while not (FORMULA_END.search(lines[end]) and (end > position or line.count("$$") > 1)):
                end += 1
            yield "\n".join(lines[position : end + 1])
        elif not line.strip() or LABEL.match(line) or line.startswith("% "):
            end = position
            if not line.strip():
                yield ""
        else:
            end = position
            while end + 1 < len(lines) and _continues(lines[end + 1]):
                end += 1
            yield "\n".join(lines[position : end + 1])
        position = end + 1


def _continues(line: str) -> bool:
    return bool(line.strip()) and not (
        OPEN.match(line) or CODE.match(line) or line.startswith("$$") or LABEL.match(line)
    )


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes the fence opened at `start`; nested fences of colons may be as long as their parent."""
    closes = re.compile(rf"^\s*{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    for position in range(start + 1, len(lines)):
        if closes.match(lines[position]):
            return position
    raise ValueError(f"a fence is opened and not closed: {lines[start]}")


def _directive(opened: re.Match[str], inside: list[str]) -> Directive:
    options = {}
    while inside and (option := OPTION.match(inside[0])):
        options[option[1]] = option[2].strip()
        inside = inside[1:]
    return Directive(opened["name"], opened["argument"].strip(), options, inside)


class _Converter(Inline):
    """Writes blocks of one page as plain Markdown."""

    def block(self, block: Block) -> list[str]:
        if isinstance(block, Directive):
            return ["", *self.directive(block), ""]
        if block.startswith("$$"):
            return ["", *self.formula(block), ""]
        if CODE.match(block):
            return block.splitlines()
        return self.inline(block).splitlines() or [""]

    def lines(self, lines: list[str]) -> list[str]:
        return _joined([line for block in _blocks(lines) for line in self.block(block)]).splitlines()

    def formula(self, block: str) -> list[str]:
        end = FORMULA_END.search(block, 2)
        if end is None:
            raise ValueError(f"{self.page}: a formula is opened and not closed: {block}")
        inside = block[2 : end.start()].strip()
        if end[1]:
            inside += f" \\tag{{{self.index.formula(end[1], self.page).title}}}"
        return ["$$", inside, "$$"]

    def directive(self, directive: Directive) -> list[str]:
        name = directive.name
        if name in DROPPED:
            return []
        if name == "quick-question":
            return self.lines(plain(find(directive.argument)).splitlines())
        if name == "dropdown" or "dropdown" in directive.options.get("class", ""):
            return self.fold(directive.argument or name.capitalize(), directive.body)
        if name in ("admonition", "margin", "sidebar", "epigraph", *ADMONITIONS):
            title = "See also" if name == "seealso" else name.capitalize()
            if name in ("admonition", "sidebar"):
                return self.quoted(directive.argument, directive.body)
            body = [directive.argument, *directive.body] if directive.argument else directive.body
            return self.quoted("" if name in ("margin", "epigraph") else title, body)
        if name in TRANSPARENT:
            return self.lines(directive.body)
        if name in ("tab-item", "card", "grid-item-card"):
            return [f"**{self.inline(directive.argument)}**", "", *self.lines(directive.body)]
        if name in ("code", "code-block", "sourcecode"):
            return [f"```{directive.argument}", *directive.body, "```"]
        if name == "math":
            mark = f" ({directive.options['label']})" if "label" in directive.options else ""
            return self.formula("$$\n" + "\n".join(directive.body) + f"\n$${mark}")
        if name == "literalinclude":
            return [f"```{directive.options.get('language', 'python')}", *self.included(directive).splitlines(), "```"]
        if name in ("figure", "image"):
            return self.picture(directive)
        if name == "table":
            caption = [f"*{self.inline(directive.argument)}*", ""] if directive.argument else []
            return [*caption, *self.lines(directive.body)]
        if name == "list-table":
            return self.list_table(directive)
        raise ValueError(
            f"{self.page}: directive {name!r} has no plain form for notebooks: add one in autograder/build"
        )

    def fold(self, title: str, body: list[str]) -> list[str]:
        return ["<details>", f"<summary>{self.inline(title)}</summary>", "", *self.lines(body), "", "</details>"]

    def quoted(self, title: str, body: list[str]) -> list[str]:
        head = [f"**{self.inline(title)}**", ""] if title else []
        return [f"> {line}".rstrip() for line in [*head, *self.lines(body)]]

    def included(self, directive: Directive) -> str:
        path = (BOOK / self.page).parent / directive.argument
        if self.page.startswith("problem-sets/") and "solutions" in path.parts:
            raise ValueError(f"{self.page} includes {directive.argument}: a problem set shows no solution")
        source = path.read_text("utf-8")
        if "pyobject" in directive.options:
            source = _object(source, directive.options["pyobject"])
        elif "lines" in directive.options:
            first, _, last = directive.options["lines"].partition("-")
            source = "\n".join(source.splitlines()[int(first) - 1 : int(last or first)])
        if "start-after" in directive.options:
            source = source.split(directive.options["start-after"], 1)[1].split("\n", 1)[1]
        if "end-before" in directive.options:
            source = source.split(directive.options["end-before"], 1)[0].rsplit("\n", 1)[0]
        clean = without_marks if self.index.show_solutions else without_solutions
        return without_tool_comments(clean(source + "\n")).rstrip()

    def picture(self, directive: Directive) -> list[str]:
        path = directive.argument.split("/_static/")[-1]
        lines = [f"![{directive.options.get('alt', '')}]({site_url()}_static/{path})"]
        caption = " ".join(self.lines(directive.body))
        return [*lines, "", f"*{caption}*"] if caption else lines

    def list_table(self, directive: Directive) -> list[str]:
        rows: list[list[str]] = []
        for line in directive.body:
            first, cell = re.match(r"^\* +- *(.*)$", line), re.match(r"^ +- *(.*)$", line)
            if first:
                rows.append([first[1]])
            elif cell:
                rows[-1].append(cell[1])
            elif line.strip():
                rows[-1][-1] += " " + line.strip()
        written = ["| " + " | ".join(self.inline(cell) for cell in row) + " |" for row in rows]
        rule = "|" + "---|" * len(rows[0])
        if directive.options.get("header-rows", "0") == "0":
            written.insert(0, "|" + " |" * len(rows[0]))
        caption = [f"*{self.inline(directive.argument)}*", ""] if directive.argument else []
        return [*caption, written[0], rule, *written[1:]]


def _object(source: str, name: str) -> str:
    """The source of a function, class or method, named as `literalinclude` names it."""
    lines = source.splitlines()
    body: list[ast.stmt] = ast.parse(source).body
    for part in name.split("."):
        definition = next(node for node in body if getattr(node, "name", None) == part)
        body = getattr(definition, "body", [])
    first = min([definition.lineno, *(decorator.lineno for decorator in getattr(definition, "decorator_list", []))])
    return "\n".join(lines[first - 1 : definition.end_lineno])
