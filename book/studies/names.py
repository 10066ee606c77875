"""Functions of the standard library whose names are renamed at random, with the role of each name: chapter 8's task."""

from __future__ import annotations

import ast
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

import docstrings

__all__ = ["LENGTH", "NAMES", "ROLES", "Function", "Functions", "functions", "load", "parts", "programmers_rule"]

ROLES = ("parameter", "local", "outside")
LENGTH, NAMES = 48, 24  # a function has at most so many tokens, and so many different names
MODULES = 700  # of the standard library; those of at least 2 kB are fewer
LEAST = 20  # a word that training functions use less often is "unknown"
PADDING, UNKNOWN = 0, 1
NO_QUESTION = -100  # what cross_entropy ignores
TOKEN = re.compile(
    r"""(?P<text>[rbufRBUF]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<comment>\#[^\n]*)|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)
    |(?P<sign>\*\*=?|//=?|>>=?|<<=?|->|:=|\.\.\.|[-+*/%@&|^=<>!]=|[^\s\w\\])|(?P<line>\n)""",
    re.VERBOSE,
)
Place = tuple[int, int]  # line and column, as ast counts them


@dataclass(frozen=True)
class Function:
    """A function in tokens; each with its name (or None) and whether its role is asked; per name its role."""

    tokens: tuple[str, ...]
    names: tuple[str | None, ...]
    asked: tuple[bool, ...]
    roles: dict[str, str]


def _roles(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[dict[Place, str], dict[str, str], set[Place]] | None:
    """Where names stand, each name's role, and where it is read; None for functions with a scope inside."""
    inner = [part for part in ast.walk(node) if part is not node]
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Global, ast.Nonlocal)
    if any(isinstance(part, scopes) for part in inner):
        return None
    a = node.args
    arguments = [one for one in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if one]
    places = {(one.lineno, one.col_offset): one.arg for one in arguments}
    read, made = set(), set()
    for part in inner:
        if isinstance(part, ast.Name):
            places[part.lineno, part.col_offset] = part.id
            if not isinstance(part.ctx, ast.Load):
                made.add(part.id)
            elif (part.lineno, part.col_offset) >= (node.body[0].lineno, node.body[0].col_offset):
                read.add((part.lineno, part.col_offset))
        elif isinstance(part, ast.ExceptHandler) and part.name:
            made.add(part.name)
        elif isinstance(part, ast.Import | ast.ImportFrom):
            made |= {(one.asname or one.name).split(".")[0] for one in part.names}
    given = {one.arg for one in arguments}
    roles = {name: "parameter" if name in given else "local" if name in made else "outside" for name in places.values()}
    return places, roles, read


def functions(source: str) -> Iterator[Function]:
    """The functions of a module that are short enough; docstrings and comments go, texts and numbers become signs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other people's string literals
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (node.end_lineno or 0) - node.lineno > 60:
            continue
        found = _roles(node)
        if not found:
            continue
        places, roles, read = found
        first = node.body[0]
        said = range(first.lineno, (first.end_lineno or 0) + 1) if ast.get_docstring(node) is not None else range(0)
        tokens: list[tuple[str, str | None, bool]] = []
        for number, line in _pieces(lines, node.lineno, node.end_lineno or node.lineno):
            kind, text, column = line
            if number in said or kind == "comment" or (kind == "line" and tokens and tokens[-1][0] == "\n"):
                continue
            place = (number, column)
            name = places.get(place) if kind == "word" else None
            tokens.append(({"text": '"', "number": "0"}.get(kind, text), name, name is not None and place in read))
        if 16 <= len(tokens) <= LENGTH and len(roles) <= NAMES:
            yield Function(*(tuple(column) for column in zip(*tokens, strict=True)), roles)  # type: ignore[arg-type]


def _pieces(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, tuple[str, str, int]]]:
    """(line number, (kind, text, column)) of each token in the lines first to last, counted from 1."""
    text = "".join(lines[first - 1 : last])
    starts = [0]
    for line in lines[first - 1 : last]:
        starts.append(starts[-1] + len(line))
    at = 0
    for found in TOKEN.finditer(text):
        while starts[at + 1] <= found.start():
            at += 1
        yield first + at, (found.lastgroup or "", found[0], found.start() - starts[at])


@cache
def parts() -> dict[str, list[Function]]:
    """Training, validation and test functions of this machine's standard library; a module goes whole, none twice."""
    found: dict[str, list[Function]] = {"train": [], "validation": [], "test": []}
    seen = set()
    for module, path in docstrings.modules("python")[:MODULES]:
        source = path.read_text(encoding="utf-8", errors="replace")
        if not 2_000 < len(source) < 150_000 or not source.isascii():  # ast counts columns in bytes
            continue
        part = {0: "test", 1: "validation"}.get(zlib.crc32(module.encode()) % 10, "train")
        for function in functions(source):
            shape = tuple("·" if name else token for token, name in zip(function.tokens, function.names, strict=True))
            if shape not in seen:
                seen.add(shape)
                found[part].append(function)
    return found


def programmers_rule(function: Function, name: str) -> str:
    """What one who knows Python looks for: the name in the head, before "=", or behind "for", "as", "import"."""
    body = function.tokens.index("\n")
    for at, other in enumerate(function.names):
        if other == name and at < body:
            return "parameter"
    for at, other in enumerate(function.names):
        after = function.tokens[at + 1] if at + 1 < len(function.tokens) else ""
        before = function.tokens[at - 1]
        if other == name and (after in ("=", ":=", "in") or before in ("for", "as", "import")):
            return "local"
    return "outside"


class Functions:
    """Training, validation and test functions as token ids (n, LENGTH), with the wanted roles (n, LENGTH)."""

    def __init__(self, found: dict[str, list[Function]]) -> None:
        counts = Counter(
            token
            for function in found["train"]
            for token, name in zip(function.tokens, function.names, strict=True)
            if not name
        )
        self.words = ["(padding)", "(unknown)", *sorted(word for word, count in counts.items() if count >= LEAST)]
        self._number = {word: number for number, word in enumerate(self.words)}
        self.first_name = len(self.words)  # ids from here on are names
        self.size = self.first_name + NAMES
        self.train, self.validation, self.test = (self._encode(found[part]) for part in found)

    def _encode(self, some: Sequence[Function]) -> tuple[Tensor, Tensor]:
        ids, wanted = torch.full((len(some), LENGTH), PADDING), torch.full((len(some), LENGTH), NO_QUESTION)
        for row, function in enumerate(some):
            number = {name: self.first_name + k for k, name in enumerate(function.roles)}
            for at, (token, name) in enumerate(zip(function.tokens, function.names, strict=True)):
                ids[row, at] = number[name] if name else self._number.get(token, UNKNOWN)
                if name and function.asked[at]:
                    wanted[row, at] = ROLES.index(function.roles[name])
        return ids, wanted

    def renamed(self, ids: Tensor, rng: torch.Generator) -> Tensor:
        """The same functions, in each of which every name is exchanged for another one at random."""
        order = torch.rand(len(ids), NAMES, generator=rng).argsort(dim=1)
        new = order.gather(1, (ids - self.first_name).clamp(min=0))
        return torch.where(ids >= self.first_name, self.first_name + new, ids)

    def text(self, ids: Tensor) -> list[str]:
        """The tokens of one function, names as n1, n2, …"""
        return [self.words[i] if i < self.first_name else f"n{i - self.first_name + 1}" for i in ids[ids != 0].tolist()]


def load() -> Functions:
    """The functions of this machine's standard library, read in some seconds; nothing is imported or downloaded."""
    return Functions(parts())
