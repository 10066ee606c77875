"""`pdf`: prints the built book, and packs the notebooks."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..course.paths import BOOK


@click.command()
@click.option("--out", default=BOOK, type=click.Path(file_okay=False, path_type=Path), help="Holds _build/html.")
@click.argument("pages", nargs=-1, metavar="[PAGE]...")
def pdf(out: Path, pages: tuple[str, ...]) -> None:
    """Print the built book as one PDF.

    The notebooks are packed as one zip beside it, in _build/print. PAGE is one such as chapters/04-masks; all pages by
    default, which takes minutes.
    """
    from ..build.printed import PrintError, print_book, sections, zip_notebooks

    known = sections()
    if unknown := set(pages) - {section.page for section in known}:
        raise click.UsageError(f"no page {', '.join(sorted(unknown))}; book/_toc.yml lists the pages")
    chosen = [section for section in known if not pages or section.page in pages]
    folder = out / "_build" / "print"
    book, packed = folder / "attention-by-hand.pdf", folder / "attention-by-hand-notebooks.zip"
    try:
        count = print_book(out / "_build" / "html", book, chosen, click.echo)
    except PrintError as problem:
        click.echo(f"error: {problem}", err=True)
        sys.exit(1)
    click.echo(f"{book}: {count} pages")
    click.echo(f"{packed}: {zip_notebooks(packed)} notebooks")
