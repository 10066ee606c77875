"""Figures on light and dark pages: colours from one source, contrast in both, told apart by the colour-blind."""

from __future__ import annotations

import base64
import io
import itertools
import math
import re
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import figures
from autograder.course.paths import BOOK

from .pages import all_pages, parsed

sys.path.insert(0, str(BOOK / "_extensions"))

import dark_colours
import dark_figures

matplotlib.use("Agg")

ROLES = ("query", "key", "value", "weight", "output")
LINES = ("line-blue", "line-orange", "line-green", "line-pink")
FILLS = ("line-amber", "line-sky")  # of bars and marks that carry their names; too pale for a line on white
THEMES = ("light", "dark")
#: Machado, Oliveira and Fernandes (2009), severity 1, on linear red, green and blue.
SEEN = {
    "normal": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def test_figures_draw_in_the_style_sheets_colours() -> None:
    light = dark_colours.tokens("light")
    named = {role: getattr(figures, role.upper()) for role in ROLES}
    named |= {name: getattr(figures, name.removeprefix("line-").upper()) for name in LINES}
    named["ink"] = figures.INK
    assert {name: light[name] for name in named} == {name: colour.lower() for name, colour in named.items()}
    style = (BOOK / "_static" / "attention.mplstyle").read_text("utf-8").lower()
    cycle = re.search(r"^axes.prop_cycle.*\[(.*)\]", style, re.MULTILINE)
    assert {f"#{colour}" for colour in re.findall(r"[0-9a-f]{6}", cycle[1])} <= set(light.values())


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_stands_out(theme: str) -> None:
    """4.5 : 1 for what is read, 3 : 1 for lines, on the page and on a panel (WCAG 2.1)."""
    colours = dark_colours.tokens(theme)
    least = {**dict.fromkeys(("ink", "muted", "accent", *ROLES), 4.5), **dict.fromkeys(LINES, 3.0)}
    if theme == "dark":
        least |= dict.fromkeys(FILLS, 3.0)
    grounds = {name: ("paper",) if theme == "light" and name in LINES else ("paper", "panel") for name in least}
    found = {name: min(dark_colours.contrast(colours[name], colours[one]) for one in grounds[name]) for name in least}
    assert {name: ratio for name, ratio in found.items() if ratio < least[name]} == {}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("names", "least"), [(ROLES, 25), (LINES, 16)])
def test_the_colour_blind_tell_them_apart(theme: str, names: tuple[str, ...], least: float) -> None:
    """CIE 1976 differences; the lines' Okabe and Ito colours are 17 apart on white, and lines differ in marks too."""
    colours = dark_colours.tokens(theme)
    for sight, matrix in SEEN.items():
        seen = {name: _lab(colours[name], np.array(matrix)) for name in names}
        for one, other in itertools.combinations(names, 2):
            assert math.dist(seen[one], seen[other]) >= least, (sight, one, other)


@pytest.mark.parametrize("theme", THEMES)
def test_two_roles_of_like_lightness_differ_twice_as_much_in_colour(theme: str) -> None:
    """4.5 : 1 on white leaves light pages no room for five steps of lightness."""
    colours = {name: dark_colours.tokens(theme)[name] for name in ROLES}
    lightness = {name: _lab(colour, SEEN["normal"])[0] for name, colour in colours.items()}
    for one, other in itertools.combinations(ROLES, 2):
        if abs(lightness[one] - lightness[other]) < 5:
            for sight, matrix in SEEN.items():
                seen = [_lab(colours[name], np.array(matrix)) for name in (one, other)]
                assert math.dist(*seen) >= 50, (sight, one, other)


@pytest.mark.parametrize("theme", THEMES)
def test_outputs_look_unlike_links_and_text(theme: str) -> None:
    colours = dark_colours.tokens(theme)
    for sight, matrix in SEEN.items():
        output = _lab(colours["output"], np.array(matrix))
        for other in ("accent", "ink", "bad", "ok"):
            assert math.dist(output, _lab(colours[other], np.array(matrix))) >= 25, (sight, other)


def _lab(colour: str, sight: np.ndarray) -> np.ndarray:
    parts = np.array([int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
    )
    relative = to_xyz @ np.clip(sight @ linear, 0, 1) / [0.95047, 1, 1.08883]
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("scale", [figures.WEIGHT, figures.BLUE, "RdBu_r"])
def test_numbers_stay_readable_in_their_cells(scale: str) -> None:
    """A cell's number is black or white: turned over with its cell, it keeps the 4.5 : 1 that it has on white."""
    colours = plt.get_cmap(scale) if scale in plt.colormaps() else dark_figures_scale(scale)
    for colour in colours(np.linspace(0, 1, 101)):
        number = {"white": "#ffffff", "black": "#000000"}[figures._readable_on(colour[:3])]
        cell = dark_colours.reflected(matplotlib.colors.to_hex(colour))
        assert dark_colours.contrast(dark_figures._dark(number, in_text=True), cell) >= 4.5


def dark_figures_scale(colour: str) -> matplotlib.colors.Colormap:
    return matplotlib.colors.LinearSegmentedColormap.from_list(colour, ["white", colour])


@pytest.mark.parametrize("name", [*ROLES, *LINES, *FILLS])
def test_letters_on_a_colour_and_on_its_tint_are_readable(name: str) -> None:
    """White letters on a filled shape become black; ink on a pale one becomes light."""
    light = dark_colours.tokens("light")[name]
    assert dark_colours.contrast("#000000", dark_colours.dark(light)) >= 4.5
    for share in (0.07, 0.1, 0.17, 0.26):
        parts = (1 - share * (1 - int(light[start : start + 2], 16) / 255) for start in (1, 3, 5))
        tint = matplotlib.colors.to_hex(list(parts))
        assert dark_colours.contrast(dark_colours.dark(figures.INK), dark_colours.dark(tint)) >= 4.5


@pytest.fixture(scope="module")
def drawn() -> str:
    """A figure with all that is changed: grounds, a matrix, its numbers, hatching, a text in black and one in a box."""
    figure, (ax,) = figures.panels((2, 2))
    figures.heatmap(ax, [[0, 1], [0.5, 0.25]], cmap="Greys")
    ax.add_patch(plt.Rectangle((0, 0), 1, 1, fc="white", ec="#9aa4b2", hatch="////"))
    ax.text(0, 0, "in a box", color="white", bbox={"fc": figures.WEIGHT, "ec": "none"})
    file = io.StringIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    return file.getvalue()


def test_both_variants_have_no_ground(drawn: str) -> None:
    for svg in dark_figures.variants(drawn).values():
        assert re.search(r'id="patch_1">.*?style="fill: none"', svg, re.DOTALL)
        assert "<metadata" not in svg


def test_the_dark_variant_has_no_colour_of_the_light_one(drawn: str) -> None:
    made = dark_figures.variants(drawn)
    colours = {
        theme: set(re.findall(r"#[0-9a-f]{6}\b", re.sub(r'href="[^"]*"', "", svg))) for theme, svg in made.items()
    }
    assert "#ffffff" in colours["light"] and figures.WEIGHT in colours["light"]
    assert not colours["dark"] & {figures.WEIGHT, "#1c2430", "#9aa4b2"}
    assert dark_colours.tokens("dark")["weight"] in colours["dark"]
    assert "fill: #000000" in made["dark"], "the white letters in the box"
    assert re.match(r'<svg[^>]* fill="#ffffff"', made["dark"]), "letters that name no colour are black"


def test_a_matrix_is_turned_over(drawn: str) -> None:
    made = dark_figures.variants(drawn)
    ends = {}
    for theme, svg in made.items():
        content = base64.b64decode(re.search(r'base64,\s*([^"]*)"', svg)[1])
        pixels = np.asarray(Image.open(io.BytesIO(content)).convert("L")).astype(float)
        ends[theme] = pixels[pixels.shape[0] // 4, [pixels.shape[1] // 4, 3 * pixels.shape[1] // 4]]
    assert (ends["light"][0] - ends["light"][1]) * (ends["dark"][0] - ends["dark"][1]) < 0


@pytest.mark.parametrize("page", [page for page in all_pages() if page.startswith("chapters/")])
def test_every_figure_of_a_chapter_can_be_cited(page: str, site: Path) -> None:
    soup = parsed(site, page)
    chapter = int(page.split("/")[1].split("-")[0])
    drawn = soup.select("article figure")
    assert drawn, f"{page} has no figure"
    numbers = [figure.select_one(".caption-number").get_text(strip=True) for figure in drawn]
    assert numbers == [f"Figure {chapter}.{n}" for n in range(1, len(drawn) + 1)]
    for figure in drawn:
        assert figure["id"].startswith("fig-") and len(figure.select_one(".caption-text").get_text()) > 20
        assert [image["class"] for image in figure.select("img")] == [["for-light"], ["for-dark"]]
        assert all(int(image["width"]) > 0 for image in figure.select("img"))
    now = [image for image in soup.select("article figure img") if image.get("loading") != "lazy"]
    assert now == soup.select('article img[fetchpriority="high"]') and len(now) <= 1, "one figure is fetched at once"
    assert not soup.select("article .cell_output > img, article .cell_output p > img"), "a figure without a caption"


@pytest.mark.parametrize("page", [page for page in all_pages() if page.startswith("chapters/")])
def test_no_chapter_opens_on_a_fold_without_a_name(page: str, site: Path) -> None:
    article = parsed(site, page).select_one("article")
    first = article.select_one("details.hide, figure, div.cell_input")
    told = first.select_one(".collapsed").get_text(strip=True) if first.name == "details" else ""
    assert first.name == "figure" or told == "Show what the page imports", f"{page} opens on {told!r}"
