"""`book`: builds the site."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from ..course.paths import BOOK


@click.command()
@click.option("--out", default=BOOK, type=click.Path(file_okay=False, path_type=Path), help="Gets _build/html.")
@click.option("--no-solutions", is_flag=True, help="Leave the folded solutions out.")
@click.option("--force", is_flag=True, help="Build although nothing changed.")
@click.option("--execute-all", is_flag=True, help="Execute every page and compare it with its record.")
@click.option(
    "--record", is_flag=True, help="Write the outputs of pages executed here to book/executed, to be committed."
)
def book(out: Path, no_solutions: bool, force: bool, execute_all: bool, record: bool) -> None:
    """Build the book.

    A page is executed where it is not on record with everything that it depends on.
    """
    from ..build.site import BookError, build_book

    solutions = not no_solutions and not re.fullmatch("no|0|false", os.environ.get("SOLUTIONS", "yes"))
    try:
        build_book(out, solutions, force, anew=execute_all, record=record)
    except BookError as problem:
        click.echo(f"error: {problem}", err=True)
        sys.exit(1)
