"""What comes through nbgrader's exchange takes no good submission's place where intake would refuse it."""

import shutil
from datetime import UTC, datetime

import pytest

from autograder import nbgrader_plugin, pipeline
from autograder.course.paths import REFERENCE
from autograder.intake import hand_in, store
from autograder.intake.hand_in import Options

from .shared_courses import copy_of, released

RIGHT = (REFERENCE / "worked_example.py").read_bytes()
THEN = datetime(2026, 11, 20, 12, tzinfo=UTC)
STAMP = "2026-11-22 08:00:00.000000 UTC"


@pytest.fixture
def course(tmp_path_factory, tmp_path):
    with released(tmp_path_factory, "ps1") as bare:
        return copy_of(bare, tmp_path / "course")


def good(course, tmp_path, text=RIGHT):
    folder = tmp_path / "good"
    (folder / "attention").mkdir(parents=True, exist_ok=True)
    (folder / "attention/worked_example.py").write_bytes(text)
    shutil.copy(course.release("ps1") / "ps1.ipynb", folder)
    hand_in.hand_in(course, "ada", "ps1", folder, Options(THEN))


def collected(course, files, student="ada"):
    """What `nbgrader collect` leaves among the submitted ones."""
    folder = course.submitted(student, "ps1")
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in {**files, "timestamp.txt": STAMP}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


OTHER_SET = {"attention/scores.py": "def dot_scores(q, k):\n    return 1\n", "ps2.ipynb": "{}"}


def test_another_problem_set_s_files_leave_the_earlier_submission_in_place_and_are_told(course, tmp_path):
    good(course, tmp_path)
    collected(course, OTHER_SET)
    for _ in range(2):
        taken = store.take_in(course, "ada", "ps1")
        assert dict(taken.files) == {"worked_example.py": RIGHT} and taken.arrived == THEN
        (told,) = [remark for remark in taken.remarks if "refused" in remark]
        assert "what was handed in before, at 2026-11-20 12:00:00 UTC, counts: this is ps2's" in told
    kept = sorted(course.received("ada", "ps1").iterdir())
    assert len(kept) == 2 and (kept[1] / "submission/attention/scores.py").is_file(), "what came is kept, too"


def test_nbgrader_s_own_hook_puts_it_back_before_it_converts(course, tmp_path):
    good(course, tmp_path)
    collected(course, {"essay.docx": "x"})
    nbgrader_plugin.take_in(course.root, "ps1", "ada", [])
    assert (course.submitted("ada", "ps1") / "attention/worked_example.py").read_bytes() == RIGHT


def test_of_several_the_last_good_one_comes_back(course, tmp_path):
    good(course, tmp_path)
    good(course, tmp_path, RIGHT + b"# later\n")
    collected(course, OTHER_SET)
    assert store.take_in(course, "ada", "ps1").files["worked_example.py"].endswith(b"# later\n")


def test_a_good_one_from_the_exchange_takes_the_place_as_ever(course, tmp_path):
    good(course, tmp_path)
    collected(course, {"attention/worked_example.py": (RIGHT + b"# new\n").decode()})
    taken = store.take_in(course, "ada", "ps1")
    assert taken.files["worked_example.py"].endswith(b"# new\n") and not any("refused" in one for one in taken.remarks)


def test_without_an_earlier_one_it_is_not_graded_until_the_right_work_comes(course, tmp_path):
    collected(course, OTHER_SET, "ada")
    with pytest.raises(store.Unrecognised, match="this is ps2's"):
        store.take_in(course, "ada", "ps1")
    (line,) = pipeline.grade(course, "ps1", "none")
    (told,) = line.remarks
    assert line.points is None and "no zero is entered: this is ps2's" in told and "with submit" in told
    assert not (course.root / "autograded/ada").exists() and not course.result_file("ada", "ps1").exists()
    good(course, tmp_path)
    (line,) = pipeline.grade(course, "ps1", "none")
    assert line.points == line.max_points > 0
