"""The living example computes what the reference computes, in a real browser, and its Python code gives the same."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from .living_states import BY_VIEW, expected, random_state

VIEWS = tuple(BY_VIEW)
FEW, MANY = 6, 500  # states of each view, of all views together
COMPUTE = "states => states.map(state => Widgets.views[document.querySelector('living-example').getAttribute('view')]"
RESULTS = COMPUTE + ".compute(state))"
PROGRAMS = COMPUTE + ".python(state))"


def compare(view: str, states: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    for state, shown in zip(states, results, strict=True):
        for panel, matrix in expected(view, state).items():
            got = np.array(shown[panel], dtype=float)
            np.testing.assert_allclose(got, matrix, rtol=1e-9, atol=1e-9, err_msg=f"{view}, {panel}: {state}")


def states_of(view: str, count: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = random.Random(f"{view} {seed}")
    return [random_state(rng, view) for _ in range(count)]


@pytest.mark.parametrize("view", VIEWS)
def test_numbers_are_those_of_the_reference(view: str, open_widget: Callable[..., Page]) -> None:
    tab, states = open_widget("living-example", view=view), states_of(view, FEW)
    compare(view, states, tab.evaluate(RESULTS, states))


@pytest.mark.full
@pytest.mark.parametrize("view", VIEWS)
def test_five_hundred_states_agree_with_the_reference(view: str, open_widget: Callable[..., Page]) -> None:
    tab, states = open_widget("living-example", view=view), states_of(view, MANY, seed=1)
    compare(view, states, tab.evaluate(RESULTS, states))


@pytest.mark.parametrize("view", VIEWS)
def test_the_copied_python_gives_the_numbers_shown(view: str, open_widget: Callable[..., Page]) -> None:
    tab, states = open_widget("living-example", view=view), states_of(view, FEW, seed=2)
    names = tab.evaluate("view => Widgets.views[view].names", view)
    assert len(names) >= 3
    for state, shown, code in zip(states, tab.evaluate(RESULTS, states), tab.evaluate(PROGRAMS, states), strict=True):
        space: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, "copied.py", "exec"), space)
        assert printed.getvalue().strip()
        assert max(map(len, code.splitlines())) <= 110
        for panel, name in names.items():
            got, numbers = np.array(space[name], dtype=float), np.array(shown[panel], dtype=float)
            written = ~np.isnan(numbers).any(axis=1)  # a row that is not decoded yet is not in the code either
            np.testing.assert_allclose(got, numbers[written], rtol=1e-9, atol=1e-9, err_msg=f"{view}, {name}\n{code}")
