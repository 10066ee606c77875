"""Prints the built site: the whole book as one PDF with outline and page numbers, and the notebooks as one zip."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pypdf import PdfReader, PdfWriter

from ..course.paths import BOOK, ROOT
from ..prerequisites import CHROMIUM
from .notebooks import texts
from .serving import served
from .urls import site_url

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["PrintError", "Section", "print_book", "sections", "zip_notebooks"]

PATIENCE = 300_000  # milliseconds for a page: a busy machine is slow
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first date of a zip: the same notebooks give the same bytes
#: Loads every image; links lead to the published site, since this machine's server is gone when they are read.
PREPARE = """async site => {
  document.documentElement.dataset.theme = 'light'
  for (const image of document.images) image.loading = 'eager'
  await Promise.all([...document.images].filter(i => i.checkVisibility()).map(i => i.decode().catch(() => {})))
  await document.fonts.ready
  for (const link of document.querySelectorAll('article a[href]'))
    link.href = link.href.replace(location.origin + '/', site)
}"""
FRONT = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
@page {{ size: A4; margin: 24mm 22mm; }}
body {{ margin: 0; color: #1c2430; font: 11pt/1.5 system-ui, sans-serif; }}
.cover {{ padding-top: 60mm; break-after: page; }}
.cover svg, .cover img {{ width: 24mm; }}
h1 {{ margin: 8mm 0 4mm; font-size: 32pt; line-height: 1.1; }}
h2 {{ margin: 0 0 5mm; font-size: 18pt; }}
h3 {{ margin: 5mm 0 1mm; font-size: 11pt; break-after: avoid; }}
p.about {{ max-width: 120mm; font-size: 13pt; }}
p.facts {{ margin-top: 60mm; color: #4a5361; }}
ol {{ margin: 0; padding: 0; list-style: none; }}
li {{ display: flex; gap: 2mm; break-inside: avoid; }}
li span:nth-child(2) {{ flex: 1; border-bottom: 1px dotted #98a2b1; margin-bottom: 1.4mm; }}
li.below {{ padding-left: 6mm; }}
</style></head><body><div class="cover"><img alt="" src="{logo}"><h1>{title}</h1><p class="about">{about}</p>
<p class="facts">{facts}</p></div><h2>Contents</h2>{contents}</body></html>"""
NUMBERED = '<div style="width: 100%; font: 10pt sans-serif; color: #4a5361; text-align: center">{}</div>'
MARGINS = {"top": "18mm", "bottom": "20mm", "left": "17mm", "right": "17mm"}


class PrintError(RuntimeError):
    """The book could not be printed; the message says what is missing."""


@dataclass(frozen=True)
class Section:
    """A page of the book in its table of contents."""

    page: str  # "chapters/04-masks"
    part: str  # "Chapters"; the landing page has none
    depth: int  # 1 below another page, else 0


def sections() -> list[Section]:
    """Every page in the order of book/_toc.yml."""
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text("utf-8"))
    listed = [Section(contents["root"], "", 0)]
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            listed.append(Section(chapter["file"], part["caption"], 0))
            listed += [Section(below["file"], part["caption"], 1) for below in chapter.get("sections", [])]
    return listed


def print_book(site: Path, file: Path, chosen: list[Section], said: Callable[[str], None] = print) -> int:
    """Print pages of a built site into one PDF; returns its number of pages.

    site: the folder with the pages; chosen: which, in order; said: gets one line for each page that is printed
    Raises PrintError where no Chromium is installed or a page of the site is missing.
    """
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, CHROMIUM.names)), None)
    if program is None:
        raise PrintError(f"the PDF is printed by a browser; install {CHROMIUM.elsewhere}")
    for section in chosen:
        if not (site / f"{section.page}.html").is_file():
            raise PrintError(f"{site / section.page}.html is missing; build the book with python -m autograder book")
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        printed = []
        for section in chosen:
            title, content = _printed(browser, f"{address}{section.page}.html")
            printed.append((section, title, PdfReader(io.BytesIO(content))))
            said(f"{section.page}: {len(printed[-1][2].pages)} pages")
        front = _front(browser, site, printed)
        total = len(front.pages) + sum(len(pages.pages) for _, _, pages in printed)
        numbers = _numbers(browser, total)
        browser.close()
    _join(file, front, printed, numbers)
    return total


Printed = list[tuple[Section, str, PdfReader]]


def _printed(browser: Browser, address: str) -> tuple[str, bytes]:
    """A page's title and its PDF, with its headings as outline."""
    tab = _tab(browser)
    tab.goto(address, wait_until="load")
    tab.evaluate(PREPARE, site_url())
    title = tab.evaluate("""() => {
        const title = document.querySelector('article h1').cloneNode(true)
        title.querySelectorAll('.headerlink').forEach(link => link.remove())
        return title.textContent.trim()
    }""")
    content = tab.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    tab.context.close()
    return title, content


def _front(browser: Browser, site: Path, printed: Printed) -> PdfReader:
    """Title page and contents; set twice, since the first setting tells how many pages they take."""
    pages = 0
    while True:
        number, lines, part = pages + 1, [], ""
        for section, title, outline in printed:
            if section.part != part:
                part = section.part
                lines.append(f"</ol><h3>{escape(part)}</h3><ol>")
            below = ' class="below"' if section.depth else ""
            lines.append(f"<li{below}><span>{escape(title)}</span><span></span><span>{number}</span></li>")
            number += len(outline.pages)
        tab = _tab(browser)
        tab.set_content(_front_text(site, "<ol>" + "".join(lines) + "</ol>"), wait_until="load")
        front = PdfReader(io.BytesIO(tab.pdf(prefer_css_page_size=True, print_background=True)))
        tab.context.close()
        if len(front.pages) == pages:
            return front
        pages = len(front.pages)


def _front_text(site: Path, contents: str) -> str:
    settings = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    logo = (site / settings["logo"]).read_text("utf-8")
    facts = [f"Version {citation['version']} of {citation['date-released']}", settings["author"], site_url()]
    licence = "Text under CC BY 4.0, code under the BSD 3-Clause licence."
    return FRONT.format(
        title=escape(settings["title"]),
        about="Attention, from one worked example to code that you write and check yourself.",
        facts="<br>".join(map(escape, [*facts, licence])),
        logo="data:image/svg+xml," + "".join(f"%{byte:02x}" for byte in logo.encode()),
        contents=contents,
    )


def _numbers(browser: Browser, total: int) -> PdfReader:
    """As many empty pages, each with its number at the foot."""
    tab = _tab(browser)
    tab.set_content('<div style="break-after: page">&nbsp;</div>' * (total - 1) + "<div>&nbsp;</div>")
    content = tab.pdf(
        format="A4",
        margin=MARGINS,  # type: ignore[arg-type]
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=NUMBERED.format('<span class="pageNumber"></span>'),
    )
    tab.context.close()
    return PdfReader(io.BytesIO(content))


def _join(file: Path, front: PdfReader, printed: Printed, numbers: PdfReader) -> None:
    """Write everything into one file: numbers at the foot, parts, pages and headings in the outline."""
    writer = PdfWriter()
    writer.append(front, import_outline=False)
    parts = {}
    for section, title, pages in printed:
        at = len(writer.pages)
        writer.append(pages, import_outline=False)
        if section.part and section.part not in parts:
            parts[section.part] = writer.add_outline_item(title=section.part, page_number=at)
        entry = writer.add_outline_item(title=title, page_number=at, parent=parts.get(section.part))
        for heading, number in _headings(pages):
            writer.add_outline_item(title=heading, page_number=at + number, parent=entry)
    for number, page in enumerate(writer.pages):
        if number:  # the title page has none
            page.merge_page(numbers.pages[number])
            page.compress_content_streams()  # merged, they are plain text
    settings = yaml.safe_load((BOOK / "_config.yml").read_text("utf-8"))
    writer.add_metadata({"/Title": settings["title"], "/Author": settings["author"]})
    writer.compress_identical_objects()
    file.parent.mkdir(parents=True, exist_ok=True)
    writer.write(file)


def _headings(pages: PdfReader) -> Iterator[tuple[str, int]]:
    """The sections of a printed page, with the page that each begins on, counted from 0."""
    for item in pages.outline:
        for entry in item if isinstance(item, list) else []:
            if not isinstance(entry, list):
                number = pages.get_destination_page_number(entry)
                if number is not None and entry.title:
                    yield entry.title.rstrip("#").strip(), number


def _tab(browser: Browser) -> Page:
    tab = browser.new_context(color_scheme="light").new_page()
    tab.set_default_timeout(PATIENCE)
    return tab


def zip_notebooks(file: Path) -> int:
    """Write every generated notebook into one zip; returns how many."""
    notebooks = texts()
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(notebooks.items()):
            entry = zipfile.ZipInfo(f"attention-by-hand/{path.name}", EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return len(notebooks)
