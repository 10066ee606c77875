"""What was judged of a submission: the verdicts, what they depend on, what it used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

#: What not every version has written of a result, and its type.
OPTIONAL: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("grader", "policy", "graded", "secret"), str),
    **dict.fromkeys(("files", "used"), dict),
    "seconds": (int, float),
}


@dataclass(frozen=True)
class CheckOutcome:
    """The verdict of one check, as an instructor and the learner see it.

    verdict: "passed", "failed", "skipped" or "grader_error"; section: label of the book section to reread
    untold: how it fails for inputs that are not shown, which no learner may read: the code that met them chose it
    """

    check: str
    sees: str
    verdict: str
    points: int
    max_points: int
    message: str = ""
    misconception: str | None = None
    section: str = ""
    untold: str = ""

    def as_json(self) -> dict[str, Any]:
        tree = asdict(self)
        if not self.untold:
            del tree["untold"]
        return tree


@dataclass(frozen=True)
class ExerciseOutcome:
    """The verdicts of one exercise, and what the learner reads of it.

    seconds: of the processor; None where the exercise had no process of its own
    """

    id: str
    number: str
    points: int
    max_points: int
    text: str
    checks: tuple[CheckOutcome, ...]
    seconds: float | None = None

    def as_json(self) -> dict[str, Any]:
        tree = asdict(self) | {"checks": [check.as_json() for check in self.checks]}
        if self.seconds is None:
            del tree["seconds"]
        return tree

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> ExerciseOutcome:
        known = _known(cls, tree)
        return cls(**known | {"checks": tuple(CheckOutcome(**_known(CheckOutcome, check)) for check in tree["checks"])})


@dataclass(frozen=True)
class Result:
    """What was judged of one submission to one problem set.

    A worker, which knows nobody's name, leaves `student`, `secret` and `remarks` empty; the grader adds them when it
    puts the result on file.
    key: digest of everything that the verdicts depend on; policy: digest of the grading policy, its first 8 digits
    isolation: what stood between the learner's code and the machine; grader: the version that judged
    files: digest of each module, by its name; graded: when, ISO 8601; seconds: by the clock
    used: of the machine, see sandbox.usage.Used; troubles: what an instructor should look at
    secret: fingerprint of the course's secret; remarks: those of intake, then the troubles
    fresh: whether it was judged in this run; not on file
    """

    key: str
    problem_set: str
    isolation: str
    exercises: tuple[ExerciseOutcome, ...]
    grader_error: bool = False
    troubles: tuple[str, ...] = ()
    grader: str = ""
    policy: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    graded: str = ""
    seconds: float | None = None
    used: Mapping[str, Any] = field(default_factory=dict)
    student: str = ""
    secret: str = ""
    remarks: tuple[str, ...] = ()
    fresh: bool = field(default=False, compare=False)

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def max_points(self) -> int:
        return sum(exercise.max_points for exercise in self.exercises)

    def as_json(self) -> dict[str, Any]:
        """The form on file, which is that of version 0.5.0."""
        return {
            "student": self.student,
            "secret": self.secret,
            "key": self.key,
            "problem_set": self.problem_set,
            "isolation": self.isolation,
            "grader": self.grader,
            "terms": self.policy,
            "files": dict(self.files),
            "graded": self.graded,
            "seconds": self.seconds,
            "used": dict(self.used),
            "grader_error": self.grader_error,
            "troubles": list(self.troubles),
            "exercises": [exercise.as_json() for exercise in self.exercises],
            "remarks": list(self.remarks),
        }

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> Result:
        """Raises KeyError or TypeError where something is missing that every version has written.

        What only later versions write, or what is of no use as it stands, is left out.
        """
        sound = _known(cls, tree) | {"policy": tree.get("terms", "")}
        for name, kind in OPTIONAL.items():
            if not isinstance(sound.get(name), kind):
                sound.pop(name, None)
        sound["exercises"] = tuple(ExerciseOutcome.from_json(exercise) for exercise in tree["exercises"])
        sound |= {name: tuple(tree[name]) for name in ("troubles", "remarks")}
        return cls(**sound)


def _known(kind: type, tree: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that a dataclass has fields for: another version may have written more."""
    return {field.name: tree[field.name] for field in fields(kind) if field.name in tree and field.name != "fresh"}
