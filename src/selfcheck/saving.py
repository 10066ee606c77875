"""Keeps a learner's modules in a place that outlives the session, and brings them back."""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import Any

from .atomic_files import write_atomically
from .editing import reload
from .learner import package_folder
from .untouched import is_untouched

NAME = "attention-by-hand-saved"
DRIVE = Path("/content/drive")  # where Colab mounts Google Drive
VARIABLE = "SELFCHECK_FOLDER"
EARLIER = "earlier"  # the folder of older copies
VERSIONS = 5  # older copies of each module that are kept
STAMP = "%Y-%m-%d %H:%M:%S"


def save(folder: str | Path | None = None) -> None:
    """Copy every module of yours that is more than the stub to a place that outlives the session, and say where.

    folder: where to; without it $SELFCHECK_FOLDER, else Google Drive on Colab, else attention-by-hand-saved in your
    home folder. What a copy replaces stays in its folder `earlier`, the last five of each module.
    """
    place, source = _place(folder), package_folder()
    done, same, stubs = [], [], []
    for path in _modules(source):
        text, there = path.read_bytes(), place / path.name
        kept = _content(there)
        if text == kept:
            same.append(path.name)
        elif is_untouched(text):
            if kept is not None:
                stubs.append(path.name)
        else:
            done.append(path.name + _put_away(there, path))
            write_atomically(there, text)
    now = time.strftime(STAMP)
    if done:
        print(f"saved {', '.join(done)} in {place}, {now}")
    if same:
        print(f"unchanged since it was saved in {place}: {', '.join(same)}")
    if stubs:
        print(
            f"not saved, for here it is the untouched stub: {', '.join(stubs)}; the saved copy stays as it is, "
            "and restore() brings it back"
        )
    if not (done or same or stubs):
        print(f"nothing to save: every module in {source} is still the untouched stub")


def restore(folder: str | Path | None = None, replace: bool = False) -> None:
    """Bring back what save() kept, make `attention` forget the old text, and say what came back.

    folder: where from; as in save()
    replace: also take a saved copy that is older than what you have edited here
    A file of yours that gives way is kept beside it as NAME.py.before.
    """
    place, target = _place(folder), package_folder()
    done, same, newer = [], [], []
    for path in _modules(place) if place.is_dir() else []:
        there, text = target / path.name, path.read_bytes()
        here = _content(there)
        when = time.strftime(STAMP, time.localtime(path.stat().st_mtime))
        if text == here:
            same.append(path.name)
            continue
        mine = here if here is not None and not is_untouched(here) else None  # edited here
        if mine is not None and not replace and there.stat().st_mtime >= path.stat().st_mtime:
            newer.append(f"{path.name} (saved {when})")
            continue
        before = f", yours is kept as {_keep_before(there, mine)}" if mine is not None else ""
        write_atomically(there, text)
        done.append(f"{path.name} (saved {when}{before})")
    if done:
        print(f"restored from {place}: {', '.join(done)}")
        reload()
    if same:
        print(f"the same here as in {place}: {', '.join(same)}")
    if newer:
        print(
            f"left alone, for what you have here is edited and newer: {', '.join(newer)}; restore(replace=True) takes "
            "the saved copy and keeps yours beside it"
        )
    if not (done or same or newer):
        print(f"nothing to restore: no module is saved in {place}")


def _place(folder: str | Path | None) -> Path:
    """The folder that keeps the copies, made or not; on Colab it asks for Google Drive."""
    given = folder if folder is not None else os.environ.get(VARIABLE)
    if given:
        place = Path(given).expanduser().resolve()
        if place.exists() and not place.is_dir():
            raise NotADirectoryError(f"{place} is no folder: name one, there or yet to be made")
        return place
    if "google.colab" not in sys.modules:
        return Path.home() / NAME
    drive = DRIVE / "MyDrive"
    if not drive.is_dir():
        problem = _mount()
        if not drive.is_dir():
            here = Path.cwd() / NAME
            print(
                f"Google Drive is not there{problem}. {here} is used instead, which vanishes with this session: "
                "download it from the file browser on the left, or run this again and let Colab use your Drive"
            )
            return here
    return drive / NAME


def _mount() -> str:
    """Mounts Google Drive; returns why not, in brackets, where that fails or is declined."""
    try:
        drive: Any = importlib.import_module("google.colab.drive")
        drive.mount(str(DRIVE))
    except Exception as error:  # Colab raises what it likes, from ValueError to its own MessageError
        return f" ({type(error).__name__}: {error})"
    return ""


def _modules(folder: Path) -> list[Path]:
    """The Python files of a folder, without links: a link could lead anywhere."""
    paths = []
    for path in sorted(folder.glob("*.py")):
        if path.is_symlink():
            print(f"left out, for it is a link: {path}")
        elif path.is_file():
            paths.append(path)
    return paths


def _content(path: Path) -> bytes | None:
    """What stands in a file; None where there is none, or only a link."""
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _put_away(there: Path, new: Path) -> str:
    """Moves the copy that a new one will replace to the older ones; returns a remark where it was the newer."""
    if not there.is_file() or there.is_symlink():
        return ""
    written = there.stat().st_mtime
    folder = there.parent / EARLIER
    folder.mkdir(exist_ok=True)
    aside = folder / f"{there.stem}.{time.strftime('%Y-%m-%dT%H-%M-%S', time.localtime(written))}.py"
    aside = _free(aside)
    write_atomically(aside, there.read_bytes())
    older = sorted(folder.glob(f"{there.stem}.*"), key=lambda path: (path.stat().st_mtime, path.name))
    for path in older[:-VERSIONS]:
        path.unlink()
    if written > new.stat().st_mtime:
        return f" (the copy there was newer; it is kept as {EARLIER}/{aside.name})"
    return ""


def _keep_before(path: Path, content: bytes) -> str:
    """Keeps a learner's own text beside the file that will be replaced; returns the copy's name."""
    before = path.with_name(path.name + ".before")
    if _content(before) != content:
        before = _free(before)
        write_atomically(before, content)
    return before.name


def _free(path: Path) -> Path:
    """The path itself, or the first numbered one that does not exist."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free
