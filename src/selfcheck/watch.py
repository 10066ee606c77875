"""Checks again on every save and keeps one failing exercise in view."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from .catalogue import Exercise
from .hints import hint
from .keyboard import Keyboard
from .learner import Learner, Stopped, package_folder, stoppable
from .numpy_checks import NumpyChecks
from .terminal import tell
from .torch_ahead import TorchAhead
from .verdict import ExerciseResult

PAUSE = 0.2  # seconds between two looks at the files
KEYS = "h hint · n next exercise · r run again · q quit"


class Watch:
    """The exercises that are watched, what is known of them, and the one in view."""

    def __init__(self, console: Console, chosen: Sequence[Exercise]) -> None:
        self.console, self.chosen = console, list(chosen)
        self.folder = package_folder()
        self.results: dict[str, ExerciseResult] = {}
        self.position = 0  # of the exercise in view
        self._torch = TorchAhead()
        self._numpy_checks: NumpyChecks | None = None  # while torch is being imported
        self._times = self._now()

    def run(self, looks: int | None = None) -> None:
        """Until q or Ctrl-C; `looks` bounds how often it looks, for tests."""
        keyboard = Keyboard()
        self.console.print(Text(f"watching {self.folder}; Ctrl-C ends"))
        try:
            if looks is None:
                self._examine_from(0, begun_first=True)
                self.show(keyboard)
                if any(exercise.library == "torch" and not self._passes(exercise) for exercise in self.chosen):
                    self._import_torch()  # whoever has just been shown an exercise writes for a while
            while looks is None or looks > 0:
                looks = None if looks is None else looks - 1
                with keyboard.single_keys():
                    key = keyboard.pressed(PAUSE)
                if key == "q":
                    break
                if self._obey(key) | self._look(keyboard):
                    self.show(keyboard)
        except KeyboardInterrupt:
            self.console.print("ended")
        finally:
            self._end_numpy_checks()

    def show(self, keyboard: Keyboard) -> None:
        """What passes in one line, the exercise in view, and the keys."""
        result = self.results.get(self.chosen[self.position].number)
        passing = [exercise for exercise in self.chosen if self._passes(exercise)]
        if keyboard.is_there:
            self.console.clear()
        if passing:
            same = {exercise.module for exercise in passing if exercise.module == self.chosen[self.position].module}
            named = [f"{exercise.number} {exercise.symbol}" for exercise in passing if exercise.module in same] or [
                passing[-1].number
            ]
            self.console.print(Text(f"✓ {', '.join(named)}", style="green"))
        if result and not (result.passed and len(passing) == len(self.chosen)):
            tell(self.console, [result])
        known = f"{len(passing)} of {len(self.chosen)} exercises pass every visible check"
        self.console.print(Text(known + ("." if not keyboard.is_there else f"   {KEYS}"), style="dim"))

    def _obey(self, key: str) -> bool:
        """Do what a key asks for; whether there is something new to show."""
        exercise = self.chosen[self.position]
        if key == "h":
            self.console.print(Text(str(hint(exercise.number))))
        elif key == "r":
            self._examine([exercise])
        elif key == "n":
            self._examine_from((self.position + 1) % len(self.chosen))
        return key in ("r", "n")

    def _look(self, keyboard: Keyboard) -> bool:
        """Check the exercises of the modules that were saved since the last look; whether there were any.

        The one in view comes first, and is shown before the others are checked.
        """
        now = self._now()
        saved = {path.stem for path, stamp in now.items() if self._times.get(path) != stamp}
        self._times = now
        concerned = [exercise for exercise in self.chosen if exercise.module in saved]
        if not concerned:
            return False
        self.console.rule(Text(f"{', '.join(sorted(saved))} saved {time.strftime('%H:%M:%S')}"), style="dim")
        in_view = self.chosen[self.position]
        others = [exercise for exercise in concerned if exercise != in_view]
        if in_view in concerned and others:
            if not self._examine([in_view]):
                return True
            self.show(keyboard)
        if self._examine(others or concerned):
            if self._torch.is_loading:  # the next exercise may have to wait for it
                self.show(keyboard)
            self._view(concerned)
        return True

    def _view(self, concerned: Sequence[Exercise]) -> None:
        """Bring the first of these into view that is begun and fails; else go on to the next one that does not pass."""
        begun = [
            exercise
            for exercise in concerned
            if exercise.number in self.results and self.results[exercise.number].started
        ]
        failing = [exercise for exercise in begun if not self._passes(exercise)]
        in_view = self.chosen[self.position]
        if failing:
            self.position = self.chosen.index(in_view if in_view in failing else failing[0])
        elif begun:
            self._examine_from(self.chosen.index(begun[-1]))

    def _examine_from(self, start: int, begun_first: bool = False) -> None:
        """Bring the first exercise into view, from a position on and round, that does not pass.

        begun_first: whether one that is begun comes before those that are not
        """
        first = None
        for step in range(len(self.chosen)):
            self.position = (start + step) % len(self.chosen)
            exercise = self.chosen[self.position]
            if exercise.number not in self.results and not self._examine([exercise], recalls=True):
                return
            if not self._passes(exercise):
                if not begun_first or self.results[exercise.number].started:
                    return
                first = self.position if first is None else first
        self.position = self.position if first is None else first

    def _examine(self, chosen: Sequence[Exercise], recalls: bool = False) -> bool:
        """Check some exercises on what is on disk now; False where somebody stopped it."""
        try:
            found = self._checked_beside_torch(chosen, recalls)
            if found is None:
                with stoppable():
                    self._wait_for_torch()
                    with Learner(recalls).imported() as learner:
                        found = [learner.result(exercise) for exercise in chosen]
        except Stopped as stopped:
            self.console.print(Text(f"{stopped} The watch goes on.", style="yellow"))
            return False
        self.results |= {result.exercise.number: result for result in found}
        return True

    def _checked_beside_torch(self, chosen: Sequence[Exercise], recalls: bool) -> list[ExerciseResult] | None:
        """The verdicts on NumPy exercises while torch is being imported; None where this process is to check."""
        if not self._torch.is_loading:
            self._end_numpy_checks()
        needs_torch = any(exercise.library == "torch" for exercise in chosen)
        return None if needs_torch or not self._numpy_checks else self._numpy_checks.results(chosen, recalls)

    def _import_torch(self) -> None:
        with contextlib.suppress(OSError):  # where no process can be forked, every check waits for torch
            self._numpy_checks = NumpyChecks()
        self._torch.begin()

    def _end_numpy_checks(self) -> None:
        if self._numpy_checks:
            self._numpy_checks.end()
        self._numpy_checks = None

    def _wait_for_torch(self) -> None:
        if self._torch.is_loading:
            self.console.print(Text("torch is being loaded, once for this watch; the check follows", style="dim"))
            self._torch.wait()

    def _passes(self, exercise: Exercise) -> bool:
        return exercise.number in self.results and self.results[exercise.number].passed

    def _now(self) -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in sorted(self.folder.glob("*.py"))}
