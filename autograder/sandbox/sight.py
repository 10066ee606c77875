"""Which of this machine's files a sandbox shows, /usr and parts of the interpreter, and what is hidden among them."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..course.paths import ROOT

EXCHANGE = "/usr/local/share/nbgrader"  # nbgrader's usual exchange
OURS = tuple(str(ROOT / name) for name in ("solutions", "autograder", "tests", ".git"))
SYSTEM = "/usr"
#: Of an interpreter's folder, or a virtual environment's: whatever else lies there, such as a course, is not shown.
PARTS = ("bin", "lib", "lib64", "include", "pyvenv.cfg")


class InSight(ValueError):
    """Something private lies where every submission would see it; the text says what to do."""


def arrangement() -> list[tuple[str, str | None]]:
    """What is shown and hidden below and beside /usr, in an order in which the later covers the earlier.

    Each is a place inside, and the file or folder that is shown there; None for an empty folder in its stead.
    """
    places: dict[str, str | None] = {place: os.path.realpath(place) for place in _python_places()}
    places |= {real: real for real in places.values() if real is not None}
    for place in _hidden_places():
        if place not in places and _nearest([SYSTEM, *places], place):
            places[place] = None
    ordered = sorted(places.items(), key=lambda item: len(Path(item[0]).parts))
    return [(place, source) for place, source in ordered if not _is_shown_already(place, source, dict(ordered))]


def _is_shown_already(place: str, source: str | None, places: dict[str, str | None]) -> bool:
    """Whether a place holds what it should by the one above it."""
    above = _nearest([SYSTEM, *(other for other in places if other != place)], place)
    if above is None:
        return False
    base = places.get(above, above)
    return source == (base and os.path.realpath(os.path.join(base, os.path.relpath(place, above))))


def shown_by(path: str | os.PathLike[str], arranged: Iterable[tuple[str, str | None]] | None = None) -> str | None:
    """The folder by which a sandbox shows a path, or one that links to it; None where it does not.

    arranged: the arrangement, where it is known
    """
    places: dict[str, str | None] = {SYSTEM: SYSTEM, **dict(arrangement() if arranged is None else arranged)}
    for candidate in dict.fromkeys((os.path.abspath(path), os.path.realpath(path))):
        above = candidate if candidate in places else _nearest(places, candidate)
        if above is not None and places[above] is not None:
            return above
    return None


def require_out_of_sight(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InSight where a sandbox shows one of these files or folders."""
    arranged = arrangement()
    for path in paths:
        shown = shown_by(path, arranged)
        if shown is not None:
            raise InSight(
                f"{os.fspath(path)} lies below {shown}, which every submission sees: nothing is run. Move the course, "
                "its secret and its exchange out of there, into a folder of their own"
            )


def require_stages_out_of_sight() -> None:
    """Raise InSight where a sandbox shows the folder for temporary files, where others are started from."""
    shown = shown_by(tempfile.gettempdir())
    if shown is not None:
        raise InSight(
            f"Temporary files go to {tempfile.gettempdir()}, below {shown}, which every submission sees: nothing is "
            "run. Set TMPDIR to a folder elsewhere, such as /tmp"
        )


def _python_places() -> Iterator[str]:
    """The parts of the interpreter and of its virtual environment, as far as they lie outside /usr."""
    wanted = [os.path.join(prefix, part) for prefix in (sys.base_prefix, sys.prefix) for part in PARTS]
    wanted += [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    wanted.append(os.path.dirname(os.path.realpath(sys.executable)))
    return filter(os.path.exists, dict.fromkeys(map(os.path.abspath, wanted)))


def _hidden_places() -> Iterator[str]:
    """Folders of people, submissions of others, and this repository, which pip puts beside packages."""
    homes = {os.path.expanduser("~"), *_homes_of_this_user()}
    for place in (EXCHANGE, *OURS, *sorted(homes)):
        if os.path.isdir(place) and place != "/":
            yield from dict.fromkeys((os.path.abspath(place), os.path.realpath(place)))


def _homes_of_this_user() -> Iterator[str]:
    try:
        import pwd

        yield pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):  # no such list, or nobody in it
        return


def _nearest(places: Iterable[str], path: str) -> str | None:
    """The deepest of these folders that a path lies below, all absolute and normal; None where it lies below none."""
    return max((place for place in places if path.startswith(f"{place.rstrip('/')}/")), key=len, default=None)
