"""An exercise is corrected in mid-term: released once more, graded once more, and nobody's work is touched."""

import json
import os
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from autograder import pipeline
from autograder.course import releases
from autograder.course.paths import REFERENCE
from autograder.gradebook import migrate
from autograder.gradebook.nbgrader import api
from autograder.gradebook.scores import scores
from autograder.intake import archive, keeping, store
from autograder.release import bundle as releasing

from .repository_copy import build, copied, run
from .shared_courses import copy_of, released

RIGHT = (REFERENCE / "worked_example.py").read_text("utf-8")
#: Who hands in what: ada all right; ben's softmax runs over the queries; cleo rounds her scores.
CLASS = {
    "ada": RIGHT,
    "ben": RIGHT
    + """

_own = softmax


def softmax(scores, axis=-1):
    return _own(scores, axis=0)
""",
    "cleo": RIGHT
    + """

_exact = dot_scores


def dot_scores(queries, keys):
    return [[round(float(score), 3) for score in row] for row in _exact(queries, keys)]
""",
}
FIRST, SECOND = "ps1-second-head", "ps1-criticise-a-paragraph"  # the written questions
#: The corrections: in which file, what, and what stands there afterwards.
POINTS, TOLERANCE = "worked_example-softmax", "dot_sizes"
CORRECTIONS = [
    ("src/selfcheck/catalogue/worked_example.toml", "softmax_rows = 1\n", "softmax_rows = 3\n"),
    (
        "src/selfcheck/catalogue/worked_example.toml",
        "Your columns sum to 1 where",
        "As corrected: columns sum to 1 where",
    ),
    (
        "src/selfcheck/checks/worked_example.py",
        'sees="queries, keys and features may differ in number")',
        'sees="queries, keys and features may differ in number", tolerance=1e-2)',
    ),
    ("book/problem-sets/ps1.md", f"{{question}} {SECOND}\n:points: 4\nFrom a blog:", None),
]
CORRECTIONS[-1] = (*CORRECTIONS[-1][:2], CORRECTIONS[-1][1].replace("4\nFrom a", "5\nFrom a well-known"))
COMMANDS = """
import json, sys
from click.testing import CliRunner
from autograder.__main__ import main
said = []
for arguments in json.loads(sys.argv[1]):
    done = CliRunner().invoke(main, arguments)
    said.append([done.exit_code, " ".join(done.output.split())])
print(json.dumps(said))
"""


def commands(root, course, *lines):
    """What commands come to in the corrected repository: the status of each, and its output in one line."""
    lines = [[*line.split(), "--course", str(course.root)] for line in lines]
    done = run(root, "-c", COMMANDS, json.dumps(lines))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def written(bundle, folder, text):
    """An unpacked bundle with a module and both answers in it."""
    shutil.copytree(bundle, folder)
    (folder / "attention" / "worked_example.py").write_text(text, encoding="utf-8")
    path = folder / "ps1.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in (FIRST, SECOND):
            cell["source"] = f"{folder.name} answers {cell['metadata']['nbgrader']['grade_id']}."
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return folder


def mark(course, student, first, second):
    with api(course).gradebook as book:
        sheet = book.find_submission_notebook("ps1", "ps1", student)
        for grade in sheet.grades:
            if grade.name in (FIRST, SECOND):
                grade.manual_score = first if grade.name == FIRST else second
                grade.needs_manual_grade = False
        for comment in sheet.comments:
            comment.manual_comment = f"Well put, {comment.name}."
        book.db.commit()


def marks(course, student):
    """Of each written question: points, whether it waits for a look, comment."""
    with api(course).gradebook as book:
        sheet = book.find_submission_notebook("ps1", "ps1", student)
        said = {comment.name: comment.manual_comment for comment in sheet.comments}
        return {
            grade.name: (grade.manual_score, grade.needs_manual_grade, said[grade.name])
            for grade in sheet.grades
            if grade.name in said
        }


def checks(course, student):
    """Verdict and points of each check."""
    record = json.loads(course.result_file(student, "ps1").read_text("utf-8"))
    return {
        one["check"]: (one["verdict"], one["points"]) for exercise in record["exercises"] for one in exercise["checks"]
    }


def kept(course, *folders):
    """Every file that came from learners, with its content and time."""
    paths = [path for folder in folders for path in (course.root / folder).rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A course in mid-term: handed in, graded, ada's questions marked; and the bundle as learners have it."""
    place = tmp_path_factory.mktemp("term")
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, place / "course")
    bundle = shutil.copytree(course.release("ps1"), place / "bundle")
    for student, text in CLASS.items():
        folder = written(bundle, place / student, text)
        keeping.keep(course, student, "ps1", folder)
        store.store(course, student, "ps1", archive.read_folder(folder, "ps1"))
    lines = pipeline.grade(course, "ps1")
    assert [line.points is not None and not line.remarks for line in lines] == [True] * 3, lines
    mark(course, "ada", 3.0, 2.5)
    assert api(course).generate_feedback("ps1", force=True)["success"]
    return course, bundle, place


@pytest.fixture(scope="module")
def corrected(before, tmp_path_factory):
    """The same course after the correction; with what was there before it, and what the commands said."""
    course, bundle, place = before
    root = copied(tmp_path_factory.mktemp("corrected"))
    for name, old, new in CORRECTIONS:
        text = (root / name).read_text("utf-8")
        assert text.count(old) == 1, old
        (root / name).write_text(text.replace(old, new), encoding="utf-8")
    build(root, "worked_example", notebooks=False)
    then = {
        "files": kept(course, "submitted", "received"),
        "checks": {student: checks(course, student) for student in CLASS},
        "totals": {score.student: score.points for score in scores(course, "ps1")},
    }
    late = written(bundle, place / "dana", RIGHT)  # from the bundle of before, after the correction
    then["said"] = commands(
        root,
        course,
        "grade ps1",
        "release ps1",
        f"submit ps1 --student dana {late}",
        "grade ps1",
        "grade ps1",
        "feedback ps1",
    )
    return course, then, root


def test_grading_by_points_that_were_not_released_says_to_release_first(corrected):
    _, then, _ = corrected
    code, said = then["said"][0]
    assert code == 1 and "release ps1 again" in said
    assert [code for code, _ in then["said"][1:]] == [0] * 5, then["said"]


def test_what_learners_handed_in_is_untouched(corrected):
    course, then, _ = corrected
    now = kept(course, "submitted", "received")
    assert len(then["files"]) > 20
    assert {path: now[path] for path in then["files"]} == then["files"]
    assert {path.relative_to(course.root).parts[1] for path in now.keys() - then["files"].keys()} == {"dana"}


def test_grades_change_exactly_where_the_correction_matters(corrected):
    course, then, _ = corrected
    changed = {
        student: {name: (old[name], new[name]) for name in old if old[name] != new[name]}
        for student in CLASS
        for old, new in [(then["checks"][student], checks(course, student))]
    }
    assert changed == {
        "ada": {"softmax_rows": (("passed", 1), ("passed", 3))},
        "ben": {},
        "cleo": {"softmax_rows": (("passed", 1), ("passed", 3)), TOLERANCE: (("failed", 0), ("passed", 1))},
    }
    totals = {score.student: score.points for score in scores(course, "ps1")}
    gained = {student: totals[student] - then["totals"][student] for student in CLASS}
    assert gained == {"ada": 2.0, "ben": 0.0, "cleo": 3.0}


def test_what_comes_from_the_earlier_bundle_is_graded_and_nothing_about_it_is_odd(corrected):
    course, then, _ = corrected
    assert then["said"][2][1].startswith("dana: ps1 taken in") and "released" not in then["said"][2][1]
    assert "To look at" not in then["said"][3][1]
    totals = {score.student: score.points for score in scores(course, "ps1")}
    assert totals["dana"] == 44.0 == totals["ada"] - 5.5
    answer = (course.submitted("dana", "ps1") / "ps1.ipynb").read_text("utf-8")
    assert f"dana answers {FIRST}." in answer and f"dana answers {SECOND}." in answer


def test_marks_and_comments_given_by_hand_stay_and_one_of_a_changed_question_asks_for_a_look(corrected):
    course, _, _ = corrected
    assert marks(course, "ada") == {
        FIRST: (3.0, False, f"Well put, {FIRST}."),
        SECOND: (2.5, True, f"Well put, {SECOND}."),  # of 5 points now, not of 4
    }


def test_the_points_in_the_gradebook_follow(corrected):
    course, _, _ = corrected
    with api(course).gradebook as book:
        most = {cell.name: cell.max_score for cell in book.find_notebook("ps1", "ps1").grade_cells}
        assert (most[POINTS], most[SECOND], most[FIRST]) == (15.0, 5.0, 4.0)
        assert book.find_assignment("ps1").max_score == 44.0 + 9.0
        assert [len(list(student.submissions)) for student in book.students] == [1, 1, 1, 1]


def test_feedback_is_as_corrected(corrected):
    course, _, _ = corrected
    pages = {
        student: " ".join(re.sub(r"<[^>]+>", "", path.read_text("utf-8")).split())
        for student in CLASS
        for path in [course.feedback(student, "ps1") / "ps1.html"]
    }
    assert "As corrected: columns sum to 1" in pages["ben"]
    assert all("From a well-known blog" in page for page in pages.values())
    assert f"Well put, {FIRST}." in pages["ada"]


def test_nobody_is_graded_twice(corrected):
    _, then, _ = corrected
    assert then["said"][3][1].count(" of 44") == then["said"][4][1].count(" of 44") == 4


def test_a_cell_more_and_an_exercise_less_are_taken_into_a_gradebook_that_has_submissions(corrected, tmp_path):
    course, _, root = corrected
    course = copy_of(course, tmp_path / "course")
    page = root / "book" / "problem-sets" / "ps1.md"
    text = page.read_text("utf-8")
    page.write_text(f"{text}\n```{{question}} ps1-afterthought\n:points: 3\nAnd why?\n```\n", encoding="utf-8")
    settings = course.root / "course.toml"
    settings.write_text('[weights]\n"worked_example.project" = 0\n', encoding="utf-8")
    totals = {score.student: score.points for score in scores(course, "ps1")}
    try:
        said = commands(root, course, "release ps1", "grade ps1")
    finally:
        page.write_text(text, encoding="utf-8")
    assert [code for code, _ in said] == [0, 0], said
    assert "To look at" not in said[1][1]  # nobody deleted a cell that was not there
    assert {score.student: score.points for score in scores(course, "ps1")} == {
        student: points - 7.0 for student, points in totals.items()
    }
    with api(course).gradebook as book:
        sheet = book.find_submission_notebook("ps1", "ps1", "ada")
        names = {grade.name for grade in sheet.grades}
        assert "ps1-afterthought" in names and "worked_example-project" not in names
    assert marks(course, "ada")[FIRST] == (3.0, False, f"Well put, {FIRST}.")
    answer = (course.submitted("ada", "ps1") / "ps1.ipynb").read_text("utf-8")
    assert f"ada answers {FIRST}." in answer and "ps1-afterthought" in answer


def test_a_release_without_a_question_that_is_marked_is_refused(corrected):
    course, _, _ = corrected
    notebook = nbformat.read(course.source("ps1") / "ps1.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != FIRST]
    before = marks(course, "ada")
    with pytest.raises(ValueError, match=rf"lose marks that you gave by hand, on {FIRST} \(1\)"):
        migrate.migrate_gradebook(course, "ps1", notebook)
    assert marks(course, "ada") == before


def test_a_release_that_fails_or_is_killed_leaves_the_former_one(tmp_path, tmp_path_factory):
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path / "course")
    files = kept(course, "release", "source")
    with pytest.raises(RuntimeError, match="of this test"), releases.replacing_release(course, "ps1"):
        course.release("ps1").mkdir(parents=True)
        raise RuntimeError("of this test")
    assert kept(course, "release", "source") == files
    course.release("ps1").rename(course.release("ps1").with_name(".ps1-former"))  # as a kill leaves it
    course.release("ps1").mkdir()
    (course.release("ps1") / "half.py").touch()
    with pytest.raises(RuntimeError, match="of this test"), releases.replacing_release(course, "ps1"):
        raise RuntimeError("of this test")
    assert kept(course, "release", "source") == files
    releasing.release(course, "ps1")
    now = kept(course, "release", "source")
    assert {path: content for path, (content, _) in now.items()} == {
        path: content for path, (content, _) in files.items()
    }
    notebook = releases.release_file(course, "ps1")
    assert now[notebook] == files[notebook], "a release that changes nothing does not seem new"
    assert releases.earlier_notebooks(course, "ps1") == []


# What learners do about it


def selfcheck(folder, home, *arguments):
    variables = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(folder)}
    command = [sys.executable, "-P", "-m", "selfcheck", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)


def test_a_learner_takes_modules_and_answers_from_an_earlier_bundle_into_the_new_one(corrected, before, tmp_path):
    course, _, _ = corrected
    old = written(before[1], tmp_path / "old", CLASS["cleo"])
    new = shutil.copytree(course.release("ps1"), tmp_path / "new")
    assert selfcheck(old, tmp_path, "save").returncode == 0
    assert "worked_example.py" in selfcheck(new, tmp_path, "restore").stdout
    assert (new / "attention" / "worked_example.py").read_text("utf-8") == CLASS["cleo"]
    rounded = [selfcheck(folder, tmp_path, "2.2").stdout for folder in (old, new)]
    assert [f"✗ {sees}" in said for said in rounded for sees in ["queries, keys and features"]] == [True, False]


def exchanged(place, step, folder, **settings):
    """A step of nbgrader's exchange, as who works in the folder."""
    c = Config()
    c.Exchange.root, c.Exchange.cache = str(place / "exchange"), str(place / "cache")
    c.CourseDirectory.course_id, c.CourseDirectory.assignment_id = "attention-by-hand", "ps1"
    c.CourseDirectory.root = c.Exchange.assignment_dir = str(folder)
    c[step] = Config(settings)
    factory = ExchangeFactory(config=c)
    getattr(factory, step.removeprefix("Exchange"))(
        coursedir=CourseDirectory(config=c), authenticator=Authenticator(config=c), config=c
    ).start()


def test_a_second_fetch_brings_what_a_learner_has_moved_away_and_nothing_else(corrected, before, tmp_path, monkeypatch):
    (tmp_path / "exchange").mkdir()
    (tmp_path / "exchange").chmod(0o777)
    home = tmp_path / "home"
    mine = written(before[1], home / "ps1", CLASS["cleo"])
    old = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    exchanged(tmp_path, "ExchangeReleaseAssignment", corrected[0].root, force=True)
    monkeypatch.chdir(home)
    (mine / "selfcheck").rename(mine / "selfcheck-before")
    exchanged(tmp_path, "ExchangeFetchAssignment", home, replace_missing_files=True)
    now = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
    assert {path for path, content in old.items() if now[path] != content} == {
        mine / "selfcheck" / name for name in ("catalogue/worked_example.toml", "checks/worked_example.py")
    }
