"""Converts the roles, links and citations of a paragraph to plain Markdown."""

from __future__ import annotations

import re

from .book_index import BookIndex
from .urls import colab_url, site_url

__all__ = ["Inline"]

INLINE = re.compile(
    r"\{(?P<role>[a-zA-Z][\w:.-]*)\}(?P<ticks>`+)(?P<body>.+?)(?P=ticks)"
    r"|(?P<code>(?P<mark>`+).+?(?P=mark))"
    r"|(?P<picture>!\[[^\]]*\]\([^)]*\))"
    r"|\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)",
    re.DOTALL,
)
TITLED = re.compile(r"^(?P<title>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
AS_CODE = (
    "code",
    "file",
    "command",
    "samp",
    "py:func",
    "py:class",
    "py:mod",
    "py:meth",
    "py:attr",
    "func",
    "class",
    "mod",
)


class Inline:
    """Writes the text of one page's paragraphs; a reference becomes a link to the published book."""

    def __init__(self, page: str, index: BookIndex) -> None:
        self.page = page
        self.index = index

    def inline(self, text: str) -> str:
        return INLINE.sub(self._inline, text)

    def _inline(self, match: re.Match[str]) -> str:
        if match["role"]:
            return self.role(match["role"], re.sub(r"\s+", " ", match["body"]).strip())
        if match["target"]:
            return self.link(match["text"], match["target"])
        return match[0]

    def link(self, text: str, target: str) -> str:
        if re.match(r"[a-z]+:", target):
            return f"[{self.inline(text)}]({target})" if text else f"<{target}>"
        page, _, anchor = target.partition("#")
        if page.startswith(".") and not page.endswith(".md"):
            return self.inline(text)  # a file of the repository: in reach of the page, not of a notebook elsewhere
        if anchor.lower() in self.index.labels:
            place = self.index.labels[anchor.lower()]
        else:
            place = self.index.page(page or self.page.rpartition("/")[2], self.page)
        return f"[{self.inline(text) or self.inline(place.title)}]({place.address})"

    def role(self, role: str, body: str) -> str:
        titled = TITLED.match(body)
        title, target = (titled["title"], titled["target"]) if titled else ("", body)
        if role in ("ref", "numref"):
            place = self.index.label(target, self.page)
            return f"[{title or self.inline(place.title)}]({place.address})"
        if role == "doc":
            place = self.index.page(target, self.page)
            return f"[{title or self.inline(place.title)}]({place.address})"
        if role == "eq":
            place = self.index.formula(target, self.page)
            return f"({place.title})" if place.page == self.page else f"[({place.title})]({place.address})"
        if role == "term":
            anchor = re.sub(r"[^A-Za-z0-9]+", "-", target).strip("-")
            return f"[{title or target}]({site_url()}glossary.html#term-{anchor})"
        if role == "colab":
            return f"[{title or target}]({colab_url(target)})"
        if role.partition(":")[0] == "cite":
            return self.citation(role, target)
        if role == "math":
            return f"${body}$"
        if role in ("kbd", "sub", "sup"):
            return f"<{role}>{body}</{role}>"
        if role in AS_CODE:
            return f"`{title or body}`"
        raise ValueError(f"{self.page}: role {role!r} has no plain form for notebooks: add one in autograder/build")

    def citation(self, role: str, keys: str) -> str:
        in_text = role in ("cite:t", "cite:ts", "cite:ct")
        written = []
        for key in keys.split(","):
            work = self.index.work(key.strip(), self.page)
            text = f"{work.authors} ({work.year})" if in_text else f"{work.authors}, {work.year}"
            written.append(f"[{text}]({work.address})" if work.address else text)
        return ", ".join(written) if in_text else f"({'; '.join(written)})"
