"""Shows in a notebook how many exercises of each problem set pass, with bars."""

from __future__ import annotations

import html
from collections.abc import Sequence
from itertools import groupby

from .catalogue import exercises
from .catalogue.names import exercises_named
from .learner import Learner, available, stoppable
from .show import COLOURS, headline
from .verdict import FAILED, PASSED, ExerciseResult

__all__ = ["Progress", "progress"]

CELLS = 20  # characters of a bar


class Progress:
    """How far some exercises are, one bar for each problem set."""

    def __init__(self, results: Sequence[ExerciseResult]) -> None:
        self.results = list(results)

    def __repr__(self) -> str:
        lines = []
        for name, group in self._sets():
            passed = sum(result.passed for result in group)
            filled = round(CELLS * passed / len(group))
            lines.append(f"{name:5} {'█' * filled}{'░' * (CELLS - filled)} {passed} of {len(group)}")
        return "\n".join([*lines, self._next()])

    def _repr_html_(self) -> str:
        rows = []
        for name, group in self._sets():
            passed, begun = (
                sum(result.passed for result in group),
                sum(result.started and not result.passed for result in group),
            )
            parts = ((passed, COLOURS[PASSED]), (begun, COLOURS[FAILED]))
            filled = "".join(
                f'<span style="display:inline-block;height:100%;width:{100 * count / len(group):.1f}%;'
                f'background:{colour}"></span>'
                for count, colour in parts
            )
            said = f"{passed} of {len(group)} pass" + (f", {begun} begun" if begun else "")
            rows.append(
                f'<tr><td style="text-align:left">{html.escape(name)}</td><td>'
                f'<div role="img" aria-label="{html.escape(f"{name}: {said}")}" style="width:16em;height:1em;'
                f'line-height:1em;text-align:left;border:1px solid #757575">{filled}</div></td>'
                f'<td style="text-align:left">{said}</td></tr>'
            )
        return f"<table>{''.join(rows)}</table><p>{html.escape(self._next())}</p>"

    def _sets(self) -> list[tuple[str, list[ExerciseResult]]]:
        by_set = sorted(self.results, key=lambda result: int(result.exercise.problem_set.removeprefix("ps")))
        return [(name, list(group)) for name, group in groupby(by_set, lambda result: result.exercise.problem_set)]

    def _next(self) -> str:
        left = next((result for result in self.results if not result.passed), None)
        return f"Next: {headline(left)}" if left else "All pass every visible check."


def progress(name: str | float | None = None) -> Progress:
    """How far you are: a bar for each problem set, and the next exercise.

    name: what is counted, "ps3", "masks"; everything without it. Raises KeyError for a name that means nothing.
    """
    chosen = available(exercises_named(name) if name is not None else exercises())
    with stoppable(), Learner(recalls=True).imported() as learner:
        return Progress([learner.result(exercise) for exercise in chosen])
