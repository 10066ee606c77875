"""The answers that are due outside any course, kept in the user's cache folder: to compute them takes torch and time.

They follow from the grader, from Python and from the packages that compute them, by which their folder is named. Their
inputs are no secret, for their seeds are public; a course's answer key stays in the course (see precomputed.py).
"""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

from selfcheck.atomic_files import write_atomically
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer

from ..course.digest import digest_of_parts
from ..sandbox.sight import shown_by
from ..version import grader_version
from .keys import PUBLIC_POLICY, AnswerKey, hidden_draws, live_answer_key

PACKAGES = ("torch", "numpy")
MOST_FOLDERS = 4  # of graders, each with all its answers: some megabytes


def answer_key(problem_set: str, exercises: Sequence[Exercise]) -> AnswerKey:
    """The public answer key of some exercises of a problem set: as it was kept, else computed now, and kept."""
    answers = {exercise.id: kept for exercise in exercises if (kept := _read(exercise)) is not None}
    missing = [exercise for exercise in exercises if exercise.id not in answers]
    if missing:
        computed = live_answer_key(problem_set, PUBLIC_POLICY, missing).answers
        for exercise in missing:
            answers[exercise.id] = list(computed[exercise.id])
            with suppress(OSError):  # a full disk, or no home: the next one computes it again
                _write(exercise, answers[exercise.id])
    ordered = {exercise.id: answers[exercise.id] for exercise in exercises}
    return AnswerKey(problem_set, PUBLIC_POLICY.of(problem_set), ordered)


def needs_torch(exercises: Iterable[Exercise]) -> bool:
    """Whether answers of some of these exercises are not kept that only torch can compute."""
    return any(exercise.library == "torch" and not _file(exercise).exists() for exercise in exercises)


@functools.cache
def folder() -> Path:
    """Where this grader's answers are kept."""
    names = (grader_version(), platform.python_version(), *map(_version_of, PACKAGES))
    return _cache_folder() / "attention-by-hand" / "answers" / digest_of_parts(name.encode() for name in names)[:16]


def _cache_folder() -> Path:
    """The user's; where none is known, a file: nothing is kept then, above all not in the current folder."""
    places = (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache"))
    return Path(next(filter(os.path.isabs, places), os.devnull))


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _file(exercise: Exercise) -> Path:
    return folder() / f"{exercise.problem_set}-{exercise.id}.json"


def _read(exercise: Exercise) -> list[list[Answer]] | None:
    """None where there is no file, or one that is damaged."""
    try:
        answers = json.loads(_file(exercise).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    draws = hidden_draws(exercise, PUBLIC_POLICY)
    fits = isinstance(answers, list) and len(answers) == len(draws)
    return cast(list[list[Answer]], answers) if fits and all(isinstance(answer, list) for answer in answers) else None


def _write(exercise: Exercise, answers: list[list[Answer]]) -> None:
    if shown_by(folder()) is not None:  # every submission would see them
        return
    if not folder().exists():
        _remove_old()
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(_file(exercise), json.dumps(answers), 0o600, sync=False)


def _remove_old() -> None:
    """Leave room for one more grader's answers."""
    with suppress(OSError):
        others = sorted(folder().parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[MOST_FOLDERS - 1 :]:
            shutil.rmtree(path, ignore_errors=True)
