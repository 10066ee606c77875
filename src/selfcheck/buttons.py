"""Puts the buttons Check, Hint and Show failing under an exercise, in notebooks whose front end has widgets."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from typing import Any

from .catalogue import Exercise
from .failures import failing
from .hints import hint
from .learner import check

__all__ = ["show_buttons"]

ACTIONS: dict[str, Callable[[str], Any]] = {"Check": check, "Hint": hint, "Show failing": failing}
CALLS = {"Check": "check", "Hint": "hint", "Show failing": "failing"}


def show_buttons(exercise: Exercise) -> None:
    """Show an exercise's buttons; a front end without widgets shows the calls to type, no ipywidgets nothing."""
    if importlib.util.find_spec("ipywidgets") is None:
        return
    import ipywidgets
    from IPython.display import clear_output, display

    shown = ipywidgets.Output()

    def button(title: str) -> Any:
        made = ipywidgets.Button(description=title, tooltip=f"{CALLS[title]}({exercise.number!r})")

        def press(_: Any) -> None:
            with shown:
                clear_output(wait=True)
                with contextlib.suppress(KeyboardInterrupt):  # it has been said where the code was
                    display(ACTIONS[title](exercise.number))

        made.on_click(press)
        return made

    box = ipywidgets.VBox([ipywidgets.HBox([button(title) for title in ACTIONS]), shown])
    calls = ", ".join(f'{name}("{exercise.number}")' for name in CALLS.values())
    bundle = box._repr_mimebundle_() | {"text/plain": calls}
    display(bundle, raw=True)
