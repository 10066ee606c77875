"""course.toml: what it says is what holds, and whatever else stands there is one clear error."""

import pickle
import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from autograder.answer_key.keys import keys_of
from autograder.answer_key.validate import try_checks
from autograder.course.extra_checks import InvalidCheck
from autograder.course.folder import Course
from autograder.course.late_policy import LatePolicy
from autograder.course.paths import BOOK, SELFCHECK
from autograder.course.policy import DEFAULT_POLICY, GradingPolicy
from autograder.course.settings import SECRET, SETTINGS_FILE, Settings, SettingsError, read_settings
from autograder.release.points import catalogue_with_points
from selfcheck.catalogue import exercises, in_problem_set, problem_sets

IDS = sorted({exercise.id for exercise in exercises()})
SETS = problem_sets()
ALONE = {one.id for name in SETS for one in in_problem_set(name) if len(in_problem_set(name)) == 1}
LONGEST = 2_000  # characters of a message
CHECK = """from selfcheck.plan import call, check


@check("worked_example.softmax", sees="one more", points=2{settings})
def {name}(rng):
    {body}
"""


def extra(name="one_more", body="return call(rng.normal(2, 3))", settings=""):
    return (("worked_example", CHECK.format(name=name, body=body, settings=settings)),)


@pytest.fixture
def course(tmp_path):
    return Course.open(tmp_path / "course")


def write(course, text):
    (course.root / SETTINGS_FILE).write_text(text, encoding="utf-8")
    return course


def test_a_new_course_has_a_file_of_settings_in_which_nothing_is_active(course):
    assert (course.root / SETTINGS_FILE).exists()
    assert course.settings == Settings(course.root / SECRET)
    assert course.policy == GradingPolicy(course.secret)


def test_every_line_of_that_file_says_what_holds_without_it(course):
    text = (course.root / SETTINGS_FILE).read_text()
    active = re.sub(r"(?m)^# (?=\w+ = |\[|\")", "", text)
    assert active.count("\n#") < text.count("\n#") - 5
    (course.root.parent / "my-checks").mkdir()
    found = write(course, active).settings
    assert found.deadlines and found.hidden_checks and found.students, "these cannot be shown otherwise"
    usual = Settings(course.root / SECRET, late_policy=LatePolicy("none"), deadlines=found.deadlines)
    assert Settings(**vars(found) | {"hidden_checks": None, "students": None}) == usual


def test_a_file_of_settings_that_is_there_already_is_left_alone(tmp_path):
    (tmp_path / SETTINGS_FILE).write_text("solutions = false\n")
    assert Course.open(tmp_path).settings.solutions is False
    assert (tmp_path / SETTINGS_FILE).read_text() == "solutions = false\n"


def test_a_secret_that_is_no_text_is_named(tmp_path):
    course = Course.open(tmp_path)
    course.secret_file.write_bytes(b"\xff" * 64)
    with pytest.raises(ValueError, match="secret, in .*, is no text in UTF-8: put back a copy of it"):
        _ = course.secret


def test_the_secret_may_lie_elsewhere_and_no_other_is_made(tmp_path):
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "mine").write_text("s" * 40)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / SETTINGS_FILE).write_text('secret_file = "../keys/mine"\n')
    course = Course.open(tmp_path / "course")
    assert course.secret == b"s" * 40
    assert not (course.root / SECRET).exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("weights = 3", "weights must be a table, a line [weights]"),
        ("[weight]\n", "there is no setting 'weight'; there are secret_file"),
        ('[weights]\n"masks.causal_maks" = 2', "did you mean masks.causal_mask"),
        ("[weights]\nmasks.causal_mask = 2", 'write the id in quotes, as "masks.causal_mask" = 2'),
        ('[weights]\n"masks.causal_mask" = 1.5', "must be a whole number from 0 to 10, got 1.5"),
        ('[weights]\n"masks.causal_mask" = true', "must be a whole number from 0 to 10, got true"),
        ('[weights]\n"masks.causal_mask" = -1', "from 0 to 10, got -1"),
        ('[weights]\n"masks.causal_mask" = 11', "from 0 to 10, got 11"),
        ('[weights]\n"masks.causal_mask" = 0x' + "f" * 9000, "got a number of 36000 bits"),
        ("[weights]\nsolutions = false", "solutions stands below [weights]"),
        ("\n".join(["[weights]", *(f'"{one.id}" = 0' for one in in_problem_set("ps1"))]), "every exercise of ps1"),
        ("[deadlines]\nps1 = 2026-12-01T23:59:00", "with its distance from UTC"),
        ("[deadlines]\nps1 = 2026-12-01", "with its distance from UTC"),
        ('[deadlines]\nps1 = "2026-12-01T23:59:00+01:00"', "without quotes"),
        ("[deadlines]\nps1 = 2026-02-30T23:59:00Z", "is no TOML"),
        ("[deadlines]\nps1 = 0001-01-01T00:00:00+05:00", "between 2000 and 2199"),
        ("[deadlines]\nps77 = 2026-12-01T23:59:00Z", "there is no problem set 'ps77'; there are ps1"),
        ('late_policy = "half"', 'late_policy must be "none", "zero", a table such as { percent_per_day = 10'),
        ("late_policy = { per_day = 3 }", "late_policy has no entry 'per_day'; there are percent_per_day, grace, cap"),
        ("late_policy = { cap = 3 }", "late_policy needs percent_per_day"),
        (
            "late_policy = { percent_per_day = 101 }",
            "percent_per_day must be a number from 0 to 100, in percent, got 101",
        ),
        (
            "late_policy = { percent_per_day = 1, cap = true }",
            "cap must be a number from 0 to 100, in percent, got true",
        ),
        ("late_policy = { percent_per_day = 1, grace = 15 }", 'grace must be as "15min", "2h" or "1d", got 15'),
        ("[students]\n'a b' = {}", "[students] a b: a student id is letters"),
        ("[students]\nada = 'Ada'", "students.ada must be a table"),
        ("[students]\nada = { nmae = 'Ada' }", "[students] ada: there is no column 'nmae'; there are id, last_name"),
        ("[students]\nada = { extensions = { ps1 = '3 weeks' } }", "[students] ada: an extension is as 3d, 12h"),
        ("[students]\nada = { extensions = { ps77 = '3d' } }", "[students] ada: there is no problem set 'ps77'"),
        ("[students]\nada = {}\n'ada ' = {}", "[students] ada : ada is there twice"),
        ('solutions = "no"', "must be true or false"),
        ('secret_file = "nowhere"', "where no file is: put it back, or mend the path"),
        ("secret_file = 7", "must be a path in quotes"),
        (f'secret_file = "{"x" * 9000}"', "where no file is"),
        ('secret_file = "~nobody-of-this-name/x"', "no path"),
        ('hidden_checks = "nowhere"', "where no folder is: make it, or mend the path"),
        ('hidden_checks = "source/ps1"', "which nbgrader hands out: move it elsewhere"),
        ("solutions = true\nsolutions = true", "is no TOML"),
    ],
)
def test_whatever_is_not_as_expected_is_told_with_file_and_remedy(course, text, told):
    write(course, text)
    with pytest.raises(SettingsError, match=re.escape(told)) as caught:
        _ = course.policy
    assert str(course.root / SETTINGS_FILE) in str(caught.value)


def test_a_file_that_is_no_text_is_told(course):
    (course.root / SETTINGS_FILE).write_bytes(b"solutions = \xff")
    with pytest.raises(SettingsError, match="expected a text in UTF-8"):
        _ = course.settings


def test_a_folder_in_which_nbgrader_would_open_another_gradebook_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="nbgrader opens no gradebook below a folder with . in its name: rename"):
        Course.open(tmp_path / "why?" / "course")
    assert not any(tmp_path.iterdir())


def test_a_file_of_an_editor_that_marks_its_texts_is_read(course):
    (course.root / SETTINGS_FILE).write_bytes(b"\xef\xbb\xbfsolutions = false\r\n")
    assert course.settings.solutions is False


def in_toml(value):
    """A value of TOML as it is written there."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, int) else f'"{value}"'


def bounded(examples, **given_by):
    """A property over so many drawn inputs: the same ones in every run."""
    quiet = list(HealthCheck)
    return lambda test: settings(
        derandomize=True, deadline=None, database=None, max_examples=examples, suppress_health_check=quiet
    )(given(**given_by)(test))


zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30), timezones=zones).map(
    lambda when: when.replace(microsecond=0)
)


@bounded(
    200,
    weights=st.dictionaries(st.sampled_from(IDS), st.integers(1, 10)),
    deadlines=st.dictionaries(st.sampled_from(SETS), times),
    top=st.fixed_dictionaries(
        {}, optional={"late_policy": st.sampled_from(["none", "zero"]), "solutions": st.booleans()}
    ),
    left_out=st.sampled_from([None, *IDS]),
)
def test_what_is_written_is_what_holds(tmp_path_factory, weights, deadlines, top, left_out):
    assume(left_out not in ALONE)  # to leave it out is refused
    weights |= {left_out: 0} if left_out else {}
    lines = [f"{name} = {in_toml(value)}" for name, value in top.items()]
    lines += ["[weights]", *(f"'{name}' = {weight}" for name, weight in weights.items())]
    lines += ["[deadlines]", *(f"{name} = {in_toml(when)}" for name, when in deadlines.items())]
    folder = tmp_path_factory.getbasetemp()
    (folder / SETTINGS_FILE).write_text("\n".join(lines))
    found = read_settings(folder)
    assert dict(found.weights) == {name: weight for name, weight in weights.items() if weight != 1}
    assert dict(found.deadlines) == deadlines
    policy = LatePolicy(top["late_policy"]) if "late_policy" in top else None
    assert {name: getattr(found, name) for name in top} == top | ({"late_policy": policy} if policy else {})
    left = {one.id for name in SETS for one in in_problem_set(name)}
    left -= {one.id for name in SETS for one in GradingPolicy(b"", found.weights).exercises(name)}
    assert left == ({left_out} if left_out else set())


WORDS = [
    "[weights]",
    "[deadlines]",
    "[[weights]]",
    "weights",
    "solutions",
    "secret_file",
    "hidden_checks",
    "late_policy",
]
WORDS += ['"masks.causal_mask"', "masks.causal_mask", "ps1", "ps9", "=", "= 2", "= 0", "= true", '= "zero"', "= '..'"]
WORDS += ["= 2026-12-01T23:59:00+01:00", "= 2026-12-01", "= 12:00", "= [", "= {", "}", "]", "= nan", "= -0", "= 1e400"]
WORDS += [
    '= "\\u0000"',
    '= "\\n"',
    "= 0x" + "f" * 5000,
    "= 0o7",
    '"""',
    "#",
    "\n",
    "\r\n",
    "\t",
    ".",
    "\x00",
    "\u202e",
    "é",
]
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=12).map(
    lambda words: " ".join(words).encode("utf-8", "surrogatepass")
)


@bounded(
    1500, data=texts | st.binary(max_size=60) | st.integers(1, 3000).map(lambda depth: b"solutions = " + b"[" * depth)
)
def test_no_text_is_more_than_one_clear_error(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp()
    (folder / SETTINGS_FILE).write_bytes(data)
    try:
        found = read_settings(folder)
    except SettingsError as error:
        assert str(folder) in str(error) and len(str(error)) < LONGEST + len(str(folder))
        assert str(error).isprintable(), "one line, and nothing that a terminal obeys"
    else:
        assert isinstance(found, Settings)


ONE = GradingPolicy(b"a course's secret", (("masks.causal_mask", 2),), (("masks", "x"),))


@pytest.mark.parametrize(
    "other",
    [
        GradingPolicy(b"another secret", ONE.weights, ONE.extra),
        GradingPolicy(ONE.secret, (("masks.causal_mask", 3),), ONE.extra),
        GradingPolicy(ONE.secret, (("masks.padding_mask", 2),), ONE.extra),
        GradingPolicy(ONE.secret, (), ONE.extra),
        GradingPolicy(ONE.secret, ONE.weights),
        GradingPolicy(ONE.secret, ONE.weights, (("masks", "y"),)),
        GradingPolicy(ONE.secret, ONE.weights, (("scores", "x"),)),
        GradingPolicy(ONE.secret, ONE.weights, (("masks", "x"), ("scores", ""))),
    ],
)
def test_whatever_differs_between_two_courses_shows_in_the_digest(other):
    assert other.digest != ONE.digest


def test_terms_travel_to_another_process_and_tell_nobody_the_secret():
    assert ONE.digest == pickle.loads(pickle.dumps(ONE)).digest
    assert pickle.loads(pickle.dumps(ONE)) == ONE and hash(pickle.loads(pickle.dumps(ONE))) == hash(ONE)
    assert "secret" not in repr(ONE).replace("GradingPolicy", "") and "course's" not in repr(ONE)


def test_a_change_that_concerns_another_problem_set_leaves_the_terms_of_this_one():
    assert ONE.of("ps1") == GradingPolicy(ONE.secret)
    assert ONE.of("ps3").digest == ONE.digest


def test_a_further_check_adds_its_draws_and_its_points():
    policy = GradingPolicy(b"s" * 20, (("worked_example.softmax", 3),), extra())
    assert try_checks(policy) == 1
    softmax = next(one for one in in_problem_set("ps1") if one.id == "worked_example.softmax")
    more = [key.check.name for key in keys_of(softmax, policy)]
    assert more.count("one_more") == 3 and len(more) == 3 + len(keys_of(softmax, GradingPolicy(b"s" * 20)))
    assert policy.with_points(softmax).max_points == 3 * (softmax.max_points + 2)
    assert DEFAULT_POLICY.with_points(softmax) == softmax


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (extra(body="return call("), "line 6: SyntaxError"),
        (extra(body="return call(1 / 0)"), "line 6: ZeroDivisionError: division by zero"),
        (
            extra(body="return call(rng.normal(2, 3), axis=7)"),
            "line 4: one_more: the reference fails this check: it raises",
        ),
        (extra(body="return []"), "line 4: one_more: the reference fails this check: it makes no call"),
        (extra(body="return 3"), "line 4: AttributeError"),
        (extra(settings=', compares="error"'), "the reference fails this check: it raises nothing"),
        (extra(settings=", view=lambda call, answer: answer.nothing"), "line 4: AttributeError"),
        (extra(name="softmax_rows"), "has a check of this name already: choose another"),
        (extra(settings=', problem_set="ps2"'), "problem_set must be one of ps1, got 'ps2'"),
        ((("worked_example", "import nothing_of_this_name"),), "line 1: ModuleNotFoundError"),
        ((("worked_example", "raise SystemExit"),), "line 1: SystemExit"),
        ((("worked_example", ""),), "registers no check"),
        ((("masks", extra()[0][1]),), "expected an exercise of this module, masks.padding_mask"),
        (
            (("worked_example", extra()[0][1].replace("points=2", "points=0")),),
            "adds 0 points: expected a whole number",
        ),
    ],
)
def test_a_further_check_that_cannot_be_used_is_told_with_its_line(given, told):
    with pytest.raises(InvalidCheck, match=re.escape(told)) as caught:
        try_checks(GradingPolicy(b"s" * 20, (), given))
    assert str(caught.value).startswith(f"{given[0][0]}.py")


def test_a_file_of_further_checks_is_named_as_a_module(course):
    folder = course.root.parent / "checks"
    folder.mkdir()
    (folder / "worked_example.py").write_text(extra()[0][1])
    write(course, 'hidden_checks = "../checks"')
    assert course.policy.extra == extra()
    (folder / "maks.py").write_text("")
    with pytest.raises(SettingsError, match=r"maks\.py: a file of hidden checks is named as the module"):
        _ = course.policy


def test_every_catalogue_file_can_be_written_with_other_points():
    policy = GradingPolicy(b"", tuple((name, place % 4) for place, name in enumerate(IDS)))
    for path in sorted((SELFCHECK / "catalogue").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        assert catalogue_with_points(text, DEFAULT_POLICY) == text
        changed = catalogue_with_points(text, policy)  # which reads what it has written
        differ = [one for one, other in zip(text.splitlines(), changed.splitlines(), strict=True) if one != other]
        assert all(re.fullmatch(r"\w+ *= *\d+", line) for line in differ) and differ


def test_points_that_stand_in_no_lines_of_their_own_are_told():
    text = (SELFCHECK / "catalogue" / "masks.toml").read_text(encoding="utf-8")
    text = text.replace("hidden_points = 1\n", "'hidden_points' = 1\n", 1)
    with pytest.raises(ValueError, match="write name = number"):
        catalogue_with_points(text, GradingPolicy(b"", (("masks.padding_mask", 2),)))


def test_times_of_a_deadline_keep_their_distance_from_utc(course):
    write(course, "[deadlines]\nps1 = 2026-12-01T23:59:00+01:00")
    due = course.settings.deadline("ps1")
    assert due.isoformat() == "2026-12-01T23:59:00+01:00"
    assert due == datetime(2026, 12, 1, 22, 59, tzinfo=UTC) and course.settings.deadline("ps2") is None


def test_the_settings_and_the_check_that_the_guide_shows_can_be_used(course):
    guide = (BOOK / "guides" / "instructor.md").read_text(encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    (check,) = re.findall(r"```python\n(from selfcheck\.plan.*?)```", guide, re.DOTALL)
    for name, text in (("keys/secret", "s" * 40), ("my-checks/masks.py", check)):
        (course.root.parent / name).parent.mkdir()
        (course.root.parent / name).write_text(text)
    write(course, toml)
    shown = set(re.findall(r"(?m)^\[?(\w+)", toml)) - {"ps3", "ada"}
    assert shown == {field.name for field in fields(Settings)}, "all there is"
    assert try_checks(course.policy) == 1


def test_a_new_course_is_open_to_nobody_else(tmp_path):
    course = Course.open(tmp_path / "course")
    assert course.root.stat().st_mode & 0o777 == 0o700
