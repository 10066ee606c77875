"""Finds the submissions of a class in what was downloaded: from Moodle, Canvas, GitHub Classroom, or by hand."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from ..course.printable import printable_name
from .archive import MOST_ENTRIES, MOST_ZIP_BYTES, UNREADABLE
from .layout import is_dropping, parts_of
from .lms_times import BLACKBOARD, LmsTimes, moment_of, read_times
from .safe_files import MOST_LEVELS

#: Moodle: a folder for each person, or, without "Download submissions in folders", files that begin so.
MOODLE = re.compile(r"(?P<name>.{1,150}?)_(?P<number>\d{1,12})_assignsubmission_(?P<kind>file|onlinetext)_(?P<file>.*)")
#: Canvas: lastfirst_LATE_user_submission_file, one for each file that somebody uploaded.
CANVAS = re.compile(r"(?P<name>[^_]{1,150})_(?P<late>LATE_)?(?P<number>\d{1,12})_\d{1,12}_(?P<file>.+)")
MOST_UNPACKED_BYTES = 8 * 2**30  # until then everybody has as much as a submission may have; then LITTLE
LITTLE_BYTES = 4 * 2**20
WORK = (".py", ".ipynb", ".zip")
MOST_DEEP = MOST_LEVELS + 2  # a person's folder, in the problem set's, and as deep in it as intake looks
MOST_DOWNLOADED = 200_000  # files in a platform's zip, which the platform has packed
MOST_NAME_BYTES = 255  # of a file, for most file systems
MOST_ENDING = 10  # characters of a name's ending
SURROGATES = "".join(map(chr, range(0xDC80, 0xDD00)))  # what half a character becomes where a name is cut
MOST_PEOPLE = 10_000
MOST_BESIDE = 100  # files of one person that lie in no folder of their own: intake takes half as many
MOST_LOOKED_AT = 100  # entries of a folder, to see whether a zip is alone in it


@dataclass
class Found:
    """The work of one person in a download.

    label: how the download calls it; keys: what may identify the person, as (kind, text): "id", "lms_id" or "name"
    source: a folder, a zip or a file; files by the names that they are to have
    late: whether the platform calls it late; when: it was handed in by the platform's word, None where it does not say
    """

    label: str
    keys: tuple[tuple[str, str], ...]
    source: Path | dict[str, Path]
    late: bool = False
    when: datetime | None = None

    @property
    def shown(self) -> str:
        return printable_name(self.label)


@contextmanager
def opened(download: Path) -> Iterator[Path]:
    """The folder of a download; of a zip a folder for the time being, in which its plain files lie.

    Raises ValueError for what is neither.
    """
    if download.is_dir():
        yield download
        return
    with TemporaryDirectory(prefix="collect-") as place:
        _unpack(download, Path(place))
        yield Path(place)


def submissions_in(
    folder: Path, problem_set: str, times: LmsTimes | None = None, zone: tzinfo | None = None
) -> list[Found]:
    """The submissions in a download's folder, by their labels; a folder of the problem set's around all is entered.

    times: of a table that the instructor names; one in the folder is found. zone: of times that have none
    """
    entries = _entries(folder)
    if len(entries) == 1 and entries[0].is_dir() and _is_around_a_class(entries[0], problem_set):
        entries = _entries(entries[0])
    tables = {path: read_times(path, zone) for path in entries if _may_be_a_table(path)}
    by_key: dict[tuple[str, ...], Found] = {}
    for path in entries:
        if tables.get(path) is None:
            _add(by_key, path, problem_set, zone)
    for submission in by_key.values():
        texts = [submission.label, *(text for _, text in submission.keys)]
        said = (table.of(texts) for table in (times, *tables.values()) if table)
        submission.when = next(filter(None, said), submission.when)
    return [by_key[key] for key in sorted(by_key)]


def _entries(folder: Path) -> list[Path]:
    entries = sorted(folder.iterdir(), key=lambda path: path.name)
    if len({_owner(path.name) for path in entries}) > MOST_PEOPLE:  # of whom each may have uploaded many files
        raise ValueError(f"{printable_name(folder.name)} is of more than {MOST_PEOPLE} people: is it the right folder?")
    return [path for path in entries if not path.is_symlink() and not is_dropping((path.name,))]


def _is_around_a_class(folder: Path, problem_set: str) -> bool:
    """Whether a folder is called as the problem set, or its submissions, and is no submission itself."""
    named = re.fullmatch(rf"(?i)({problem_set}|.*submissions)( ?\(\d+\))?", folder.name)
    own = (folder / ".git").exists() or (folder / "attention").exists()
    return bool(named) and not own and not any(path.suffix in (".py", ".ipynb") for path in folder.iterdir())


def _may_be_a_table(path: Path) -> bool:
    """Whether a file may be the platform's own table of times: what bears a person's name, that person has uploaded."""
    name = unicodedata.normalize("NFC", path.name)
    is_uploaded = any(form.fullmatch(name) for form in (MOODLE, CANVAS, BLACKBOARD))
    return path.suffix.casefold() == ".csv" and not is_uploaded and path.is_file() and not path.is_symlink()


def _add(by_key: dict[tuple[str, ...], Found], path: Path, problem_set: str, zone: tzinfo | None) -> None:
    name = unicodedata.normalize("NFC", path.name)
    moodle, canvas, blackboard = MOODLE.fullmatch(name), CANVAS.fullmatch(name), BLACKBOARD.fullmatch(name)
    if moodle:
        if moodle["kind"] == "onlinetext":
            return  # a text that was typed into Moodle
        keys = (("name", moodle["name"]), ("lms_id", moodle["number"]))
        submission = Found(f"{moodle['name']}_{moodle['number']}", keys, {})
        _put(by_key, ("moodle", moodle["name"], moodle["number"]), submission, path, moodle["file"])
    elif canvas and path.is_file():
        keys = (("lms_id", canvas["number"]), ("name", canvas["name"]))
        submission = Found(f"{canvas['name']}_{canvas['number']}", keys, {}, bool(canvas["late"]))
        _put(by_key, ("canvas", canvas["name"], canvas["number"]), submission, path, canvas["file"])
    elif blackboard and path.is_file():
        when = moment_of(blackboard["time"], zone)
        submission = Found(blackboard["id"], (("id", blackboard["id"]),), {}, when=when)
        if blackboard["file"]:
            _put(by_key, ("blackboard", blackboard["id"], blackboard["time"]), submission, path, blackboard["file"])
    elif path.is_dir() or path.suffix.casefold() == ".zip":
        stem = name if path.is_dir() else name[: -len(".zip")]
        stem = re.sub(rf"(?i)^{problem_set}-(?=.)", "", stem)  # GitHub Classroom: the assignment, then the account
        by_key["other", name] = Found(name, (("id", stem), ("name", stem)), _only_zip(path) or path)
    else:
        by_key["other", name] = Found(name, (("id", path.stem),), {path.name: path})


def _put(by_key: dict[tuple[str, ...], Found], key: tuple[str, ...], submission: Found, path: Path, file: str) -> None:
    """Add a person's folder, or one of several files."""
    known = by_key.setdefault(key, submission)
    known.late = known.late or submission.late
    if path.is_dir():
        known.source = _only_zip(path) or path
    elif isinstance(known.source, dict):
        known.source[file or path.name] = path


def _only_zip(path: Path) -> Path | None:
    """The zip that is all there is in a folder: its files have times of their own."""
    inside = list(islice(path.iterdir(), MOST_LOOKED_AT)) if path.is_dir() else []
    files = [entry for entry in inside if not is_dropping((entry.name,))]
    is_zip = len(files) == 1 and files[0].suffix.casefold() == ".zip" and files[0].is_file()
    return files[0] if is_zip and not files[0].is_symlink() else None


def _unpack(download: Path, place: Path) -> None:
    """Unpack the plain files of a platform's zip below a folder.

    Names that climb or are deeper than intake looks, links and droppings are left out.

    Nobody's files stop the others: of a person's so much is unpacked as intake refuses, a name that no file can have is
    cut, and where a name is that of a file and of a folder the first counts.
    """
    shown = printable_name(download.name)
    try:
        left, left_to = MOST_UNPACKED_BYTES, defaultdict[str, int](lambda: MOST_ZIP_BYTES + 1)
        files = Counter[tuple[str, bool]]()
        with zipfile.ZipFile(download) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_DOWNLOADED:
                raise ValueError(f"more than {MOST_DOWNLOADED} files")
            named = [(info, parts_of(info.filename.replace("\\", "/"))) for info in entries]
            sound = [(info, parts) for info, parts in named if _is_sound(info, parts)]
            sound.sort(key=lambda entry: not entry[1][-1].casefold().endswith(WORK))  # before what else somebody has
            is_around_all = len({parts[0] for _, parts in sound}) == 1
            for info, parts in sound:
                owner = _owner(parts[1] if is_around_all and len(parts) > 1 else parts[0])
                most = left_to[owner] if left > 0 else min(left_to[owner], LITTLE_BYTES)
                in_folder = len(parts) > 1 + is_around_all
                files[owner, in_folder] += 1
                if most <= 0 or files[owner, in_folder] > (MOST_ENTRIES if in_folder else MOST_BESIDE):
                    continue  # intake refuses what this person has already
                with archive.open(info) as packed:
                    data = packed.read(most)
                left, left_to[owner] = left - len(data), left_to[owner] - len(data)
                target = place.joinpath(*map(_cut_name, parts))
                with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise ValueError(
            f"{shown} is no folder, nor a zip that can be read ({printable_name(str(error))}): unpack it and name the "
            "folder"
        ) from None


def _owner(name: str) -> str:
    """Whose a file or folder of a platform's zip is, by its name."""
    for form in (MOODLE, CANVAS, BLACKBOARD):
        found = form.fullmatch(unicodedata.normalize("NFC", name))
        if found:
            groups = found.groupdict()
            return repr([groups.get(part) for part in ("name", "number", "id", "time")])
    return name


def _cut_name(name: str) -> str:
    """A name as a file can have it: one that is too long is cut before its ending, which says what it is."""
    data, ending = os.fsencode(name), os.fsencode(Path(name).suffix[:MOST_ENDING])
    if len(data) <= MOST_NAME_BYTES:
        return name
    return os.fsdecode(data[: MOST_NAME_BYTES - len(ending)]).rstrip(SURROGATES) + os.fsdecode(ending)


def _is_sound(info: zipfile.ZipInfo, parts: tuple[str, ...]) -> bool:
    if (
        info.filename.endswith("/")
        or not 0 < len(parts) <= MOST_DEEP
        or parts[0] == "/"
        or ".." in parts
        or is_dropping(parts)
    ):
        return False
    packed = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and not info.flag_bits & 1
    return packed and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
