"""The sample class: submissions made from a table, each with the verdict it deserves."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from ..build import stubs
from ..course.folder import Course
from ..course.paths import REFERENCE, ROOT
from ..course.releases import written_questions

FOLDER = ROOT / "tests" / "sample_class"


@dataclass(frozen=True)
class Expected:
    """One submission of the table in class.toml.

    base: "reference" or "stubs", the text of every module; what stands in the student's folder is added at its end
    without: modules left out; extra: further files, by path; notebook: what happened to it, see `_notebook`
    points: exercise id → points, where they are not all (reference) or none (stubs)
    misconceptions: exercise id → the id that must be named; remark: part of what the instructor must read
    """

    student: str
    problem_set: str
    about: str
    base: str = "reference"
    without: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
    notebook: str = "as released"
    points: dict[str, int] = field(default_factory=dict)
    misconceptions: dict[str, str] = field(default_factory=dict)
    remark: str = ""


def table() -> list[Expected]:
    """Every submission of the sample class."""
    with (FOLDER / "class.toml").open("rb") as file:
        entries = tomllib.load(file)["submission"]
    found = []
    for entry in entries:
        entry = dict(entry)
        for problem_set in entry.pop("problem_sets", [entry.get("problem_set")]):
            found.append(Expected(**(entry | {"problem_set": problem_set, "without": tuple(entry.get("without", ()))})))
    return found


def write_submission(one: Expected, course: Course, folder: Path) -> None:
    """Write a submission's files, as the student would hand them in, into an empty folder."""
    package = folder / "attention"
    package.mkdir(parents=True)
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.py"))}
    if one.base == "stubs":
        texts = stubs.all_stubs()
    for path in sorted((FOLDER / one.student).glob("*.py")):
        texts[path.name] = texts.get(path.name, "") + "\n\n" + path.read_text(encoding="utf-8")
    for name, text in texts.items():
        if name.removesuffix(".py") not in one.without:
            (package / name).write_text(text, encoding="utf-8")
    for name, text in one.extra.items():
        (folder / name).write_text(text, encoding="utf-8")
    released = (course.release(one.problem_set) / f"{one.problem_set}.ipynb").read_text(encoding="utf-8")
    (folder / f"{one.problem_set}.ipynb").write_text(_notebook(released, one.notebook), encoding="utf-8")


def own_text(one: Expected) -> str:
    """What a student of the sample class wrote, all files together."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((FOLDER / one.student).glob("*.py")))


def _notebook(released: str, happened: str) -> str:
    if happened == "as released":
        return released
    if happened == "invalid JSON":
        return released[: len(released) // 2]
    notebook = json.loads(released)
    graded = [cell["metadata"].get("nbgrader", {}).get("grade") for cell in notebook["cells"]]
    place = graded.index(True)
    if happened == "a grade cell deleted":
        del notebook["cells"][place]
    elif happened == "a grade cell doubled":
        notebook["cells"].insert(place, notebook["cells"][place])
    elif happened == "questions answered":
        for cell in written_questions(notebook):
            cell["source"] = "The softmax over an empty set has no answer, so the weights are zero."
    else:
        raise ValueError(f"class.toml: nothing is known about a notebook with {happened!r}")
    return json.dumps(notebook)


def expected_points(one: Expected) -> dict[str, int]:
    """The points per exercise that a submission deserves."""
    from selfcheck.catalogue import in_problem_set

    full = one.base == "reference"
    usual = {exercise.id: exercise.max_points if full else 0 for exercise in in_problem_set(one.problem_set)}
    return usual | {name: points for name, points in one.points.items() if name in usual}
