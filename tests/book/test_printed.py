"""The book as one PDF and the notebooks as one zip."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from pypdf import PdfReader

from autograder.build import printed
from autograder.build.notebooks import texts
from autograder.build.printed import PrintError, Section, print_book, sections, zip_notebooks
from autograder.cli.pdf import pdf

from .pages import all_pages

CHOSEN = ("index", "chapters/03-scores", "deeper/half-precision-scores")
A4 = (595, 842)  # points


@pytest.fixture(scope="module")
def book(site: Path, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    file = tmp_path_factory.mktemp("print") / "book.pdf"
    chosen = [one for one in sections() if one.page in CHOSEN]
    said: list[str] = []
    assert print_book(site, file, chosen, said.append) == len(PdfReader(file).pages)
    assert [line.split(":")[0] for line in said] == list(CHOSEN)
    return PdfReader(file)


def test_every_page_of_the_book_is_printed() -> None:
    assert [one.page for one in sections()] == all_pages()


def test_pages_are_a4_and_numbered(book: PdfReader) -> None:
    assert {(round(float(page.mediabox.width)), round(float(page.mediabox.height))) for page in book.pages} == {A4}
    for number, page in enumerate(book.pages[1:], start=2):
        assert page.extract_text().split()[-1] == str(number)


def test_it_opens_with_title_and_contents(book: PdfReader) -> None:
    assert "Attention by Hand" in book.pages[0].extract_text() and "Version" in book.pages[0].extract_text()
    contents = " ".join(book.pages[1].extract_text().split())
    scores = next(n for n, page in enumerate(book.pages, start=1) if n > 2 and "3. Scores" in page.extract_text())
    assert "Contents" in contents and f"3. Scores and scaled dot-product attention {scores}" in contents


def test_the_outline_leads_to_parts_pages_and_sections(book: PdfReader) -> None:
    titles = [one.title for one in book.outline if not isinstance(one, list)]
    assert titles == ["Attention by Hand", "Chapters", "Going deeper"]
    titles_and_lists = [getattr(one, "title", None) for one in book.outline]
    chapters = book.outline[titles_and_lists.index("Chapters") + 1]
    assert chapters[0].title == "3. Scores and scaled dot-product attention"
    sections_of_it = chapters[1]
    assert len(sections_of_it) > 3
    for one in sections_of_it:
        page = book.pages[book.get_destination_page_number(one)]
        assert one.title.split()[0] in page.extract_text()


def test_links_lead_to_the_published_site(book: PdfReader) -> None:
    links = [note["/A"]["/URI"] for page in book.pages for note in _links(page) if "/URI" in note.get("/A", {})]
    assert any(link.startswith("https://attention-by-hand.github.io/") for link in links)
    assert not [link for link in links if "127.0.0.1" in link]


def test_every_page_is_compressed(book: PdfReader) -> None:
    streams = [page["/Contents"].get_object() for page in book.pages]
    assert [number for number, stream in enumerate(streams, start=1) if "/Filter" not in stream] == []


def _links(page: object) -> list[dict]:
    notes = [note.get_object() for note in page.get("/Annots", [])]  # type: ignore[attr-defined]
    return [note for note in notes if note.get("/Subtype") == "/Link"]


def test_figures_and_open_folds_are_in_it_and_solutions_are_not(book: PdfReader) -> None:
    text = " ".join(" ".join(page.extract_text() for page in book.pages).split())
    assert "Figure 3.1" in text
    assert "Show the solution" not in text and "Hint 1" not in text


def test_the_code_of_an_exercise_begins_below_its_name(book: PdfReader) -> None:
    texts = [page.extract_text() for page in book.pages]
    below = [text.rpartition("Your part of")[2] for text in texts if "Your part of" in text]
    assert len(below) > 1
    assert all(re.search(r"\b(def|class)\b", text) for text in below), "a stub is broken, not moved to the next page"


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PrintError, match=r"chapters/04-masks.html is missing; build the book"):
        print_book(tmp_path, tmp_path / "book.pdf", [Section("chapters/04-masks", "Chapters", 0)])
    monkeypatch.setattr(printed.shutil, "which", lambda name: None)
    with pytest.raises(PrintError, match="install Chromium"):
        print_book(tmp_path, tmp_path / "book.pdf", [])
    result = CliRunner().invoke(pdf, ["chapters/99-nothing"])
    assert result.exit_code == 2 and "no page chapters/99-nothing" in result.output


def test_the_zip_holds_every_notebook_and_is_the_same_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    assert zip_notebooks(first) == zip_notebooks(second) == len(texts())
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert len(archive.namelist()) == len(texts())
        assert all(json.loads(archive.read(name))["nbformat"] == 4 for name in archive.namelist())
