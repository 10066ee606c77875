"""Finds the symbols of LaTeX formulas: what a letter with its accent and its subscript stands for.

A subscript in words or in a capital letter names a symbol of its own (`d_\\text{model}`, `W_Q`). A subscript of digits
and small letters is an index and belongs to the symbol: `a_{ij}` and `a_{t,j-1}` are both `a_□□`, `a_j` is `a_□`.
Words, operators, what a sum runs over, and layout are no symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

INDEXED = "□"
NAMED = {"d"}  # widths: whatever stands below says of what, as in `d_k` and `d_v`
GREEK = re.compile(
    "alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|(?:var)?phi"
    "|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega|ell"
)
ACCENTS = {"hat", "bar", "tilde", "dot", "mathbf", "mathbb", "mathcal", "vec", "widehat", "boldsymbol"}
#: Macros whose argument is words, or the name of an environment.
WORDS = re.compile(r"\\(?:text|operatorname|mathrm|texttt|mathtt|textbf|textit|tag|label|begin|end)\*?\s*\{([^{}]*)\}")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[A-Za-z]|\d|\S")
FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<head>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE = re.compile(r"(?<![\\$])\$(?!\$)([^$\n]+?)(?<!\\)\$")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)


def formulas(page: str) -> Iterator[str]:
    """The formulas of a page in MyST, in order of kind: `math` directives, displayed ones, those within a line."""
    text = FRONT_MATTER.sub("", page)
    for block in FENCED.finditer(text):
        if block["head"].startswith("{math}"):
            yield re.sub(r"^:\w+:.*$", "", block["body"], flags=re.M)
    prose = FENCED.sub(lambda block: block["body"] if _holds_prose(block["head"]) else "", text)
    prose = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", prose)
    yield from DISPLAYED.findall(prose)
    yield from INLINE.findall(DISPLAYED.sub("", prose))


def _holds_prose(head: str) -> bool:
    """Whether a fenced block is a directive with prose in it, not code."""
    return head.startswith("{") and not head.startswith(("{code-cell}", "{math}", "{exercise}", "{literalinclude}"))


def symbols(formula: str) -> set[str]:
    """The symbols of a formula: a letter, its accent, and its name, or `□` for each index."""
    named = re.sub(r"\\(?:text|mathrm|operatorname)\s*\{([^{}]*)\}", _as_word, formula)
    return set(_symbols(_tokens(WORDS.sub(" ", named))))


def _as_word(match: re.Match[str]) -> str:
    """Words in a subscript are kept as one token; elsewhere they are no symbol."""
    before = match.string[: match.start()].rstrip(" {")
    return f"\\word{{{match[1]}}}" if before.endswith("_") else " "


def _tokens(text: str) -> list[str]:
    kept = re.sub(r"\\word\{([^{}]*)\}", lambda m: f"«{m[1].strip()}»", text)
    return re.findall(r"«[^»]*»|" + TOKEN.pattern, kept)


def _symbols(tokens: list[str]) -> Iterator[str]:
    at = 0
    while at < len(tokens):
        token, at = tokens[at], at + 1
        accent = ""
        if token.removeprefix("\\") in ACCENTS and token.startswith("\\"):
            inside, at = _argument(tokens, at)
            if len(inside) != 1:  # an accent over a whole expression
                yield from _symbols(inside)
                continue
            accent, token = token, inside[0]
        if token == "_":  # below a sum, an operator or words
            inside, at = _argument(tokens, at)
            yield from (symbol for symbol in _symbols(inside) if not re.fullmatch("[a-z]", symbol))
            continue
        if accent == "\\mathbb" or not _is_letter(token):
            continue
        symbol = f"{accent} {token}".strip()
        script = ""
        while at < len(tokens) and tokens[at] == "'":
            at += 1
        if at < len(tokens) and tokens[at] == "_":
            inside, at = _argument(tokens, at + 1)
            script = "".join(inside).strip("«»") if symbol in NAMED else _script(inside)
        yield f"{symbol}_{script}" if script else symbol


def _argument(tokens: list[str], at: int) -> tuple[list[str], int]:
    """The tokens of the group, or the one token, that begins at `at`; and where it ends."""
    if at >= len(tokens):
        return [], at
    if tokens[at] != "{":
        return [tokens[at]], at + 1
    depth, end = 1, at + 1
    while depth and end < len(tokens):
        depth += {"{": 1, "}": -1}.get(tokens[end], 0)
        end += 1
    return tokens[at + 1 : end - 1], end


def _script(inside: list[str]) -> str:
    """A subscript as part of a symbol's name, or `□` for an index."""
    if all(token.startswith("«") for token in inside) or (len(inside) == 1 and inside[0].isupper()):
        return "".join(inside).replace("«", "").replace("»", "")
    terms = re.sub(r"(?<=.)[+\-−]\w+|\d(?=[a-z])", "", "".join(t for t in inside if re.fullmatch(r"\w|[+\-−]", t)))
    return INDEXED * max(1, min(2, len(terms)))


def _is_letter(token: str) -> bool:
    return bool(re.fullmatch("[A-Za-z]", token)) or (token.startswith("\\") and bool(GREEK.fullmatch(token[1:])))


def pages(book: Path) -> Mapping[str, str]:
    """The pages of the book by their path without suffix; `notation`, which is made from the table, is left out."""
    found = {file.relative_to(book).with_suffix("").as_posix(): file.read_text("utf-8") for file in book.rglob("*.md")}
    return {name: text for name, text in sorted(found.items()) if not name.startswith("_build") and name != "notation"}
