"""Makes a class of synthetic submissions, some right and some wrong.

Each has a text of its own, put together from the reference, right answers in other styles and misconceptions.
"""

from __future__ import annotations

import ast
import functools
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from selfcheck import runner
from selfcheck.catalogue import Exercise, in_problem_set
from selfcheck.reach import builds_on, forbidden_call
from selfcheck.verdict import judge

from ..answer_key.keys import keys_of
from ..authoring.proofs import alternatives_here, answers_of, misconceptions_here
from ..build.solution_marks import Region, regions, replace_regions, without_marks
from ..course.paths import REFERENCE
from ..course.policy import GradingPolicy
from ..course.releases import written_questions
from ..intake.archive import STAMP
from .extraction import NotSelfContained, extract, import_of, top_level

#: The kinds of submission, given to the students of a class in turn.
ROLES = (
    "the reference",
    "one mistake",
    "stubs left",
    "a syntax error",
    "other styles",
    "one mistake",
    "two mistakes",
    "other styles",
    "one mistake",
    "other styles",
)
ANSWERS = (
    "The softmax over an empty set has no answer, so the weights are zero.",
    "Every row sums to one over the keys that it may see; a masked key adds nothing to the sum.",
    "Without the scale the variance of a score grows with the width, and the weights become one-hot.",
)
THINKING = '''

def _think():
    """Stands for code that takes longer."""
    import time

    end = time.thread_time() + {seconds!r}  # a process's time is counted by the tick where it is limited
    while time.thread_time() < end:
        pass
'''


@dataclass
class Student:
    """One submission of the class.

    files: the text of every module of `attention`, by name
    answer: what stands under each written question; "" where none is given
    expected: exercise id → the points it deserves, where the bank says so
    """

    name: str
    role: str
    files: dict[str, str]
    answer: str = ""
    expected: dict[str, int] = field(default_factory=dict)


def make_class(problem_set: str, size: int, secret: bytes, seed: int = 0, slower: float = 0.0) -> list[Student]:
    """A class of `size` students, the same for the same seed; only what is expected of it follows the secret.

    slower: seconds of the processor that the checks of one submission are made to take longer, about: spread over the
        calls that they make
    """
    exercises = in_problem_set(problem_set)
    reference = _reference()
    calls = sum(len(key.calls) for exercise in exercises for key in keys_of(exercise, GradingPolicy(secret)))
    return [
        _SubmissionWriter(exercises, dict(reference), random.Random(f"{problem_set}/{seed}/{number}"), secret).written(
            f"student{number:04d}", ROLES[number % len(ROLES)], slower / calls
        )
        for number in range(size)
    ]


def write(student: Student, problem_set: str, released: str, folder: Path) -> None:
    """Write a submission as it is handed in, into an empty folder; released: the text of the released notebook."""
    (folder / "attention").mkdir(parents=True)
    for name, text in student.files.items():
        (folder / "attention" / name).write_text(text, encoding="utf-8")
    notebook = json.loads(released)
    if student.answer:
        for cell in written_questions(notebook):
            cell["source"] = student.answer
    (folder / f"{problem_set}.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    (folder / STAMP).write_text("2026-01-31 12:00:00 UTC", encoding="utf-8")


def _reference() -> dict[str, str]:
    """Every module of the reference, marks included: its earlier ones use some of later problem sets."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.py"))}


class _SubmissionWriter:
    """Writes one submission."""

    def __init__(self, exercises: list[Exercise], files: dict[str, str], rng: random.Random, secret: bytes) -> None:
        self._exercises, self._files, self._rng, self._secret = exercises, files, rng, secret
        self._points = {exercise.id: exercise.max_points for exercise in exercises}
        self._broken: set[str] = set()  # ids of exercises that do not answer as the reference does

    def written(self, name: str, role: str, slower: float) -> Student:
        mistakes = {"one mistake": 1, "two mistakes": 2}.get(role, 0)
        order = self._rng.sample(self._exercises, len(self._exercises))
        if role == "stubs left":
            for exercise in order[: max(1, len(order) // 3)]:
                self._leave_stub(exercise)
        for exercise in order:
            if mistakes and self._use(exercise, misconceptions_here):
                self._broken.add(exercise.id)
                mistakes -= 1
            elif role != "the reference" and exercise.id not in self._broken:
                self._use(exercise, alternatives_here)
        if slower:
            for exercise in self._exercises:
                self._slow_down(exercise)
            for module in self._modules():
                self._files[module] += THINKING.format(seconds=slower)
        if role == "a syntax error":
            self._break(self._rng.choice(self._modules()))
        files = {module: without_marks(text) for module, text in self._files.items()}
        files |= {module: f"# Handed in by {name}.\n{files[module]}" for module in self._modules()}
        answer = "" if role == "stubs left" else self._rng.choice(ANSWERS)
        return Student(name, role, files, answer, self._expected())

    def _modules(self) -> list[str]:
        return list(dict.fromkeys(f"{exercise.module}.py" for exercise in self._exercises))

    def _leave_stub(self, exercise: Exercise) -> None:
        text = self._files[f"{exercise.module}.py"]
        region = _region(text, exercise.symbol)
        if region:
            refusal = f'raise NotImplementedError("exercise {exercise.number}: {exercise.title}")'
            self._files[f"{exercise.module}.py"] = _with_region(text, region, refusal)
            self._points[exercise.id] = 0
            self._broken.add(exercise.id)

    def _use(self, exercise: Exercise, bank: Callable[[Exercise], dict[str, Callable[..., object]]]) -> bool:
        """Put an answer of the bank behind the argument checks of an exercise; returns whether one fits."""
        module = f"{exercise.module}.py"
        choices = list(bank(exercise).items())
        for _, function in self._rng.sample(choices, len(choices)):
            text = _with_answer(self._files[module], exercise, function)
            if text and not forbidden_call(text, exercise.symbol, exercise.forbidden, self._text_of):
                self._files[module] = text
                self._points[exercise.id] = _points(exercise, function, self._secret)
                return True
        return False

    def _text_of(self, module: str) -> str:
        return self._files.get(f"{module}.py", "")

    def _slow_down(self, exercise: Exercise) -> None:
        """Make every call of an exercise's function, or every new object of its class, take longer."""
        text = self._files[f"{exercise.module}.py"]
        node = top_level(text)[exercise.symbol]
        if isinstance(node, ast.ClassDef):
            methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
            node = methods.get("__init__") or methods["forward"]
        assert isinstance(node, ast.FunctionDef), f"{exercise.id} is a function or a class"
        first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
        lines = text.splitlines(keepends=True)
        lines.insert(first.lineno - 1, f"{' ' * first.col_offset}_think()\n")
        self._files[f"{exercise.module}.py"] = "".join(lines)

    def _break(self, module: str) -> None:
        self._files[module] += "\n\nprint(padding_mask(torch.tensor([2, 3])\n"
        for exercise in self._exercises:
            if f"{exercise.module}.py" == module:
                self._points[exercise.id] = 0
                self._broken.add(exercise.id)

    def _expected(self) -> dict[str, int]:
        """The points of every exercise that builds on nothing broken or earns nothing."""
        return {
            exercise.id: self._points[exercise.id]
            for exercise in self._exercises
            if not self._points[exercise.id] or not self._broken & (_needed(exercise) - {exercise.id})
        }


def _region(text: str, symbol: str) -> Region | None:
    """A function's one solution; None where it has not just one, or one that leaves no trace in a stub."""
    node = top_level(text)[symbol]
    if not isinstance(node, ast.FunctionDef):
        return None
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 2)
    inside = [region for region in regions(text) if region.begin in lines]
    if len(inside) != 1 or inside[0].drop or not inside[0].indent:
        return None
    return inside[0]


def _with_region(text: str, region: Region, line: str) -> str:
    return replace_regions(text, [region], lambda _: line)


def _with_answer(text: str, exercise: Exercise, function: Callable[..., object]) -> str | None:
    """A module's text in which an exercise is answered by a function of the bank; None where that cannot be."""
    region, bare = _region(text, exercise.symbol), getattr(function, "__wrapped__", None)
    if region is None or bare is None:  # only an answer written for the place behind the argument checks fits there
        return None
    try:
        pieces = extract(bare)
    except NotSelfContained:
        return None
    here, kept = top_level(text), []
    for name, piece in pieces.items():
        if name not in here:
            kept.append(piece)
        elif not _same_as(text, here[name], name, piece):
            return None
    answered = here[exercise.symbol]
    assert isinstance(answered, ast.FunctionDef), "only functions have a region"
    arguments = _passed_on(answered.args)
    text = _with_region(text, region, f"return {bare.__name__}({arguments})")
    return "\n\n\n".join([text.rstrip(), *kept]) + "\n"


def _same_as(text: str, node: ast.stmt, name: str, piece: str) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return import_of(node, name) == piece
    return ast.get_source_segment(text, node) == piece


def _passed_on(arguments: ast.arguments) -> str:
    given = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    given += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    given += [f"{argument.arg}={argument.arg}" for argument in arguments.kwonlyargs]
    given += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return ", ".join(given)


@functools.cache
def _points(exercise: Exercise, function: Callable[..., object], secret: bytes) -> int:
    """The points of an answer of the bank in the reference's module, behind the argument checks of a stub."""
    keys, module = keys_of(exercise, GradingPolicy(secret)), f"{exercise.module}.py"
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "attention"
        shutil.copytree(REFERENCE, package)
        text = _with_answer(_reference()[module], exercise, function)
        assert text is not None, "it was put into the reference before"
        (package / module).write_text(without_marks(text), encoding="utf-8")
        with runner.fresh_package(folder):
            return judge(exercise, keys, answers_of(runner.find(exercise.id), keys)).points


@functools.cache
def _needed(exercise: Exercise) -> frozenset[str]:
    """The exercises of the same problem set whose functions an exercise, or one that it needs, builds on."""
    ids: set[str] = set()
    waiting: list[Exercise] = [exercise]
    while waiting:
        current = waiting.pop()
        for other in _uses(current, in_problem_set(exercise.problem_set)):
            if other.id not in ids:
                ids.add(other.id)
                waiting.append(other)
    return frozenset(ids)


def _uses(exercise: Exercise, among: Iterable[Exercise]) -> list[Exercise]:
    source = (REFERENCE / f"{exercise.module}.py").read_text(encoding="utf-8")
    return [
        other
        for other in among
        if other.id in exercise.depends_on
        or (other.id != exercise.id and builds_on(source, exercise.symbol, other.symbol))
    ]
