"""The facts that explain a late penalty, as the log of a course has them, and what changed in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from ..course.durations import span

#: Names of the facts, and what they are: UTC in ISO 8601, seconds, points. What is none or unknown is left out.
KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("handed_in", "due", "policy"), str),
    **dict.fromkeys(("extension", "seconds", "penalty", "score"), (int, float)),
}
MOST = 1e12  # seconds or points

Facts = dict[str, Any]


def seconds_late(handed_in: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    """How long after the deadline something was handed in, in seconds; 0 where it was in time, or none is known."""
    if handed_in is None or due is None:
        return 0.0
    return max(0.0, (handed_in - due - (extension or timedelta())).total_seconds())


def facts(
    handed_in: datetime | None,
    due: datetime | None,
    extension: timedelta | None,
    penalty: float | None,
    policy: str = "",
    score: float | None = None,
) -> Facts:
    """What explains a penalty; times without a zone are UTC.

    policy, score: by which the penalty was worked out just now; left out where it is only read
    """
    known = {
        "handed_in": handed_in and handed_in.isoformat(timespec="seconds"),
        "due": due and due.isoformat(timespec="seconds"),
        "extension": extension and extension.total_seconds(),
        "seconds": seconds_late(handed_in, due, extension),
        "penalty": penalty and float(penalty),  # a plugin may give another kind of number
        "policy": policy,
    }
    return {name: value for name, value in known.items() if value} | ({} if score is None else {"score": score})


def explaining(logged: Facts, seen: Facts) -> Facts:
    """The facts by which the penalty came about: those logged as long as it has not been worked out again since."""
    again = "score" in seen or any(logged.get(name) != seen.get(name) for name in ("penalty", "handed_in"))
    return seen if again or not logged else logged


def is_sound(changes: Mapping[str, list[Any]]) -> bool:
    """Whether what changed of these facts, name → [before, after], can be put in words."""
    return all(_is_sound(name, value) for name, pair in changes.items() for value in pair)


def _is_sound(name: str, value: Any) -> bool:
    if value is None or name not in KINDS:
        return True
    if KINDS[name] is str:
        return isinstance(value, str)
    return isinstance(value, int | float) and abs(value) < MOST


def reasons(was: Facts, now: Facts, first: bool) -> Iterator[str]:
    """What became of the penalty, and why, in one line; none where there is no penalty, or it is as it was.

    first: whether nothing of this student and problem set is logged yet
    """
    before, after = was.get("penalty"), now.get("penalty")
    stays = before == after
    if (stays and was.get("seconds") == now.get("seconds")) or not (before or after):
        return
    of = f" of {now['score']:g} points" if after and "score" in now else ""
    when = f"{span(now['seconds'])} late" if now.get("seconds") else "in time"
    if not was:
        yield f"late penalty {after:g}{of}, {when}{'' if first else ': not logged before'}"
        return
    change = f"stays {after:g}" if stays else f"{_points(before)} → {_points(after)}"
    why = ", ".join(_causes(was, now)) or "changed by hand, or the policy has other settings"
    yield f"late penalty {change}{of}, {when}: {why}"


def _causes(was: Facts, now: Facts) -> Iterator[str]:
    changed = {name for name in KINDS if was.get(name) != now.get(name)}
    known = changed & was.keys() & now.keys()
    if "due" in changed:
        yield f"the deadline moved: {_time(was.get('due'))} → {_time(now.get('due'))}"
    if "extension" in changed:
        yield f"extension {_length(was.get('extension'))} → {_length(now.get('extension'))}"
    if "handed_in" in known:
        yield f"handed in again: {_time(was['handed_in'])} → {_time(now['handed_in'])}"
    if "policy" in known:
        yield f"the late policy changed: {was['policy']} → {now['policy']}"
    if "score" in known:
        yield f"the score it is taken from changed: {was['score']:g} → {now['score']:g}"


def _points(penalty: float | None) -> str:
    return f"{penalty:g}" if penalty else "none"


def _length(seconds: float | None) -> str:
    return span(seconds) if seconds else "none"


def _time(text: str | None) -> str:
    return text.replace("T", " ") if text else "none"
