"""Wrong caches that join along an axis counted from the front, and measure what they hold and what comes there."""

from . import misconception
from ._efficient_cache import CACHE, joined_along_axis_one, joined_along_axis_two, joined_along_the_first_axis


def measured(kind, axis):
    """Register a form of a cache that joins along an axis: it measures along this axis too."""
    form = type("measured_there_too", (kind,), {"positions_axis": axis})
    misconception(CACHE, like=kind.__name__)(form)


for _axis, _kind in enumerate((joined_along_the_first_axis, joined_along_axis_one, joined_along_axis_two)):
    measured(_kind, _axis)
