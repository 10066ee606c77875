"""Runs visible checks to completion before it sends hidden inputs, with as few processes as a submission allows."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from selfcheck.call_effect import MOVES, functions_that_ran
from selfcheck.call_watch import BEFORE
from selfcheck.catalogue import Exercise
from selfcheck.compare import Answer
from selfcheck.diagnose import Key
from selfcheck.differences import Differences, differences_of

from ..build.stubs import given_files
from ..sandbox.bubblewrap import Sandbox
from ..sandbox.usage import Tally
from ..sandbox.worker_pool import expect_compiler, is_fork_server_available
from . import periods
from .answers import Answers, of_comparable_size
from .asking_again import AskingAgain, Ran
from .periods import Deadline, Turn
from .protocol import Request, ask, ask_together
from .requests import HIDDEN, MEASURED, VISIBLE, Keys, Part, requests_for

ROWS = 128  # of more the reference computes the weights again, in the backward pass
Compared = tuple[list[list[Answer]], Differences]  # the answers to each key, in order, and what is wrong with them


class Schedule:
    """Asks one package for its answers to the keys of its exercises.

    All exercises share one process where their answers are right there; each of the others gets its own, and so does
    one before which a function ran that it forbids. No hidden input enters the sandbox before every visible check has
    its answer, and where a forbidden function ran, has it again: feedback on a visible check may quote what the
    learner's code says, or tell that an answer moved, which then cannot tell of hidden inputs. So the shared process
    waits meanwhile for those that answer again; two workers are enough for most submissions, and one for many right
    ones. Of a text that Python cannot read only the visible checks are asked again: all else has the same answer.
    tally: what the package used is added there
    `ran` tells of each part for which a forbidden function ran whether the answers come from it.
    """

    def __init__(self, files: Mapping[str, bytes], keys: Keys, sandbox: Sandbox, tally: Tally) -> None:
        self._files, self._keys, self._sandbox, self._tally = dict(files), keys, sandbox, tally
        self._requests = requests_for(keys, keys)
        self._told = {exercise for (exercise, _), request in self._requests.items() if request.handed}
        self._end = Deadline.of_submission()
        self._again = AskingAgain(files, keys, sandbox, tally, self._end)
        self.ran: dict[Part, Ran] = {}
        self._answers: dict[Part, Answers] = {}
        self._right: set[Part] = set()

    def run(self) -> dict[Exercise, Compared]:
        """All answers, compared; GraderFault where the sandbox fails."""
        if any(map(_imports_compiler, self._keys.values())) or _names_compiler(self._files):
            expect_compiler(self._sandbox)
        with periods.of_this_process().turn() as turn:
            if is_fork_server_available(self._sandbox):  # else a process for all costs as much as any other
                self._ask_together(turn)
            self._ask_apart(self._unanswered(), turn)
        for kind in (VISIBLE, HIDDEN, MEASURED):
            self._look(kind)
        return {exercise: self._compared(exercise) for exercise in self._keys}

    def _unanswered(self) -> list[Part]:
        return [part for part in self._requests if part not in self._answers]

    def _ask_together(self, turn: Turn) -> None:
        """Ask in one process and keep what is right; what is wrong there, or trains a model, is asked for meanwhile."""
        visible = [
            (exercise, kind)
            for exercise, kind in self._requests
            if kind == VISIBLE and exercise not in self._told and not _trains_a_model(self._keys[exercise])
        ]
        hidden: list[Part] = []

        def hidden_after(answers: list[Answers]) -> list[Request]:
            self._keep_right(visible, answers)
            self._look(VISIBLE, turn)
            again = {exercise for exercise, kind in self._unanswered() if kind == VISIBLE}
            unreadable = {part[0] for part, given in zip(visible, answers, strict=True) if _is_unreadable(given)}
            wanted = [part for part in self._unanswered() if part[0] in again]
            self._ask_apart([part for part in wanted if part[1] == VISIBLE or part[0] not in unreadable], turn)
            self._answer_unreadable(unreadable)
            asked = (part for part in self._unanswered() if part[1] == HIDDEN)
            hidden.extend(part for part in asked if part[0] not in self._told)
            return [self._requests[part] for part in hidden]

        if visible:
            requests = [self._requests[part] for part in visible]
            answers = ask_together(self._files, requests, self._sandbox, hidden_after, self._tally, self._end, turn)
            self._keep_right(hidden, answers[len(visible) :])

    def _keep_right(self, parts: list[Part], answers: list[Answers]) -> None:
        for part, given in zip(parts, answers, strict=True):
            keys = self._keys[part[0]]
            given = _of_comparable_size(keys, given)
            is_alone = BEFORE not in functions_that_ran(given.values())
            if is_alone and all(_is_right(keys[int(place)], answer) for place, answer in given.items()):
                self._answers[part] = given
                self._right.add(part)

    def _answer_unreadable(self, exercises: Collection[Exercise]) -> None:
        """Where Python cannot read a module's text, whatever else is asked of it has the same answer."""
        for (exercise, kind), request in self._requests.items():
            if exercise in exercises and kind != VISIBLE and _is_unreadable(self._answers[exercise, VISIBLE]):
                error = next(answer for given in self._answers[exercise, VISIBLE].values() for answer in given)
                self._answers[exercise, kind] = {
                    key: [error] * len(plan["calls"]) for key, plan in request.plans.items()
                }

    def _ask_apart(self, parts: list[Part], turn: Turn) -> None:
        """Ask for these each in a process of its own, and keep whatever comes.

        Exercises that are told what answers others have workers of their own: all processes of a worker share its
        memory. Their visible inputs come first, since no hidden one enters before every visible check has its answer.
        """
        told = [part for part in parts if part[0] in self._told]
        self._ask_one_worker([part for part in told if part[1] == VISIBLE], turn)
        self._ask_one_worker([part for part in parts if part not in told], turn)
        self._ask_one_worker([part for part in told if part[1] != VISIBLE], turn)

    def _ask_one_worker(self, parts: list[Part], turn: Turn) -> None:
        """Likewise, in one worker."""

        def keep(answers: list[Answers]) -> None:
            for part, given in zip(parts, answers, strict=False):  # the visible ones come first, and then all
                self._answers.setdefault(part, _of_comparable_size(self._keys[part[0]], given))

        def before_hidden(answers: list[Answers]) -> None:
            keep(answers)
            self._look(VISIBLE, turn)

        if parts:
            requests = [self._requests[part] for part in parts]
            torch = any(exercise.library == "torch" for exercise, _ in parts)
            keep(ask(self._files, requests, torch, self._sandbox, self._tally, self._end, turn, before_hidden))

    def _look(self, kind: int, turn: Turn | None = None) -> None:
        """Ask again for what has its answers, where a forbidden function ran for them that decides nothing yet."""
        for exercise in self._keys:
            decided = any(ran.effect == MOVES for (other, _), ran in self.ran.items() if other is exercise)
            answers = self._answers.get((exercise, kind))
            if answers and not decided and (exercise, kind) not in self.ran:
                told = [(self._keys[exercise][int(place)], given) for place, given in answers.items()]
                ran = self._again.ran(exercise, kind, told, turn)
                if ran:
                    self.ran[exercise, kind] = ran

    def _compared(self, exercise: Exercise) -> Compared:
        keys, parts = self._keys[exercise], [part for part in self._requests if part[0] == exercise]
        answers = {place: answer for part in parts for place, answer in self._answers[part].items()}
        given = [answers[str(place)] for place in range(len(keys))]
        return given, [None] * len(keys) if self._right.issuperset(parts) else differences_of(keys, given)


def _of_comparable_size(keys: list[Key], answers: Answers) -> Answers:
    return {place: of_comparable_size(keys[int(place)].expected, given) for place, given in answers.items()}


def _is_right(key: Key, answer: list[Answer]) -> bool:
    return differences_of([key], [answer]) == [None]


def _is_unreadable(answers: Answers) -> bool:
    """Whether all answers are that Python cannot read the text of a module."""
    errors = [answer.get("error", {}) for given in answers.values() for answer in given]
    return bool(errors) and all(error.get("importing") and "SyntaxError" in error.get("kinds", ()) for error in errors)


def _trains_a_model(keys: list[Key]) -> bool:
    return any(step.get("lessons") for key in keys for step in key.calls)


def _imports_compiler(keys: list[Key]) -> bool:
    """Whether answers have torch import its compiler: by an optimizer's step, or by checkpoint where rows are many."""
    used = (use for key in keys for step in key.calls if "construct" in step for use in step["uses"])
    return _trains_a_model(keys) or any(max(tree.get("shape") or [0]) > ROWS for use in used for tree in use["args"])


#: Of torch, what imports its compiler where it is imported, or at its first call.
BRINGS_COMPILER = (b"checkpoint", b"_dynamo", b"flex_attention", b"torch.export", b"torch import export")


def _names_compiler(files: Mapping[str, bytes]) -> bool:
    """Whether a module of the learner's names what has torch import its compiler: 140 MiB that are not the answer's."""
    own = {name for name in files if name.endswith(".py")} - set(given_files())  # some given ones name it too
    return any(word in files[name] for name in own for word in BRINGS_COMPILER)
