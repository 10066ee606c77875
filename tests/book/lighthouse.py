"""Lighthouse, as a phone, on pages of the built site: `python -m tests.book.lighthouse [chapters/04-masks …]`.

The command prints the four scores of each page, the median of three runs, with the seconds to the largest paint and the
milliseconds of blocked input. The performance depends on the machine and decides nothing; the other three decide tests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.build.serving import served
from autograder.build.site import build_book
from autograder.course.paths import BOOK, ROOT
from autograder.prerequisites import CHROMIUM

from .pages import all_pages
from .serving import Compressed

DECIDING = ("accessibility", "best-practices", "seo")
SCRIPT = Path(__file__).with_suffix(".mjs")


def audits(site: Path, pages: Sequence[str], categories: Sequence[str] = DECIDING, runs: int = 1) -> Iterator[Any]:
    """What lighthouse.mjs says of each page, in their order; runs: of which the median is taken."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM.names)))
    with served(site, Compressed) as address:
        asked = {"categories": categories, "runs": runs, "chromium": chromium}
        asked["addresses"] = [f"{address}{page}.html" for page in pages]
        command = ["node", str(SCRIPT), json.dumps(asked)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
            yield from map(json.loads, running.stdout)
        if running.returncode:
            raise RuntimeError(f"Lighthouse ended with {running.returncode}; what it said stands above")


def main(pages: Sequence[str]) -> None:
    every = all_pages()
    if unknown := set(pages).difference(every):
        sys.exit(f"expected pages of the book, such as {every[4]}; there is no {', '.join(sorted(unknown))}")
    chosen = pages or every
    found = audits(build_book(BOOK), chosen, ("performance", *DECIDING), runs=3)
    for page, one in zip(chosen, found, strict=True):
        scores = " ".join(f"{score:3}" for score in one["scores"].values())
        print(f"{page:40} {scores}  {one['paint'] / 1000:.1f} s  {one['blocked']:.0f} ms", *one["failed"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
