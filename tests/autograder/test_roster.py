"""Who takes a course: the roster's forms, what is imported, what it says in exports, and extensions."""

import csv
from datetime import UTC, datetime, timedelta, timezone

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.course.extensions import read_extension
from autograder.course.folder import Course
from autograder.course.roster import Person
from autograder.course.settings import SettingsError
from autograder.gradebook.nbgrader import gradebook, prepare_process
from autograder.gradebook.people import enter_people
from autograder.gradebook.scores import scores

DUE = datetime(2030, 12, 1, 22, 59, tzinfo=UTC)
ROSTER = """\
id,name,email,section,lms_id,extension ps1,extension ps2
ada,"Lovelace, Ada",ada@example.org,A,101,,3d
zoe\u0308,Müller Zoë,,B,,2030-12-04T23:59:00+01:00,
李小龍,"李, 小龍",,A,,none,
"""
# As a course's grade book comes from Canvas: a row under the names of its columns, and a test student at the end.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Problem set 1 (4711),Current Score
    Points Possible,,,,,42,(read only)
"Lovelace, Ada",101,S-1,ada,Section A,40,95.2
"Mu\u0308ller, Zoë",102,S-2,zoë@example.org,Section B and Section A,,
"Berg, Ben",103,S-3,be n,Section A,1,
"Student, Test",104,,f3a8,Section A,,
"""
MOODLE = """\
First name;Last name;ID number;Institution;Department;Email address;Quiz: one (Real);Last downloaded from this course
Ada;Lovelace;4001;;;ada@example.org;-;1893456000
Ольга;Петрова;4002;;;olga@example.org;7,5;1893456000
"""


@pytest.fixture
def course(tmp_path):
    return Course.open(tmp_path / "course")


def run(course, *words):
    done = CliRunner().invoke(main, [*map(str, words), "--course", str(course.root)], catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def test_a_roster_gives_names_in_any_script_sections_and_extensions(course):
    assert course.roster is None
    (course.root / "students.csv").write_text(ROSTER, encoding="utf-8-sig")
    people = course.roster.people
    assert set(people) == {"ada", "zoë", "李小龍"}, "ids are in composed form"
    assert people["ada"] == Person(
        "ada", "Lovelace", "Ada", "ada@example.org", "A", "101", {"ps2": read_extension("3d")}
    )
    assert people["zoë"].name == "Müller Zoë" and people["李小龍"].name == "小龍 李"
    assert course.roster.of_section("A") == {"ada", "李小龍"} and course.roster.of_section(None) == set(people)
    with pytest.raises(ValueError, match="nobody is in section 'C': there are A, B"):
        course.roster.of_section("C")
    assert course.extensions.of("ada", "ps2", DUE) == timedelta(days=3)
    assert course.extensions.of("zoë", "ps1", DUE) == timedelta(days=3)
    assert course.extensions.of("李小龍", "ps1", DUE) == timedelta()
    assert course.extensions.of("ada", "ps1", DUE) is None and course.extensions.of("eve", "ps1", DUE) is None


def test_a_roster_in_the_settings_is_the_same_one(course):
    (course.root / "course.toml").write_text(
        '[students]\nada = { name = "Lovelace, Ada", section = "A", lms_id = "101", extensions = { ps2 = "3d" } }\n'
        "ben = { extensions = { ps1 = 2030-12-04T23:59:00+01:00 } }\n"
    )
    people = course.roster.people
    assert people["ada"] == Person("ada", "Lovelace", "Ada", "", "A", "101", {"ps2": read_extension("3d")})
    assert course.extensions.of("ben", "ps1", DUE) == timedelta(days=3)


@pytest.mark.parametrize(
    "text, told",
    [
        ("id,nmae\nada,x\n", "row 2: there is no column 'nmae'; there are id, last_name"),
        ("id,section\nada,A\n,B\n", "row 3: it has no id"),
        ("id\nada\nada\n", "row 3: ada is there twice"),
        ("id\na/../b\n", "row 2: a student id is letters"),
        ("id,extension ps77\nada,3d\n", "row 2: there is no problem set 'ps77'"),
        ("id,extension ps1\nada,soon\n", "row 2: an extension is as 3d, 12h"),
        ("id,extension ps1\nada,2030-12-04T23:59:00\n", "row 2: an extension is as 3d, 12h"),
        ("id,email\nada,a\x07b\n", "row 2: email must be one line"),
        (b"id\n\xff\xfe\n", "cannot be read: expected a table in UTF-8"),
    ],
)
def test_a_line_of_a_roster_that_cannot_be_meant_is_told_with_its_number(course, text, told):
    (course.root / "students.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SettingsError) as caught:
        _ = course.roster
    assert told in str(caught.value) and "students.csv" in str(caught.value)


def test_two_rosters_are_refused_and_not_one_of_them_ignored(course):
    (course.root / "course.toml").write_text("[students]\nada = {}\n")
    (course.root / "students.csv").write_text("id,extension ps1\nada,3d\n")
    code, said = run(course, "roster")
    assert code == 1 and "two rosters, [students] in course.toml and students.csv: keep one of them" in said
    (course.root / "students.csv").unlink()
    assert run(course, "roster") == (0, "the roster has 1 student")


def test_canvas_grade_book_is_read_and_what_stood_in_the_roster_stays(course, tmp_path):
    (course.root / "students.csv").write_text("id,section,extension ps1\nada,,3d\nleft,Z,\n")
    (tmp_path / "grades.csv").write_text(CANVAS, encoding="utf-8-sig")
    code, said = run(course, "roster", tmp_path / "grades.csv")
    assert code == 0 and "2 students by SIS Login ID" in said and "still on the roster, and not there: left" in said
    assert "left out, SIS Login ID: a student id is letters" in said and "'be n'" in said
    people = course.roster.people
    assert people["ada"] == Person("ada", "Lovelace", "Ada", "", "Section A", "101", {"ps1": read_extension("3d")})
    assert people["zoë@example.org"].last_name == "Müller" and people["zoë@example.org"].email == "zoë@example.org"
    assert set(people) == {"ada", "zoë@example.org", "left"} and people["left"].section == "Z"
    assert run(course, "roster")[1].startswith("the roster has 3 students, in 3 sections: Section A, Section B and")
    code, said = run(course, "roster", tmp_path / "grades.csv", "--identify-by", "sis")
    assert code == 0 and "3 students by SIS User ID" in said and course.roster.people["S-3"].name == "Ben Berg"


def test_moodles_grade_book_is_read_and_says_by_which_column(course, tmp_path):
    (tmp_path / "grades.csv").write_text(MOODLE)
    code, said = run(course, "roster", tmp_path / "grades.csv")
    assert code == 0 and "2 students by ID number" in said
    assert course.roster.people["4002"] == Person("4002", "Петрова", "Ольга", "olga@example.org")
    assert run(course, "roster", tmp_path / "grades.csv", "--identify-by", "email")[0] == 0
    assert "olga@example.org" in course.roster.people
    code, said = run(course, "roster", tmp_path / "grades.csv", "--identify-by", "login")
    assert code == 1 and "say which, with --identify-by username, idnumber, email" in said


def test_a_person_who_comes_in_under_two_ids_is_told(course, tmp_path):
    source = tmp_path / "grades.csv"
    source.write_text(MOODLE, encoding="utf-8")
    assert "have one" not in run(course, "roster", source)[1]
    code, said = run(course, "roster", source, "--identify-by", "email")
    assert code == 0 and "4001, ada@example.org have one e-mail address: if that is one person, take a line out" in said
    assert "4002, olga@example.org have one e-mail address" in said and "LMS number" not in said


def test_another_table_is_refused_and_the_roster_stays(course, tmp_path):
    (course.root / "students.csv").write_text("id\nada\n")
    for name, text in (("odd.csv", "a,b\n1,2\n"), ("empty.csv", ""), ("odd.db", "no database")):
        (tmp_path / name).write_text(text)
        code, _ = run(course, "roster", tmp_path / name)
        assert code == 1
    assert (course.root / "students.csv").read_text() == "id\nada\n"


def test_nbgraders_students_are_read_and_names_go_back(course, tmp_path):
    prepare_process()
    with Gradebook(f"sqlite:///{tmp_path / 'old.db'}", course_id="math101") as book:
        book.add_student("ada", first_name="Ada", last_name="Lovelace", email="ada@example.org", lms_user_id="101")
        book.add_student("a b")
    code, said = run(course, "roster", tmp_path / "old.db")
    assert code == 0 and "1 student by nbgrader's id" in said and "left out: a student id" in said
    assert course.roster.people["ada"] == Person("ada", "Lovelace", "Ada", "ada@example.org", "", "101")
    with gradebook(course) as book:
        book.add_student("ada", email="old@example.org")
        assert enter_people(book.db, course.roster) and not enter_people(book.db, course.roster)
        book.db.commit()
    assert run(course, "roster", "--gradebook")[0] == 0
    assert course.roster.people["ada"].email == "ada@example.org"


@pytest.fixture
def graded(course):
    """A course whose gradebook holds the points of ada, in section A; ben, in B, has handed in nothing."""
    (course.root / "students.csv").write_text(
        "id,last_name,section,lms_id,email\nada,Lovelace,A,101,a@example.org\nben,=1+1,B,102,\ncy,Y,A,,\n"
    )
    with gradebook(course) as book:
        book.add_assignment("ps1")
        book.add_notebook("ps1", "ps1")
        book.add_grade_cell("code", "ps1", "ps1", max_score=42, cell_type="code")
        book.add_student("ada")
        submission = book.add_submission("ps1", "ada")
        submission.notebooks[0].grades[0].auto_score = 40.0
        submission.notebooks[0].grades[0].needs_manual_grade = False
        book.db.commit()
    place = course.root / "autograded" / "ada" / "ps1" / "ps1.ipynb"
    place.parent.mkdir(parents=True)
    place.touch()
    return course


def test_an_export_lists_who_handed_in_nothing_with_names_and_numbers(graded):
    code, said = run(graded, "export", "ps1")
    assert code == 0 and "handed in nothing: ben, cy" in said
    with (graded.root / "ps1.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows["ada"][name] for name in ("points", "final", "handed_in", "section", "lms_id")] == [
        *("40.0", "40.0", "yes", "A", "101")
    ]
    assert [rows["ben"][name] for name in ("points", "final", "handed_in", "last_name")] == ["", "", "no", "'=1+1"]
    code, said = run(graded, "export", "ps1", "--format", "canvas", "--identify-by", "id")
    assert code == 0 and "1 student" in said and "left out, handed in nothing: ben, cy" in said
    with (graded.root / "ps1-canvas.csv").open(newline="") as file:
        (_, row) = csv.DictReader(file)
    assert row["Student"] == "Lovelace" and row["ID"] == "101" and row["Section"] == "A"


def test_a_section_is_exported_alone(graded):
    assert [one.student for one in scores(graded, "ps1", "A")] == ["ada", "cy"]
    code, said = run(graded, "export", "ps1", "--section", "B")
    assert code == 0 and "1 student" in said and "nothing: ben" in said
    code, said = run(graded, "export", "ps1", "--section", "C")
    assert code == 1 and "nobody is in section 'C': there are A, B" in said
    (graded.root / "students.csv").unlink()
    code, said = run(graded, "export", "ps1", "--section", "A")
    assert code == 1 and "--section needs a roster" in said


def test_an_extension_is_granted_before_anything_is_handed_in_and_counts_before_the_roster(course):
    (course.root / "students.csv").write_text("id,extension ps2\nada,1d\n")
    (course.root / "course.toml").write_text("[deadlines]\nps2 = 2030-12-01T23:59:00+01:00\n")
    code, said = run(course, "extend", "ada", "ps2", "3d")
    assert code == 0 and "ada has an extension: 3d for ps2" in said and "it counts once it is graded" in said
    assert course.extensions.of("ada", "ps2", DUE) == timedelta(days=3)
    assert run(course, "extend", "ada", "ps2", "2030-12-02T10:59+01:00")[0] == 0
    assert course.extensions.of("ada", "ps2", DUE.replace(tzinfo=None)) == timedelta(hours=11)
    assert run(course, "extend", "ada", "ps2", "none")[0] == 0
    assert course.extensions.of("ada", "ps2", DUE) == timedelta()


@pytest.mark.parametrize(
    "words, told",
    [
        (("ada", "ps2", "soon"), "an extension is as 3d"),
        (("ada", "ps77", "3d"), "no problem set"),
        (("eve", "ps2", "3d"), "eve is not on the roster"),
        (("ada", "ps2", "2030-11-04T23:59+01:00"), "is not after the deadline"),
    ],
)
def test_an_extension_that_cannot_be_meant_is_refused(course, words, told):
    (course.root / "students.csv").write_text("id\nada\n")
    (course.root / "course.toml").write_text("[deadlines]\nps2 = 2030-12-01T23:59:00+01:00\n")
    code, said = run(course, "extend", *words)
    assert code == 1 and told in said and not (course.root / "extensions.csv").exists()


def test_an_extension_never_shortens_a_deadline_and_needs_one():
    until = read_extension(datetime(2030, 11, 1, tzinfo=timezone(timedelta(hours=1))))
    assert until.after(DUE) == timedelta() and until.after(None) == timedelta()
    assert read_extension("3d").after(None) == timedelta()
