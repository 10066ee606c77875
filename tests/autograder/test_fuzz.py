"""What strangers hand in, and what lies damaged on the disk, in thousands of forms: nothing but the stated answers."""

import base64
import copy
import io
import json
import math
import os
import re
import shutil
import time
import warnings
import zipfile
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course.folder import Course
from autograder.course.printable import printable
from autograder.intake import archive as arrivals
from autograder.intake import notebook as rebuilding
from autograder.intake import store, time_stamps
from autograder.judge import answers as validation
from autograder.judge import cache
from selfcheck import hints
from selfcheck.catalogue import exercises
from selfcheck.recorded import plans_of, visible_keys
from selfcheck.verdict import FAILED, PASSED, SKIPPED, judge

#: What is drawn is the same in every run: so is what comes of it, until something that it passes through is changed.
pytestmark = pytest.mark.proof(depends=("src/selfcheck/catalogue", "src/selfcheck/recorded"))

SLOWEST = 5.0  # seconds of the processor, for one submission
LONGEST = 5_000  # characters of a message


def fuzz(examples, **given_by):
    """A property over so many drawn inputs: the same ones in every run."""

    def decorate(test):
        options = {"derandomize": True, "deadline": None, "database": None}
        bounded = settings(max_examples=examples, suppress_health_check=list(HealthCheck), **options)
        return bounded(given(**given_by)(test))

    return decorate


ODD_TEXTS = ["", "\0", "\ud800", "0[x]", "a]", "]", "1.key", "state.", "\u202e", "x" * 600, "NaN", "1e999", "9" * 4400]
ODD_TEXTS += ["²", "٣", "../..", "\r\n", "NotImplementedError", "exercise 2.1", "float64", "items", "tuple", "list"]
ODD_NUMBERS = [0, -1, 1, 2**31, 2**63, 10**400, 10**9, 1.5, math.inf, -math.inf, math.nan, True, None]
odd = st.sampled_from([*ODD_TEXTS, *ODD_NUMBERS]) | st.text(st.characters(), max_size=8) | st.integers()
junk = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(ODD_TEXTS), inner, max_size=4)
)


@st.composite
def mutated(draw, trees, most=3):
    """A JSON tree of the right form with a few places replaced, removed, doubled, or filled with what fits nowhere."""
    tree = copy.deepcopy(draw(trees))
    for _ in range(draw(st.integers(0, most))):
        place = tree
        while isinstance(place, (dict, list)) and place:
            key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
            if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.integers(0, 4)) == 0:
                _change(draw, place, key)
                break
            place = place[key]
    return tree


def _change(draw, place, key):
    how = draw(st.sampled_from(["replace", "replace", "remove", "double", "wrap"]))
    if how == "replace":
        place[key] = draw(junk)
    elif how == "remove":
        del place[key]
    elif how == "wrap":
        place[key] = [place[key]]
    elif isinstance(place, list):
        place.insert(key, copy.deepcopy(place[key]))
    else:
        place[draw(st.sampled_from(ODD_TEXTS))] = copy.deepcopy(place[key])


def as_bytes(tree):
    return json.dumps(tree).encode()


@st.composite
def damaged(draw, whole):
    """Bytes with a few of them changed, cut out or put in, or the end missing."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        how = draw(st.sampled_from(["flip", "cut", "insert", "end"]))
        if how == "flip" and data:
            data[place] = draw(st.integers(0, 255))
        elif how == "cut":
            del data[place : place + draw(st.integers(1, 40))]
        elif how == "insert":
            data[place:place] = draw(st.binary(max_size=12))
        elif how == "end" and draw(st.booleans()):
            del data[place:]
    return bytes(data)


def one_line(text):
    return text == printable(text, keep="") and len(text) < LONGEST


# notebooks


def cell(kind, grade_id, source, grade=True, solution=False):
    settings = {"grade_id": grade_id, "grade": grade, "solution": solution, "points": 3, "schema_version": 3}
    return {"cell_type": kind, "id": grade_id, "metadata": {"nbgrader": settings}, "source": source, "outputs": []}


RELEASED = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "Read me"},
        cell("code", "masks-causal_mask", 'check("masks.causal_mask")'),
        cell("markdown", "ps3-why", "YOUR ANSWER HERE", solution=True),
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@fuzz(400, data=damaged(mutated(st.just(RELEASED), most=4).map(as_bytes)) | damaged(junk.map(as_bytes)))
def test_whatever_notebook_comes_the_released_one_goes_on(data):
    began = time.thread_time()
    notebook, remarks = rebuilding.rebuild(RELEASED, data)
    assert time.thread_time() - began < SLOWEST
    answer = notebook["cells"][2]["source"]
    assert isinstance(answer, str) and len(answer) <= 12 * rebuilding.MOST_ANSWER_CHARACTERS
    notebook["cells"][2]["source"] = RELEASED["cells"][2]["source"]
    assert notebook == RELEASED
    assert all(map(one_line, remarks))
    json.dumps([notebook, answer], ensure_ascii=False).encode()  # nothing that UTF-8 cannot hold


# zips


NAMES = [
    "attention/masks.py",
    "ps3/attention/scores.py",
    "ps3.ipynb",
    "attention/Masks.py",
    "../x.py",
    "/etc/x",
    "a\\b",
]
NAMES += ["attention/" + "x" * 300 + ".py", "attention/\uff4dasks.py", "attention/\u202ex.py", "selfcheck/x.py"]
NAMES += ["x/", "nul.txt", "."]


@st.composite
def zips(draw):
    place = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(place, "w") as archive:
        warnings.simplefilter("ignore")  # of a name twice
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=6)):
            info = zipfile.ZipInfo(name)
            info.compress_type = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]))
            info.external_attr = draw(st.sampled_from([0, 0o120777 << 16, 0o100644 << 16, 0o40755 << 16]))
            archive.writestr(info, draw(st.binary(max_size=60)) * draw(st.sampled_from([1, 50])))
        archive.comment = draw(st.binary(max_size=20))
    return place.getvalue().replace(
        b"nul.txt", bytes(7)
    )  # zipfile cuts a name at the first of these: an empty one is left


def sound(received):
    assert all(name.removesuffix(".py").isidentifier() and len(name) <= 100 for name in received.files)
    assert all(len(data) <= arrivals.MOST_FILE_BYTES for data in received.files.values())
    assert received.notebook is None or len(received.notebook) <= arrivals.MOST_NOTEBOOK_BYTES
    assert all(map(one_line, received.remarks)) and len(received.remarks) < 100


@fuzz(500, data=damaged(zips()))
def test_whatever_zip_comes_its_parts_are_taken_or_it_is_refused(tmp_path_factory, data):
    path = Path(tmp_path_factory.getbasetemp()) / "fuzzed.zip"
    path.write_bytes(data)
    began = time.thread_time()
    try:
        sound(arrivals.read_zip(path, "ps3"))
    except ValueError as refused:
        assert one_line(str(refused)) and "fuzzed.zip" in str(refused)
    assert time.thread_time() - began < SLOWEST


# folders


PARTS = [
    "attention",
    "ps3",
    "selfcheck",
    "..x",
    "-rf",
    "\u202e",
    "a\nb",
    "x" * 250,
    "masks.py",
    "Masks.py",
    "\udcff.py",
]
PARTS += ["ps3.ipynb", "timestamp.txt", "submission_secret.txt", "__pycache__", "\uff4dasks.py", "*"]
MODULES = ["attention/masks.py", "attention/Masks.py"]
things = st.tuples(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=5), st.sampled_from(["file", "link", "pipe", "dir"])
)


def put(folder, parts, kind, content):
    path = folder.joinpath(*parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(path):  # to write to a pipe would wait for its reader
            return
        if kind == "file":
            path.write_bytes(content)
        elif kind == "dir":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/etc/passwd")
    except OSError:  # something is there already, or in the way
        pass


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = Course.open(tmp_path_factory.mktemp("fuzzed") / "course")
    course.release("ps3").mkdir(parents=True)
    (course.release("ps3") / "ps3.ipynb").write_text(json.dumps(RELEASED))
    return course


trees = st.lists(st.tuples(things, st.binary(max_size=30)), max_size=10)


@fuzz(60, first=trees, later=trees)
def test_whatever_folder_comes_a_clean_submission_stands_there_or_it_is_refused(course, first, later):
    folder = course.submitted("ada", "ps3")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for tree in (first, later):
        for (parts, kind), content in tree:
            put(folder, parts, kind, content)
        sound(arrivals.read_folder(folder, "ps3"))
        began = time.thread_time()
        try:
            assert all(map(one_line, store.take_in(course, "ada", "ps3").remarks))
        except store.Unrecognised as nothing:  # of the problem set, then or before: whoever grades is told
            assert arrivals.read_folder(folder, "ps3").refusal and one_line(str(nothing))
            continue
        finally:
            assert time.thread_time() - began < SLOWEST
        left = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
        assert left.keys() >= {"ps3.ipynb", "attention", arrivals.STAMP, arrivals.TICKET}
        assert left.keys() <= {"ps3.ipynb", "attention", arrivals.STAMP, arrivals.TICKET, *MODULES}
        assert all(path.is_file() and not path.is_symlink() for name, path in left.items() if name != "attention")
        assert not list(course.root.glob(".removed-*"))


# time stamps


STAMPS = st.from_regex(r"\A2\d{3}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)? ?([A-Za-z/+:0-9]{0,12})?\Z") | st.text(
    st.characters()
)


@fuzz(300, text=STAMPS)
def test_a_time_stamp_is_a_time_or_none(text):
    found = time_stamps.stamp_time(text)
    assert found is None or (found.tzinfo is UTC and 1999 <= found.year <= 3000)


# answers


def packed(shape, dtype="float64", data="", kind="ndarray"):
    return {"kind": kind, "dtype": dtype, "shape": shape, "data": data}


def nested(depth):
    return {"kind": "tuple", "items": [nested(depth - 1)] if depth else []}


NUMBER = {"kind": "number", "type": "int", "value": "9" * 99}
CRAFTED = [
    packed([10**9, 0]),
    packed([0, 10**9]),
    packed([1] * 60, data="AAAAAAAA8D8="),
    packed([True]),
    packed([-1, -1]),
]
CRAFTED += [packed([2], "bool", "Bwc="), packed([1], "bfloat16", "gH8="), packed([], "float16", "AHw="), packed([3])]
CRAFTED += [{"kind": "items", "items": [one] * 3} for one in CRAFTED]
CRAFTED += [{"kind": "tuple", "items": [one] * 3} for one in (*CRAFTED[:9], NUMBER)]
CRAFTED += [
    NUMBER,
    NUMBER | {"type": "float"},
    NUMBER | {"value": 10**4000},
    NUMBER | {"type": "float", "value": "1e999"},
]
CRAFTED += [nested(5), nested(200), {"kind": "other", "type": {"x": 1}}, {"kind": ["tensor"]}, {"kind": "dtype"}]


@st.composite
def conversations(draw):
    """An exercise, its keys, and what a hostile process says in place of its answers."""
    exercise = draw(st.sampled_from(exercises()))
    keys = visible_keys(exercise)
    right = {str(place): [answer | {"changed": []} for answer in key.expected] for place, key in enumerate(keys)}
    for answers in right.values():
        answers[-1]["changed"] = draw(st.lists(st.sampled_from(ODD_TEXTS), max_size=2))
        if "value" in answers[0] and draw(st.booleans()):
            answers[0]["value"] = CRAFTED[draw(st.integers(0, len(CRAFTED) - 1))]
    said = draw(damaged(mutated(st.just(right), most=4).map(as_bytes)) | mutated(st.just(right), most=4).map(as_bytes))
    line = as_bytes({"place": 0, "said": base64.b64encode(said).decode()})
    return exercise, keys, draw(damaged(st.just(line + b"\n"))) if draw(st.integers(0, 4)) == 0 else line


@fuzz(800, talk=conversations())
def test_whatever_a_process_says_becomes_a_verdict(talk):
    exercise, keys, data = talk
    _, lines = validation.lines_of(data, 1)
    began = time.thread_time()
    answers = validation.answers_in(plans_of(keys), lines[0] if lines else {"died": "ended"})
    result = judge(exercise, keys, [answers[str(place)] for place in range(len(keys))])
    assert time.thread_time() - began < SLOWEST
    assert 0 <= result.points <= result.max_points == exercise.max_points - exercise.hidden_points
    for one in result.checks:
        assert one.verdict in (PASSED, FAILED, SKIPPED) and one.points == (one.verdict == PASSED) * one.max_points
        assert isinstance(one.message, str) and len(one.message) < LONGEST
        one.message.encode()


# what lies on the disk


@fuzz(150, data=damaged(junk.map(as_bytes)) | damaged(st.just(b'{"4.1": 3, "4.8": 1}')))
def test_a_damaged_memory_of_hints_is_no_trouble(tmp_path_factory, data):
    folder = Path(tmp_path_factory.getbasetemp())
    path = folder / hints.MEMORY
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hints, "package_folder", lambda: folder / "attention")
        shown = hints.hint("masks.causal_mask")
    assert re.match(rf"\d\.\d hint [1-{len(shown.exercise.hints)}] of", repr(shown))
    seen = json.loads(path.read_text())
    assert shown.exercise.number in seen and all(type(count) is int for count in seen.values())


@fuzz(150, drawn=st.data())
def test_a_damaged_mark_of_the_intake_costs_nobody_a_submission(course, drawn):
    store.store(course, "ben", "ps3", arrivals.Received({"masks.py": b"x = 1"}, as_bytes(RELEASED), ("left out",)))
    folder, mark = course.submitted("ben", "ps3"), course.intake_file("ben", "ps3")
    tree = json.loads(mark.read_text())
    mark.write_bytes(drawn.draw(damaged(mutated(st.just(tree)).map(as_bytes)) | junk.map(as_bytes)))
    assert {type(one) for one in store.take_in(course, "ben", "ps3").remarks} <= {str}
    assert (folder / "attention" / "masks.py").read_text() == "x = 1"
    assert json.loads((folder / "ps3.ipynb").read_text()) == RELEASED
    shutil.rmtree(course.root / "received", ignore_errors=True)


CHECK = {"check": "c", "sees": "s", "verdict": "passed", "points": 1, "max_points": 1, "message": "", "section": ""}
EXERCISE = {"id": "masks.causal_mask", "number": "4.1", "points": 1, "max_points": 2, "text": "t"}
RECORD = {
    **{"key": "k", "student": "ada", "problem_set": "ps3", "isolation": "bubblewrap", "grader_error": False},
    **{"remarks": ["r"], "troubles": ["t"]},
    "exercises": [EXERCISE | {"checks": [CHECK | {"misconception": None}]}],
}


@fuzz(250, data=damaged(mutated(st.just(RECORD)).map(as_bytes)) | junk.map(as_bytes))
def test_a_damaged_record_is_a_record_or_none(tmp_path_factory, data):
    path = Path(tmp_path_factory.getbasetemp()) / "record.json"
    path.write_bytes(data)
    found = cache.read_result(path)
    if found is not None:
        assert {type(exercise.points) for exercise in found.exercises} <= {int}
        assert {type(text) for text in (*found.remarks, *found.troubles, found.student)} <= {str}


def test_a_whole_record_is_one(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(RECORD))
    assert RECORD.items() <= cache.read_result(path).as_json().items()
