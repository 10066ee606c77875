"""The late penalty in the log of a course: what was taken off, for how long, and why it changed."""

import hashlib
import json
from datetime import datetime, timedelta

import pytest

from autograder import pipeline
from autograder.course.folder import Course
from autograder.gradebook import audit_log, penalty_facts
from autograder.gradebook.audit_log import Log, read_log
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores

from .judged_class import CLASS, DUE, copy_of, hand_in, judged_course
from .test_audit import LATER, entry_of, record, run

TIMES = {"handed_in": DUE + timedelta(hours=2), "due": DUE, "extension": None}
LATE = {**TIMES, "penalty": 5.0, "policy": "Tenth", "score": 50.0}
SEEN = penalty_facts.facts(**LATE)
ONLY_READ = penalty_facts.facts(**TIMES, penalty=5.0)
IN_TIME = penalty_facts.facts(DUE - timedelta(hours=1), DUE, None, None)


@pytest.fixture
def course(tmp_path):
    return Course.open(tmp_path / "course")


def logged(course, *steps):
    """Log pairs of a record and what is seen of its lateness, each in a run of its own; the events of the whole log."""
    for one, seen in steps:
        with Log(course) as log:
            log.entered(one, entry_of(one, {}, seen))
    return events(course)


def events(course, student=None):
    found = [line.event for line in read_log(course)[0]]
    return [event for event in found if student is None or event["student"] == student]


def test_a_first_grading_says_what_was_taken_off_and_how_late_the_work_came(course):
    ada, ben = logged(course, (record(), SEEN), (record(student="ben"), IN_TIME))
    assert ada["why"] == ["first grading", "late penalty 5 of 50 points, 2 h late"]
    assert ada["late"]["penalty"] == [None, 5.0] and ada["late"]["seconds"] == [None, 7200.0]
    assert ben["why"] == ["first grading"] and ben["late"]["due"] == [None, DUE.isoformat()]


CHANGES = [
    (
        {"due": DUE + timedelta(hours=1), "penalty": 2.5},
        "5 → 2.5 of 50 points, 1 h late: the deadline moved: 2030-01-01 12:00:00 → 2030-01-01 13:00:00",
    ),
    ({"due": None, "penalty": 0.0}, "5 → none, in time: the deadline moved: 2030-01-01 12:00:00 → none"),
    ({"extension": timedelta(days=1), "penalty": None}, "5 → none, in time: extension none → 1 d"),
    ({"extension": timedelta(minutes=90)}, "stays 5 of 50 points, 30 min late: extension none → 1 h 30 min"),
    (
        {"handed_in": DUE + timedelta(hours=26, seconds=3), "penalty": 50.0},
        "5 → 50 of 50 points, 1 d 2 h 3 s late: handed in again: 2030-01-01 14:00:00 → 2030-01-02 14:00:03",
    ),
    ({"policy": "zero", "penalty": 50}, "5 → 50 of 50 points, 2 h late: the late policy changed: Tenth → zero"),
    (
        {"score": 52.0, "penalty": 5.2},
        "5 → 5.2 of 52 points, 2 h late: the score it is taken from changed: 50 → 52",
    ),
    ({"penalty": 4.0}, "5 → 4 of 50 points, 2 h late: changed by hand, or the policy has other settings"),
]


@pytest.mark.parametrize(("change", "why"), CHANGES)
def test_another_penalty_is_logged_once_with_its_cause(course, change, why):
    now = penalty_facts.facts(**LATE | change)
    _, event = logged(course, (record(), SEEN), (record(), now), (record(), now))
    assert event["why"] == [f"late penalty {why}"] and event["exercises"] == {}
    assert event["late"].keys() == {name for name in SEEN.keys() | now.keys() if SEEN.get(name) != now.get(name)}


def test_a_penalty_of_somebody_who_had_none_names_the_cause_too(course):
    event = logged(course, (record(), IN_TIME), (record(), penalty_facts.facts(**LATE)))[-1]
    assert event["why"] == [
        "late penalty none → 5 of 50 points, 2 h late: handed in again: 2030-01-01 11:00:00 → 2030-01-01 14:00:00"
    ]


def test_nothing_is_logged_of_a_penalty_that_stands(course):
    steps = [(record(), SEEN), (record(), ONLY_READ), (record(), SEEN), (record(), None)]
    assert len(logged(course, *steps)) == 1
    unpunished = penalty_facts.facts(**LATE | {"penalty": None})
    assert len(logged(course, (record(student="ben"), IN_TIME), (record(student="ben"), unpunished))) == 2


def test_what_led_to_a_penalty_is_compared_with_what_led_to_the_one_before(course):
    """An extension is seen at once and counts when the work is graded again: it is the cause then."""
    given = TIMES | {"extension": timedelta(hours=3)}
    marked = record(key="k2", terms="t2", **LATER)
    steps = [
        (record(), SEEN),
        (marked, penalty_facts.facts(**given, penalty=5.0)),
        (marked, penalty_facts.facts(**given, penalty=0)),
    ]
    *_, between, last = logged(course, *steps)
    assert between["late"] == {} and not any("penalty" in one for one in between["why"])
    assert last["why"] == ["late penalty 5 → none, in time: extension none → 3 h"]


def test_a_log_from_before_penalties_were_logged_goes_on(course):
    logged(course, (record(), SEEN), (record(student="ben"), IN_TIME))
    path, previous = course.root / audit_log.FILE, ""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    with path.open("wb") as file:
        for event in lines:
            del event["late"]
            raw = json.dumps(event | {"why": ["first grading"], "previous": previous}).encode()
            previous = hashlib.sha256(raw).hexdigest()
            file.write(raw + b"\n")
    found = logged(course, *[(record(), ONLY_READ), (record(student="ben"), IN_TIME)] * 2)
    assert [event["why"] for event in found] == [
        ["first grading"],
        ["first grading"],
        ["late penalty 5, 2 h late: not logged before"],
    ]
    assert run(course, "--check")[0] == 0


@pytest.mark.parametrize(
    "odd",
    [{"penalty": [None, "5"]}, {"seconds": [None, 1e999]}, {"due": [3, None]}, {"score": [1]}, {"score": 1}, [], 3],
)
def test_a_line_of_which_the_penalty_cannot_be_told_holds_no_event(course, odd):
    logged(course, (record(), SEEN))
    path = course.root / audit_log.FILE
    event = json.loads(path.read_bytes())
    path.write_text(json.dumps(event | {"late": odd}) + "\n")
    assert logged(course, (record(), SEEN))[0] is None and run(course)[0] == 0


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    with judged_course(tmp_path_factory) as course:
        yield course


def penalties(course):
    """What the log says is taken off, after all its events: by student."""
    return {student: one.late.get("penalty", 0.0) for (student, _), one in read_log(course)[1].standings.items()}


def assert_explained(course):
    """The log's points, marks and penalty come to the score that nbgrader shows and exports."""
    book = {one.student: one for one in scores(course, "ps1")}
    assert penalties(course) == {name: one.late_penalty for name, one in book.items()}
    for (student, _), one in read_log(course)[1].standings.items():
        points = sum(one.exercises.values()) + sum(one.by_hand.values())
        assert points - one.late.get("penalty", 0.0) == pytest.approx(book[student].final)
    length = len(events(course))
    pipeline.grade(course, "ps1")
    assert len(events(course)) == length, "nothing has changed, and nothing is logged twice"


def test_the_log_explains_every_score_whatever_becomes_of_deadline_extension_marks_and_work(judged, tmp_path):
    course = copy_of(judged, tmp_path / "course")
    pipeline.grade(course, "ps1")
    assert_explained(course)
    assert {name for name, penalty in penalties(course).items() if penalty} == {"carla", "dora", "émile"}
    assert events(course, "dora")[0]["why"][1] == "late penalty 1 of 42 points, 2 h late"

    with api(course).gradebook as book:
        book.grant_extension("ps1", "dora", hours=1)
        book.grant_extension("ps1", "carla", days=3)
        written = next(one for one in book.find_submission("ps1", "dora").notebooks[0].grades if one.needs_manual_grade)
        written.manual_score, written.needs_manual_grade = 2.0, False
        book.db.commit()
    hand_in(course, "émile", "partly", None, DUE + timedelta(hours=70))
    pipeline.grade(course, "ps1", regrade=True)
    assert_explained(course)
    (said,) = (event["why"][0] for event in events(course, "dora")[1:])
    assert said.startswith(
        "late penalty 1 → 0.5 of 44 points, 1 h late: extension none → 1 h, the score it is taken from"
    )
    assert events(course, "carla")[-1]["why"][0] == "late penalty 15 → none, in time: extension none → 3 d"
    assert "handed in again: 2030-01-03 14:00:00 → 2030-01-04 10:00:00" in events(course, "émile")[-1]["why"][0]

    with api(course).gradebook as book:
        book.update_or_create_assignment("ps1", duedate=datetime(2030, 1, 1, 10))
    pipeline.grade(course, "ps1", regrade=True)
    assert_explained(course)
    moved = "the deadline moved: 2030-01-01 12:00:00 → 2030-01-01 10:00:00"
    assert events(course, "ada")[-1]["why"][0] == f"late penalty none → 0.5 of 42 points, 1 h late: {moved}"
    shown = " ".join(run(course, "--student", "dora")[1].replace("│", " ").split())
    assert "44 points, 3 h late: the" in shown, "a line of the table's cell"
    assert run(course, "--check")[0] == 0


def test_penalties_that_nbgraders_own_command_entered_are_logged(judged, tmp_path):
    course = copy_of(judged, tmp_path / "course")
    assert api(course).autograde("ps1", "dora", force=True, create=True)["success"]
    assert not (course.root / audit_log.FILE).exists()
    pipeline.grade(course, "ps1")
    assert len(events(course)) == len(CLASS) and events(course, "dora")[0]["why"][1] == "late penalty 1, 2 h late"
    assert_explained(course)
    with api(course).gradebook as book:
        book.find_submission_notebook("ps1", "ps1", "dora").late_submission_penalty = 0.25
        book.db.commit()
    pipeline.grade(course, "ps1")  # which works it out anew: by hand, marks are changed, not penalties
    assert penalties(course)["dora"] == 1
    assert_explained(course)
