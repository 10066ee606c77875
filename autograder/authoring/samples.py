"""Makes the submissions of the sample class from its table, each with its expected verdict."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from selfcheck.catalogue import in_problem_set

from ..build import stubs
from ..course.folder import Course
from ..course.paths import REFERENCE, ROOT
from ..course.releases import written_questions

FOLDER = ROOT / "tests" / "sample_class"  # data of a checkout; an installed course has none


class NoSampleClass(FileNotFoundError):
    """The folder of the sample class is not here."""


@dataclass(frozen=True)
class Expected:
    """One submission of the table in class.toml, with its expected verdict.

    base: "reference" or "stubs", the text of every module; what stands in the student's folder is added at its end
    without: modules left out; extra: further files, by path; notebook: how it was changed, see `_notebook`
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


def table(folder: Path = FOLDER) -> list[Expected]:
    """Every submission of the sample class in a folder; NoSampleClass where it holds no class.toml."""
    path = folder / "class.toml"
    if not path.is_file():
        raise NoSampleClass(f"there is no sample class in {folder}: run this in a checkout of the repository")
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["submission"]
    submissions = []
    for entry in entries:
        entry = dict(entry)
        for problem_set in entry.pop("problem_sets", [entry.get("problem_set")]):
            submissions.append(
                Expected(**(entry | {"problem_set": problem_set, "without": tuple(entry.get("without", ()))}))
            )
    return submissions


def write_submission(entry: Expected, course: Course, folder: Path, class_folder: Path = FOLDER) -> None:
    """Write the files of a submission into an empty folder; class_folder: the folder of the sample class."""
    package = folder / "attention"
    package.mkdir(parents=True)
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.py"))}
    if entry.base == "stubs":
        texts = stubs.all_stubs()
    for path in sorted((class_folder / entry.student).glob("*.py")):
        texts[path.name] = texts.get(path.name, "") + "\n\n" + path.read_text(encoding="utf-8")
    for name, text in texts.items():
        if name.removesuffix(".py") not in entry.without:
            (package / name).write_text(text, encoding="utf-8")
    for name, text in entry.extra.items():
        (folder / name).write_text(text, encoding="utf-8")
    released = (course.release(entry.problem_set) / f"{entry.problem_set}.ipynb").read_text(encoding="utf-8")
    (folder / f"{entry.problem_set}.ipynb").write_text(_notebook(released, entry.notebook), encoding="utf-8")


def own_text(entry: Expected) -> str:
    """The text of all files that a student of the sample class wrote."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((FOLDER / entry.student).glob("*.py")))


def _notebook(released: str, change: str) -> str:
    if change == "as released":
        return released
    if change == "invalid JSON":
        return released[: len(released) // 2]
    notebook = json.loads(released)
    graded = [cell["metadata"].get("nbgrader", {}).get("grade") for cell in notebook["cells"]]
    place = graded.index(True)
    if change == "a grade cell deleted":
        del notebook["cells"][place]
    elif change == "a grade cell doubled":
        notebook["cells"].insert(place, notebook["cells"][place])
    elif change == "questions answered":
        for cell in written_questions(notebook):
            cell["source"] = "The softmax over an empty set has no answer, so the weights are zero."
    else:
        raise ValueError(f"class.toml: nothing is known about a notebook with {change!r}")
    return json.dumps(notebook)


def expected_points(entry: Expected) -> dict[str, int]:
    """The points per exercise that a submission deserves."""
    full = entry.base == "reference"
    default = {exercise.id: exercise.max_points if full else 0 for exercise in in_problem_set(entry.problem_set)}
    return default | {name: points for name, points in entry.points.items() if name in default}
