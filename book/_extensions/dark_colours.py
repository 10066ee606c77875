"""Which colour stands on a dark page for one that was chosen for a light page: the style sheet's, else one reflected.

A reflected colour keeps its hue and as much of its chroma as screens can show. Its luminance is turned over, so that
two colours contrast on the dark page as they do on the light one (WCAG 2's ratio); white becomes the page's ground.
"""

from __future__ import annotations

import re
from functools import cache
from math import atan2, cbrt, cos, hypot, sin
from pathlib import Path

STYLES = Path(__file__).resolve().parents[1] / "_static" / "colours.css"
GROUND = "paper"
FLARE = 0.05  # what WCAG 2 adds to each luminance
TOP = 1 + FLARE
PALE = 0.25  # the luminance from which a colour is drawn towards the ground
HALVINGS = 24
PALEST = 0.3  # up to this share of a colour on white, dark letters stand on it
ROUNDING = 1.5 / 255
UNTINTED = ("paper", "panel", "rule")  # nearly white themselves

Colour = tuple[float, float, float]  # red, green and blue, 0 to 1, as written in #rrggbb


@cache
def tokens(theme: str) -> dict[str, str]:
    """The colours that the style sheet names for a theme, "light" or "dark": {"query": "#08357f", …}."""
    block = re.search(rf'html\[data-theme="{theme}"\] \{{(.*?)\}}', STYLES.read_text("utf-8"), re.DOTALL)
    if block is None:
        raise ValueError(f'{STYLES.name} has no block html[data-theme="{theme}"] {{…}}')
    return {name: colour.lower() for name, colour in re.findall(r"--([\w-]+): (#[0-9a-fA-F]{6});", block[1])}


@cache
def dark(colour: str) -> str:
    """colour: "#rrggbb", as a figure draws with it. Returns the dark page's, in the same form."""
    light = tokens("light")
    named = {light[name]: tokens("dark")[name] for name in light}
    return named.get(colour.lower()) or _tint(colour) or reflected(colour)


@cache
def reflected(colour: str) -> str:
    """colour: "#rrggbb". Returns it with its luminance turned over, so that a scale of colours stays one."""
    return _hex(_reflected(_rgb(colour)))


def _tint(colour: str) -> str | None:
    """A little of a named colour on white becomes as much of the dark page's on its ground."""
    shown, ground = _rgb(colour), _rgb(tokens("dark")[GROUND])
    for name, base in tokens("light").items():
        parts = [(1 - part) / (1 - full) for part, full in zip(shown, _rgb(base), strict=True) if full < 0.9]
        if not parts or not 0 < max(parts) <= PALEST or name in UNTINTED:
            continue
        share = sum(parts) / len(parts)
        mixed = [1 - share * (1 - full) for full in _rgb(base)]
        if max(abs(one - other) for one, other in zip(mixed, shown, strict=True)) <= ROUNDING:
            full = _rgb(tokens("dark")[name])
            return _hex(tuple(low + share * (high - low) for low, high in zip(ground, full, strict=True)))  # type: ignore[arg-type]
    return None


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it, 0 (black) to 1 (white); colour: "#rrggbb"."""
    return _luminance(_rgb(colour))


def contrast(one: str, other: str) -> float:
    """WCAG 2's ratio of two colours "#rrggbb", 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + FLARE) / (low + FLARE)


def _reflected(colour: Colour) -> Colour:
    before, ground = _luminance(colour), luminance(tokens("dark")[GROUND])
    near = max(0.0, (before - PALE) / (1 - PALE))  # how far it is drawn towards the ground
    wanted = TOP * FLARE / (before + FLARE) * ((ground + FLARE) / FLARE) ** near - FLARE
    tinge = _oklab(_rgb(tokens("dark")[GROUND]))
    a, b = (part + near * more for part, more in zip(_oklab(colour)[1:], tinge[1:], strict=True))
    chroma, hue = hypot(a, b), atan2(b, a)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        lightness = (low + high) / 2
        found = _within(lightness, chroma, hue)
        low, high = (lightness, high) if _luminance(found) < wanted else (low, lightness)
    return found


def _within(lightness: float, chroma: float, hue: float) -> Colour:
    """The colour of this lightness and hue with the chroma, or the most that a screen shows."""
    low, high = 0.0, 1.0
    shown = _from_oklab(lightness, chroma * cos(hue), chroma * sin(hue))
    if not _is_shown(shown):
        for _ in range(HALVINGS):
            share = (low + high) / 2
            shown = _from_oklab(lightness, share * chroma * cos(hue), share * chroma * sin(hue))
            low, high = (share, high) if _is_shown(shown) else (low, share)
    return tuple(min(1.0, max(0.0, part)) for part in shown)  # type: ignore[return-value]


def _is_shown(colour: Colour) -> bool:
    return all(-1e-4 <= part <= 1 + 1e-4 for part in colour)


def _rgb(colour: str) -> Colour:
    return tuple(int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))  # type: ignore[return-value]


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _coded(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def _luminance(colour: Colour) -> float:
    red, green, blue = map(_linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _oklab(colour: Colour) -> Colour:
    """Lightness and the two axes of hue in Oklab (Ottosson 2020)."""
    red, green, blue = map(_linear, colour)
    long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _from_oklab(lightness: float, a: float, b: float) -> Colour:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return tuple(_coded(part) if part >= 0 else part for part in linear)  # type: ignore[return-value]
