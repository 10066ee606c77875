"""Writes all generated files, or compares them with those on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..answer_key import long_axes
from ..course.paths import BOOK, HANDED_OUT, RECORDED, ROOT, STUBS
from . import choose_long_axes, notation, recorded_answers, section_titles, stubs


def products(recorded: bool = True) -> Iterable[tuple[str, dict[Path, str]]]:
    """Each generated group: its name, and the text of its files.

    recorded: whether the recorded answers are among them, which take a minute or two
    """
    texts = stubs.all_stubs()
    yield "stubs", {STUBS / name: text for name, text in texts.items()}
    modules = {name.removesuffix(".py"): text for name, text in texts.items() if not name.startswith("_")}
    yield "stubs to begin anew with", {HANDED_OUT / f"{module}.txt": text for module, text in modules.items()}
    if recorded:
        yield "recorded answers", {RECORDED / name: text for name, text in recorded_answers.recordings().items()}
        yield "long axes", {long_axes.HERE / name: text for name, text in choose_long_axes.texts().items()}
    yield "notation", notation.page()
    yield "sections' titles", section_titles.texts()
    from . import notebooks  # imports nbformat, which takes a second

    yield "notebooks", {**notebooks.texts(), **notebooks.forwards()}


def build() -> list[Path]:
    """Write what is stale; returns the stubs that somebody edited, which are left alone."""
    kept = []
    for group, files in products():
        for path, text in files.items():
            now = path.read_text(encoding="utf-8") if path.exists() else None
            if now is not None and _fresh(group, now, text):
                continue
            if now is not None and path.parent == STUBS and stubs.edited(now):
                kept.append(path)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for stray in strays(files):
            stray.unlink()
    return kept


def stale(recorded: bool = True) -> list[str]:
    """What differs from what `build` would write, a line each; recorded: see `products`."""
    lines = []
    for group, files in products(recorded):
        for path, text in files.items():
            name = path.relative_to(ROOT)
            if not path.exists():
                lines.append(f"{name} is missing ({group})")
            elif not _fresh(group, path.read_text(encoding="utf-8"), text):
                lines.append(f"{name} is stale ({group})")
        lines += [f"{stray.relative_to(ROOT)} is generated no longer ({group})" for stray in strays(files)]
    return lines


def _fresh(group: str, now: str, text: str) -> bool:
    return recorded_answers.alike(now, text) if group == "recorded answers" else now == text


def strays(files: dict[Path, str]) -> list[Path]:
    """Files of the same kind beside generated ones that nothing generates.

    Excepted are stubs, beside which learners may add modules, and the book's own folder, whose other pages are written.
    """
    folders = {(path.parent, path.suffix) for path in files if path.parent not in (STUBS, BOOK)}
    return [path for folder, suffix in folders for path in sorted(folder.glob(f"*{suffix}")) if path not in files]
