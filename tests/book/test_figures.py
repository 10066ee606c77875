"""The figures' helpers: readable numbers, honest masks, clear errors."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

import figures

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def _texts(ax: plt.Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_heatmap_writes_every_number() -> None:
    _, (ax,) = figures.panels((2, 3))
    figures.heatmap(ax, [[1, 2, 3], [-4, np.inf, -np.inf]], ["a", "b"], ["x", "y", "z"], "t", "{:.0f}")
    assert _texts(ax) == ["1", "2", "3", "−4", "∞", "−∞"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]


def test_numbers_contrast_with_their_cells() -> None:
    """WCAG asks for 4.5 : 1 between text and background; one of black and white always gives it."""
    for colour in plt.get_cmap()(np.linspace(0, 1, 256)):
        text = figures._luminance(matplotlib.colors.to_rgb(figures._readable_on(colour[:3])))
        cell = figures._luminance(colour[:3])
        ratio = (max(text, cell) + 0.05) / (min(text, cell) + 0.05)
        assert ratio >= 4.5


@pytest.mark.parametrize("matrix", [np.ones((3, 3)), torch.zeros(2, 2), torch.full((2, 2), -torch.inf)])
def test_heatmap_draws_constant_and_empty_matrices(matrix: object) -> None:
    figure, (ax,) = figures.panels((3, 3))
    figures.heatmap(ax, matrix)
    figure.canvas.draw()


def test_mask_wants_booleans() -> None:
    _, (ax,) = figures.panels((2, 2))
    figures.mask(ax, torch.tensor([[True, False], [True, True]]))
    assert _texts(ax) == ["1", "0", "1", "1"]
    with pytest.raises(TypeError, match="boolean"):
        figures.mask(ax, [[1, 0], [1, 1]])


def test_wrong_labels_and_dimensions_are_named() -> None:
    _, (ax,) = figures.panels((2, 2))
    with pytest.raises(ValueError, match="rows needs 2 labels"):
        figures.heatmap(ax, np.ones((2, 2)), rows=["one"])
    with pytest.raises(ValueError, match="expected a matrix"):
        figures.heatmap(ax, np.ones((2, 2, 2)))


def test_table_gives_the_numbers_as_text() -> None:
    shown = figures.table([[0.5, -1]], ["q"], ["k1", "k2"], "scores", "{:.1f}")
    assert repr(shown).splitlines() == ["scores", "    k1    k2", "q  0.5  −1.0"]
    assert '<th scope="row">q</th><td>0.5</td><td>−1.0</td>' in shown._repr_html_()


def test_panels_wrap() -> None:
    figure, axes = figures.panels((3, 4), (3, 3), (3, 3), per_row=2)
    assert len(axes) == 3
    assert len(figure.axes) == 4
