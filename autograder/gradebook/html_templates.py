"""Templates of pages, in which whatever stands in double braces is made printable and then escaped."""

from __future__ import annotations

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..course.printable import counted, printable


def environment(package: str) -> Environment:
    """The templates that lie in a package."""
    made = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["with_code"] = with_code
    made.globals["counted"] = counted
    return made


def _printable(value: Any) -> Any:
    """Text in one line without control or direction characters; markup, which only templates make, as it is."""
    return printable(value, keep="") if isinstance(value, str) and not isinstance(value, Markup) else value


def with_code(message: str) -> Markup:
    """A message in which what stands between backticks is set as code, and a word between asterisks is stressed."""
    parts = re.split("`([^`]+)`", str(escape(printable(message, keep=""))))
    stressed = [re.sub(r"(?<![\w(*])\*([^\W\d_][\w -]*)\*(?!\w)", r"<em>\1</em>", part) for part in parts[::2]]
    code = [f"<code>{part}</code>" for part in parts[1::2]]
    return Markup("".join(part for pair in zip(stressed, [*code, ""], strict=True) for part in pair))
