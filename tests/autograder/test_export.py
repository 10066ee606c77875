"""Scores written for Canvas and Moodle, and read back as those systems read them."""

import csv

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.course.folder import Course
from autograder.gradebook import exports
from autograder.gradebook.nbgrader import gradebook
from autograder.gradebook.scores import scores
from autograder.gradebook.spreadsheet import harmless

#: id, first name, last name, e-mail, the number in Canvas, points by the grader, points by hand (None: still to give).
CLASS = [
    ("ada", "Ada", "King, Countess of Lovelace", "ada@example.org", "101", 40.0, 7.5),
    ("bill.de-l_x", 'Bill "Bit"', "de l’Œil", "bill@example.org", "102", 12.0, 0.0),
    ("zoë_müller", "Zoë", "Mül\nler", "zoe@example.org", "103", 42.0, 8.0),
    ("李小龍", "小龍", "李", "li@example.org", "104", 0.0, 0.0),
    ("Ольга", "Ольга", "Петрова; Иванова", "olga@example.org", "105", 33.25, 1.0),
    ("007", '=HYPERLINK("http://example.org")', "@SUM(A1)", "james@example.org", "106", 21.0, 2.0),
    ("1e5", "-1", "+1", "scientific@example.org", "107", 10.0, 3.0),
    ("12.5", "", "", "half@example.org", "108", 11.0, 3.0),
    ("late@school.example", "Too", "Late", "late@example.org", "109", 20.0, 5.0),
]
EXACT = {one[0]: one[5] + one[6] for one in CLASS} | {"late@school.example": 15.0}
WAITING = ("waits", "Not", "Yet", "waits@example.org", "110", 30.0, None)


ODD = ["=1+1", "@admin", "1.2.3", "tab\tid"]  # nbgrader takes any id; `submit` takes the third alone


def enter(book: Gradebook, course, problem_set, one, graded=True):
    student, first, last, email, number, by_grader, by_hand = one
    book.update_or_create_student(student, first_name=first, last_name=last, email=email, lms_user_id=number)
    submission = book.add_submission(problem_set, student)
    notebook = submission.notebooks[0]
    for grade in notebook.grades:
        code = grade.cell.cell_type == "code"
        grade.auto_score = by_grader if code else None
        grade.manual_score = None if code else by_hand
        grade.needs_manual_grade = not code and by_hand is None
    if student.startswith("late"):
        notebook.late_submission_penalty = 10.0
    if graded:
        place = course.root / "autograded" / student / problem_set / f"{problem_set}.ipynb"
        place.parent.mkdir(parents=True)
        place.touch()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course whose gradebook nbgrader itself has filled: a class, ids that are none, a grading that failed."""
    course = Course.open(tmp_path_factory.mktemp("export") / "course")
    with gradebook(course) as book:
        for problem_set in ("ps1", "ps2", "ps3"):
            book.add_assignment(problem_set)
            book.add_notebook(problem_set, problem_set)
            book.add_grade_cell("code", problem_set, problem_set, max_score=42, cell_type="code")
        book.add_grade_cell("question", "ps1", "ps1", max_score=8, cell_type="markdown")
        for one in [*CLASS, WAITING]:
            enter(book, course, "ps1", one)
        for student in ODD:
            enter(book, course, "ps2", (student, "", "", "-x@example.org", "0x10", 1.0, None))
        enter(book, course, "ps3", ("eve", "", "", "", "", 0.0, None), graded=False)
        book.db.commit()
    return course


@pytest.fixture
def written(course, tmp_path):
    """Runs `export`: what the terminal says in one line, and the rows of the file as a csv reader finds them."""

    def run(*options):
        target = tmp_path / "out.csv"
        command = ["export", "ps1", "--course", str(course.root), "--to", str(target), *options]
        done = CliRunner().invoke(main, command, catch_exceptions=False)
        if done.exit_code:
            return " ".join(done.output.split()), None
        with target.open(newline="", encoding="utf-8") as file:
            return " ".join(done.output.split()), list(csv.reader(file))

    return run


def as_canvas_reads(rows):
    """Person (by what Canvas looks for, in its order) → points; the titles and worths of the assignments."""
    header, *others = rows
    assert "Student" in header[0] and "ID" in header[1] and header[2:5] == ["SIS User ID", "SIS Login ID", "Section"]
    found, worth = {}, {}
    for row in others:
        row = [exports.read_by_canvas(cell) for cell in row]
        if "Points Possible" in row[0]:
            worth = dict(zip(header[5:], row[5:], strict=True))
        else:
            person = next(cell for cell in (row[1], row[2], row[3], row[0]) if cell)
            assert person not in found
            found[person] = float(row[5].strip())
    return found, worth


@pytest.mark.parametrize("identity, column", [("login", 3), ("sis", 2)])
def test_canvas_gets_every_id_and_score_back(written, identity, column):
    said, rows = written("--format", "canvas", "--identify-by", identity)
    found, worth = as_canvas_reads(rows)
    assert found == EXACT
    assert worth == {"ps1": "50"}
    assert {row[column] for row in rows[2:]} == set(EXACT) and f"{len(EXACT)} students" in said


def test_canvas_finds_people_by_its_own_numbers_where_nbgrader_knows_them(written):
    _, rows = written("--format", "canvas", "--identify-by", "id", "--column", "Attention by hand, 1 (4711)")
    found, worth = as_canvas_reads(rows)
    assert found == {one[4]: EXACT[one[0]] for one in CLASS}
    assert worth == {"Attention by hand, 1 (4711)": "50"}


@pytest.mark.parametrize("identity, column", [("username", "Username"), ("idnumber", "ID number")])
def test_moodle_gets_every_id_and_score_back(written, identity, column):
    _, rows = written("--format", "moodle", "--identify-by", identity)
    header, *others = rows
    place = header.index(column)
    # Moodle trims the cells, and takes a point in a number whatever the language.
    assert {row[place].strip(): float(row[header.index("ps1")].strip()) for row in others} == EXACT


def test_moodle_gets_every_e_mail_address_back(written):
    _, rows = written("--format", "moodle", "--identify-by", "email")
    assert {row[2]: float(row[3]) for row in rows[1:]} == {one[3]: EXACT[one[0]] for one in CLASS}


@pytest.mark.parametrize("form", ["csv", "canvas", "moodle"])
def test_no_cell_is_a_formula_and_none_breaks_the_line(written, form):
    _, rows = written("--format", form)
    cells = [cell for row in rows for cell in row]
    assert all(cell.startswith("'") or harmless(cell) == cell for cell in cells)
    assert not [cell for cell in cells if "\n" in cell]
    if form != "csv":
        assert any("SUM(A1)" in cell for cell in cells), "the name is there, behind an apostrophe"


def test_names_stand_as_they_are_where_they_are_harmless(written):
    _, rows = written("--format", "canvas")
    names = {row[3]: row[0] for row in rows[2:]}
    assert names["ada"] == "King, Countess of Lovelace, Ada" and names["李小龍"] == "李, 小龍"
    assert names["12.5"] == "12.5", "without a name the id stands in its place"
    assert names["zoë_müller"] == "Mül\\nler, Zoë"


@pytest.mark.parametrize("form", ["canvas", "moodle"])
def test_who_waits_for_points_by_hand_is_left_out_and_named(written, form):
    said, rows = written("--format", form)
    assert "waits" not in {cell for row in rows for cell in row}
    assert "left out, a written question waits for points" in said and "--ungraded: waits" in said
    said, rows = written("--format", form, "--ungraded")
    (row,) = (row for row in rows if "waits" in row)
    assert row[-1] == "30" and "a mark for Resolve: waits" in said


def test_csv_has_everybody_and_marks_who_waits(written):
    _, rows = written()
    header, *others = rows
    found = {row[0]: dict(zip(header, row, strict=True)) for row in others}
    assert set(found) == {*EXACT, "waits"}
    assert found["waits"]["needs_manual_grade"] == "yes" and found["ada"]["needs_manual_grade"] == "no"
    late = found["late@school.example"]
    assert float(late["points"]) - float(late["late_penalty"]) == EXACT["late@school.example"]


def test_a_grading_that_failed_is_no_zero(course, tmp_path):
    for form in ("canvas", "moodle"):
        done = exports.export(course, "ps3", form, tmp_path / "out.csv", ungraded=True)
        assert done.count == 0 and done.notes == ("left out, not graded: run grade again: eve",)
    exports.export(course, "ps3", "csv", tmp_path / "out.csv")
    (row,) = csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines())
    assert row["points"] == "" and row["graded"] == "no"


def test_who_has_handed_in_and_is_not_graded_is_named(course, written):
    folder = course.submitted("newcomer", "ps1")
    folder.mkdir(parents=True)
    for form in ("csv", "canvas", "moodle"):
        said, _ = written("--format", form)
        assert "handed in and not graded yet, run grade: newcomer" in said
    folder.rmdir()


@pytest.mark.parametrize("form, kept", [("canvas", set()), ("moodle", {"1.2.3"})])
def test_an_id_that_could_not_come_back_as_it_is_is_left_out_and_named(course, tmp_path, form, kept):
    done = exports.export(course, "ps2", form, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        people = {row["Username" if form == "moodle" else "SIS Login ID"] for row in csv.DictReader(file)}
    assert people - {""} == kept and done.count == len(kept)
    told = " ".join(done.notes)
    assert all(ascii(student)[1:-1] in told for student in set(ODD) - kept)


@pytest.mark.parametrize("form, identity", [("moodle", "email"), ("canvas", "id")])
def test_an_address_that_is_a_formula_and_a_number_that_is_none_are_left_out(course, tmp_path, form, identity):
    assert exports.export(course, "ps2", form, tmp_path / "out.csv", identity).count == 0


@pytest.mark.parametrize(
    "cell, read",
    [
        ("1.2.3", "12.3"),
        ("12,345.6", "12345.6"),
        ("12.5", "12.5"),
        ("007", "007"),
        ("a.b.c", "a.b.c"),
        ("1,5%", "1.5%"),
    ],
)
def test_canvas_takes_dots_out_of_numbers(cell, read):
    assert exports.read_by_canvas(cell) == read


def test_what_a_system_does_not_know_is_refused_in_a_line(written):
    for options, told in (
        (("--format", "canvas", "--identify-by", "email"), "canvas identifies people by login, sis, id"),
        (("--format", "moodle", "--identify-by", "login"), "moodle identifies people by username, idnumber, email"),
        (("--format", "canvas", "--column", "=1+1"), "would be a formula"),
        (("--format", "canvas", "--column", "Final Score"), "Canvas keeps the column"),
        (("--format", "csv", "--column", "x"), "for canvas and moodle"),
    ):
        said, rows = written(*options)
        assert rows is None and told in said


def test_moodle_is_told_what_it_may_stumble_over(written):
    said, _ = written("--format", "moodle")
    assert "grade item with a maximum of 50" in said
    assert "in lower case in Moodle: Ольга" in said


def test_points_by_hand_and_penalty_come_from_the_gradebook(course):
    found = {one.student: one for one in scores(course, "ps1")}
    assert found["ada"].points == 47.5 and found["late@school.example"].final == 15.0
