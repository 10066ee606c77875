"""The sample class in a real nbgrader course, which whoever reads it shares: handed in, graded, given feedback."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pytest import MonkeyPatch, TempPathFactory

from autograder import pipeline
from autograder.authoring import samples
from autograder.course.folder import Course
from autograder.gradebook.nbgrader import api
from autograder.intake import archive, store
from autograder.judge import limits
from autograder.pipeline import Line
from selfcheck.catalogue import problem_sets

from .shared_courses import copy_of, released, shared

TABLE = samples.table()
SETS = problem_sets()
#: Graded by `make test-all` alone. To name a mistake of those who train models, the grader trains each misconception
#: itself, which takes minutes, and a right answer takes ten seconds of the processor; that each of these misconceptions
#: earns its own message is proven for its exercise, and one right answer is graded in every run.
COSTLY = {("carla", "ps7"), ("esra", "ps7"), ("selma", "ps7"), ("wanda", "ps7")}
QUICK = [one for one in TABLE if (one.student, one.problem_set) not in COSTLY]
EVERY_TIME = SETS[:3]  # graded in every run, for it shows how the machine isolates; what others show is on record
LIMIT = 1.0  # seconds of the processor for an exercise, where somebody in the class loops for ever and nobody trains
BY_THE_CLOCK = 60.0  # times as long, so that a machine on which all tests run at once costs nobody a point
ENDLESS = {one.problem_set for one in TABLE if "loop that never ends" in one.remark}

Lines = dict[str, dict[str, Line]]


@contextmanager
def graded_class(factory: TempPathFactory, problem_sets: Sequence[str] = SETS) -> Iterator[tuple[Course, Lines]]:
    """A shared course of the class but for whoever is costly, with the instructor's lines by set and student."""

    def make(place: Path) -> None:
        with released(factory, *problem_sets) as bare:
            course = copy_of(bare, place)
        _write(course, {problem_set: _graded(course, problem_set, QUICK) for problem_set in problem_sets})

    with shared(factory, "-".join(["sample-class", *problem_sets]), make) as course:
        yield course, _read(course)


@contextmanager
def whole_class(factory: TempPathFactory) -> Iterator[tuple[Course, Lines]]:
    """That of all sets, with the costly ones too."""

    def make(place: Path) -> None:
        with graded_class(factory) as (some, lines):
            course = copy_of(some, place)
        for problem_set in sorted({problem_set for _, problem_set in COSTLY}):
            lines[problem_set] |= _graded(course, problem_set, [one for one in TABLE if one not in QUICK])
        _write(course, lines)

    with shared(factory, "whole-sample-class", make) as course:
        yield course, _read(course)


def _graded(course: Course, problem_set: str, chosen: list[samples.Expected]) -> dict[str, Line]:
    """Hand in, grade, write feedback; the lines by student."""
    for one in chosen:
        if one.problem_set == problem_set:
            folder = Path(tempfile.mkdtemp(dir=course.root.parent))
            samples.write_submission(one, course, folder)
            store.store(course, one.student, problem_set, archive.read_folder(folder, problem_set))
            shutil.rmtree(folder)
    with MonkeyPatch.context() as patch:
        if problem_set in ENDLESS:
            patch.setattr(limits, "EXERCISE_CPU_SECONDS", LIMIT)
            patch.setattr(limits, "WALL_CLOCK_FACTOR", BY_THE_CLOCK)
        lines = {line.student: line for line in pipeline.grade(course, problem_set)}
    assert api(course).generate_feedback(problem_set, force=True)["success"]
    return lines


def _write(course: Course, lines: Lines) -> None:
    tree = {name: [asdict(line) for line in graded.values()] for name, graded in lines.items()}
    (course.root.parent / "lines.json").write_text(json.dumps(tree), encoding="utf-8")


def _read(course: Course) -> Lines:
    tree = json.loads((course.root.parent / "lines.json").read_text(encoding="utf-8"))
    return {
        name: {line["student"]: Line(**line | {"remarks": tuple(line["remarks"])}) for line in graded}
        for name, graded in tree.items()
    }
