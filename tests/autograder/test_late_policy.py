"""What a late policy takes off, by settings and by a plugin of the course's own."""

import re
from datetime import timedelta

import pytest
from click.testing import CliRunner
from nbgrader.coursedir import CourseDirectory

from autograder.__main__ import main
from autograder.course.durations import duration, span
from autograder.course.folder import Course
from autograder.course.late_policy import LatePolicy, late_policy
from autograder.course.paths import BOOK
from autograder.course.settings import SettingsError
from autograder.gradebook.nbgrader import configuration
from autograder.gradebook.steps import Steps

HOUR, DAY = 3600, 86400


@pytest.fixture
def course(tmp_path):
    return Course.open(tmp_path / "course")


def steps_of(course, policy):
    """nbgrader's steps by this line of course.toml."""
    (course.root / "course.toml").write_text(f"late_policy = {policy}\n")
    config = configuration(course)
    return Steps(config, CourseDirectory(config=config))


@pytest.mark.parametrize(
    "policy, seconds, taken",
    [
        ('"none"', DAY, None),
        ('"zero"', 1, 40),
        ("{ percent_per_day = 10 }", 1, 4),
        ("{ percent_per_day = 10 }", DAY, 4),
        ("{ percent_per_day = 10 }", DAY + 1, 8),
        ("{ percent_per_day = 10 }", 30 * DAY, 40),
        ("{ percent_per_day = 12.5, cap = 30 }", 3 * DAY, 12),
        ('{ percent_per_day = 10, grace = "15min" }', 900, 0),
        ('{ percent_per_day = 10, grace = "15min" }', 901, 4),
        ('{ percent_per_day = 10, grace = "1d 2h" }', 27 * HOUR, 8),
        ('{ percent_per_day = 100, grace = "15min" }', 901, 40),
        ("{ percent_per_day = 0 }", DAY, 0),
    ],
)
def test_a_policy_takes_off_what_it_says(course, policy, seconds, taken):
    assert steps_of(course, policy).penalty("ada", 40.0, seconds) == (taken if taken is None else pytest.approx(taken))


def test_nobody_who_is_in_time_pays(course):
    assert steps_of(course, '"zero"').penalty("ada", 40.0, 0.0) is None


def test_the_log_has_the_policy_in_words(course):
    steps = steps_of(course, '{ percent_per_day = 10, grace = "1d 2h", cap = 50 }')
    assert steps.policy == "10 % a day, 1 d 2 h of grace, at most 50 %"
    assert steps_of(course, '"zero"').policy == "zero"


def guides_plugin():
    guide = (BOOK / "guides" / "instructor.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(from nbgrader\.plugins.*?)```", guide, re.DOTALL)
    return example


def test_the_guides_plugin_works_and_a_change_in_it_counts_at_once(course):
    file = course.root / "late_policy.py"
    file.write_text(guides_plugin())
    steps = steps_of(course, '"late_policy.py:ByTheHour"')
    assert steps.penalty("ada", 40.0, 5.5 * HOUR) == pytest.approx(2.0) and steps.policy == "ByTheHour"
    assert steps.penalty("ada", 40.0, 500 * HOUR) == 40, "nbgrader keeps it within the score"
    file.write_text(guides_plugin().replace("0.01", "0.02"))
    assert steps_of(course, '"late_policy.py:ByTheHour"').penalty("ada", 40.0, 5.5 * HOUR) == pytest.approx(4.0)


@pytest.mark.parametrize(
    "text, told",
    [
        (None, "late_policy.py, where no file is: expected a class ByTheHour(LateSubmissionPlugin)"),
        ("1 / 0", "stops: ZeroDivisionError"),
        ("raise SystemExit(0)", "stops: SystemExit"),
        ("ByTheHour = 3", "has no plugin ByTheHour"),
        ("class ByTheHour: pass", "has no plugin ByTheHour"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_told_in_a_line(course, text, told):
    if text is not None:
        (course.root / "late_policy.py").write_text(text)
    with pytest.raises(SettingsError, match=re.escape(told)):
        steps_of(course, '"late_policy.py:ByTheHour"')


def test_no_plugin_lies_outside_the_course_folder():
    for value in ("../x.py:A", "/tmp/x.py:A", "x.py", "x.py:a b", "x/y.py:A", 3, ["none"]):
        with pytest.raises(SettingsError, match="late_policy must be"):
            late_policy(value)
    assert late_policy("x.py:A") == LatePolicy("plugin", plugin=("x.py", "A"))


@pytest.mark.parametrize(
    "text, seconds", [("3d", 3 * DAY), ("12h", 12 * HOUR), ("1d 12h", 1.5 * DAY), ("90 min", 5400), ("1d2h3min", 93780)]
)
def test_lengths_of_time_are_read(text, seconds):
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "3", "d", "3 days", "-3d", "3d 3d", "1.5d", "٣d"])
def test_what_is_no_length_of_time_is_refused(text):
    with pytest.raises(ValueError, match="a length of time is as 3d"):
        duration(text)


def test_lengths_of_time_are_written():
    assert [span(one) for one in (0, 59.6, 93780, -3600)] == ["0 s", "1 min", "1 d 2 h 3 min", "-1 h"]


def test_a_missing_plugin_is_told_by_the_commands_in_a_line(course):
    (course.root / "course.toml").write_text('late_policy = "late_policy.py:ByTheHour"\n')
    done = CliRunner().invoke(main, ["export", "ps1", "--course", str(course.root)], catch_exceptions=False)
    assert done.exit_code == 1 and "where no file is" in " ".join(done.output.split())
