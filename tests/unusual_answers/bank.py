"""The bank of answers written as few people write them: right ones, and ones that a forbidden function gives.

Each is an entry of a TOML file here: `exercise`, an id; `style`, what is unusual; `code`, which stands at the end of
the module of the reference, as if a learner had written it. A file's `tails`, by exercise, are added behind the code,
unless the answer is `whole`. `top` stands before the module's text; `beside` are modules of one's own, by file name.
`says`: a part of what the learner reads; `refused`: it calls what is not there while it is judged; `problem_set`, where
an id has two parts; `quick`: tried in every run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.answer_key.keys import AnswerKey
from autograder.course.paths import REFERENCE
from autograder.judge.judge import judge_problem_set
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.worker_pool import expect_watch
from selfcheck.catalogue import forbidden_by, in_problem_set, parts_of
from selfcheck.verdict import ExerciseResult

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Unusual:
    """One answer: the text that is added to the reference's module, or the whole text of that module."""

    exercise: str
    style: str
    code: str
    says: str = ""
    problem_set: str = ""
    quick: bool = False
    refused: bool = False
    whole_module: str = ""
    top: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)

    def replaced(self, text: str) -> Unusual:
        """The same answer as the text of its whole module."""
        return replace(self, whole_module=text)

    @property
    def files(self) -> dict[str, bytes]:
        """A whole submission: the reference with this answer."""
        files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
        name = f"{self.exercise.partition('.')[0]}.py"
        whole = self.whole_module or f"{self.top}{files[name].decode()}\n\n{self.code}"
        own = {other: text.encode() for other, text in self.beside.items()}
        return files | own | {name: whole.encode()}

    def judged(self, answer_key: AnswerKey) -> ExerciseResult:
        """The verdict of the real judge, in the sandbox where there is one; watched as where a class is graded."""
        expect_watch("auto", forbidden_by(in_problem_set(self.problem_set)))
        (result,) = judge_problem_set(self.files, answer_key, open_sandbox("auto"), only=[self.exercise])
        return result


def answers_in(*names: str) -> list[Unusual]:
    """The answers of files of the bank, those of a problem set together: for each set workers are made ready anew."""
    found = []
    for name in names:
        table = tomllib.loads((HERE / name).read_text(encoding="utf-8"))
        for entry in table["answer"]:
            tail = "" if entry.pop("whole", False) else table.get("tails", {}).get(entry["exercise"], "")
            set_of = entry.get("problem_set") or parts_of(entry["exercise"])[0].problem_set
            found.append(Unusual(**{**entry, "problem_set": set_of, "code": entry["code"] + "\n\n" + tail}))
    return sorted(found, key=lambda one: one.problem_set)
