"""Checks the name and title of a new exercise."""

from __future__ import annotations

import keyword
import re

MAX_ID = 50
MODULE = re.compile(r"[a-z]+(_[a-z]+)*")  # as grade cells, test names and learners' files spell it
FUNCTION, CLASS = re.compile(r"[a-z]\w*", re.ASCII), re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z]")


class Refused(ValueError):
    """An exercise cannot be made as asked: the message says why, and what to do."""


def module_and_symbol(exercise: str) -> tuple[str, str]:
    """The module and the symbol of an exercise id; Refused, with the rule, for one that breaks a rule."""
    module, dot, symbol = exercise.partition(".")
    if not dot or "." in symbol or not module or not symbol:
        raise Refused(f"an exercise is named module.symbol, such as masks.causal_mask; got {exercise!r}")
    if len(exercise) > MAX_ID:
        raise Refused(f"an exercise's name has up to {MAX_ID} letters, got {len(exercise)}: choose a shorter one")
    for part in (module, symbol):
        if keyword.iskeyword(part) or keyword.issoftkeyword(part):
            raise Refused(f"{part} is a word of Python's own: choose another name")
    if not MODULE.fullmatch(module):
        raise Refused(f"a module is small letters, with single underscores between words; got {module!r}")
    if not FUNCTION.fullmatch(symbol) and not CLASS.fullmatch(symbol):
        raise Refused(
            f"a function is named in small_letters and a class in CapitalisedWords, without underscores; got {symbol!r}"
        )
    if symbol[0].islower() and symbol != symbol.lower():
        raise Refused(f"a function is named in small_letters; got {symbol!r}; a class begins with a capital")
    return module, symbol


def checked_title(title: str) -> str:
    """The title without outer white space; Refused for one that a page or a TOML file cannot hold."""
    if not title.strip() or not title.isprintable() or set(title) & set("\"'\\{}`$") or len(title) > 60:
        raise Refused(f"a title is up to 60 letters without quotes, braces, ` $ or a backslash; got {title!r}")
    return title.strip()


def spaced(symbol: str, between: str = " ") -> str:
    """ "MultiHead" and "multi_head" as "multi head"."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", symbol)
    return parts.strip("_").lower().replace("_", between)
