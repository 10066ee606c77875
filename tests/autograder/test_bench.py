"""The bench: a small class graded for real in all three ways, and what it says where something differs."""

import ast
import json
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.answer_key.keys import keys_of, live_answer_key
from autograder.authoring import proofs
from autograder.bench import agreement, meter, rounds, stock, synthetic
from autograder.bench.extraction import NotSelfContained, extract
from autograder.bench.figures import by_formula
from autograder.bench.rounds import OURS, STOCK, TWO_STOCK
from autograder.cores import cores
from autograder.course.folder import Course
from autograder.course.paths import ROOT
from autograder.course.policy import GradingPolicy
from autograder.judge import cluster
from autograder.judge.judge import judge_problem_set
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck import verdict
from selfcheck.catalogue import in_problem_set

SIZE = 4
SECRET = b"a course's secret of enough bytes"
KEYS = {
    *("ratio", "ratio_two_stock", "ours_per_s", "stock_per_s", "same_scores", "class_size", "problem_set", "cores"),
    *("cpu_s_per_submission_ours", "cpu_s_per_submission_stock", "peak_mib_ours", "peak_mib_stock", "first_mark_s"),
    *("test_seconds", "regimes", "formula", "versions", "provisional", "where_time_goes", "release_s"),
}


#: Half a minute of the processor, most of it stock nbgrader's kernels, which nothing here changes.
graded_three_times = pytest.mark.full


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A class of four on problem set 1, through the command: what it printed, its figures, its folders."""
    folder = tmp_path_factory.mktemp("bench")
    options = ["--class-size", SIZE, "--problem-set", "ps1", "--json", folder / "a.json", "--keep", folder / "kept"]
    said = CliRunner().invoke(main, ["bench", *map(str, options)])
    assert said.exit_code == 0, said.output
    return said.output, json.loads((folder / "a.json").read_text()), folder / "kept" / "class-0"


@pytest.fixture
def room(done, tmp_path):
    """A copy of that class's folders, graded."""
    shutil.copytree(done[2], tmp_path / "room")
    secret = Course(done[2] / "ours").secret
    return rounds.BenchCourses(tmp_path / "room", "ps1", synthetic.make_class("ps1", SIZE, secret), release_s=1.0)


def again(room, figures, monkeypatch, tmp_path, *more):
    """The command on courses that are graded already, with the times taken before."""
    runs = iter(
        [meter.Measured(**figures["runs"][name] | {"marks": [[1.0], [1.0]]}) for name in (OURS, STOCK, TWO_STOCK)]
    )
    monkeypatch.setattr(rounds, "prepare", lambda *_, **__: room)
    monkeypatch.setattr(meter, "measure", lambda jobs: next(runs))
    monkeypatch.setattr(rounds, "seconds_of_checks", lambda room: 0.1)
    target = tmp_path / "again.json"
    options = ["--class-size", str(SIZE), "--problem-set", "ps1", "--json", str(target)]
    return CliRunner().invoke(main, ["bench", *options, *more]), target


@graded_three_times
def test_a_class_gets_the_same_scores_from_stock_nbgrader(done):
    _, figures, _ = done
    assert figures["same_scores"] is True and figures["wrong"] == []
    assert figures["ratio"] == pytest.approx(figures["ours_per_s"] / figures["stock_per_s"])
    assert figures["ratio_two_stock"] == pytest.approx(figures["ours_per_s"] / figures["two_stock_per_s"])


def test_an_answer_of_the_bank_deserves_what_it_earns_where_it_is_put():
    # As a misconception it refuses a device as the reference does; behind a stub's own checks it ignores it.
    exercise = next(one for one in in_problem_set("ps3") if one.symbol == "sliding_window_mask")
    function = proofs.misconceptions_here(exercise)["window_too_short"]
    keys = keys_of(exercise, GradingPolicy(SECRET))
    registered = verdict.judge(exercise, keys, proofs.answers_of(function, keys))
    device = next(one.points for one in registered.checks if one.check == "window_device")
    assert device > 0 and synthetic._points(exercise, function, SECRET) == registered.points - device


@graded_three_times
def test_the_figures_name_what_they_hold_for(done):
    said, figures, _ = done
    assert set(figures) >= KEYS
    assert (figures["class_size"], figures["problem_set"], figures["cores"]) == (SIZE, "ps1", cores())
    runs = figures["runs"]
    assert all(run["cpu"] > 0 and run["peak_mib"] > 50 and run["left_over"] == 0 for run in runs.values())
    assert 0 < figures["first_mark_s"] < runs[OURS]["seconds"]
    assert 0 < figures["test_seconds"] < figures["cpu_s_per_submission_stock"]
    assert "start-up included" in said and "formula" in said and f"class of {SIZE}" in said


@graded_three_times
def test_stock_is_stock(done):
    folder = done[2] / "stock"
    config = (folder / "nbgrader_config.py").read_text()
    assert [line for line in config.splitlines() if line.startswith("c.")] == ['c.CourseDirectory.course_id = "stock"']
    cells = json.loads((folder / "autograded" / "student0000" / "ps1" / "ps1.ipynb").read_text())["cells"]
    ran = [cell for cell in cells if cell["cell_type"] == "code" and "execution" in cell["metadata"]]
    graded = [cell for cell in ran if cell["metadata"].get("nbgrader", {}).get("grade")]
    assert len(graded) == len(in_problem_set("ps1")), "each was run in a kernel, which notes when"


@graded_three_times
def test_the_class_has_right_and_wrong_submissions(done, room):
    scores = agreement.read_scores(room.stock, "ps1")
    totals = {student.role: sum(one[0] for one in scores[student.name].points.values()) for student in room.students}
    most = sum(exercise.max_points for exercise in in_problem_set("ps1"))
    assert totals["the reference"] == most and totals["a syntax error"] == 0
    assert 0 < totals["one mistake"] < most and 0 < totals["stubs left"] < most


@graded_three_times
def test_a_score_that_differs_ends_with_status_1_and_no_ratio(done, room, monkeypatch, tmp_path):
    said, target = again(room, done[1], monkeypatch, tmp_path)
    assert said.exit_code == 0, said.output
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{room.ours / 'gradebook.db'}") as book:
        grade = book.find_submission("ps1", "student0000").notebooks[0].grades[0]
        cell, grade.auto_score = grade.name, 1.0
        book.db.commit()
    said, target = again(room, done[1], monkeypatch, tmp_path, "--alone")
    figures = json.loads(target.read_text())
    assert said.exit_code == 1 and [line.split(":")[0] for line in figures["wrong"]] == [f"student0000, {cell}"]
    said, target = again(room, done[1], monkeypatch, tmp_path)
    figures = json.loads(target.read_text())
    assert said.exit_code == 1
    assert figures["same_scores"] is False and figures["ratio"] is None and figures["ratio_two_stock"] is None
    assert [line.split(":")[0] for line in figures["wrong"]] == [f"student0000, {cell}"] * 2  # stock's, and deserved
    assert "no ratio" in said.output and cell in said.output and "Ratio:" not in said.output


@graded_three_times
def test_this_grader_is_measured_alone_where_stock_would_need_hours(done, room, monkeypatch, tmp_path):
    said, target = again(room, done[1], monkeypatch, tmp_path, "--alone")
    figures, run = json.loads(target.read_text()), done[1]["runs"][OURS]
    assert said.exit_code == 0 and figures["same_scores"] is True and figures["quarters_mib"] == run["quarters_mib"]
    assert figures["ours_per_s"] == pytest.approx(SIZE / run["seconds"]) and figures["command"].endswith(" --alone")
    assert len(run["quarters_mib"]) == 4 and max(run["quarters_mib"]) >= run["peak_mib"] > 0
    assert "first mark after 1.0 s" in said.output and "in each quarter" in said.output


def test_alone_there_is_no_ratio_to_fall():
    said = CliRunner().invoke(main, ["bench", "--alone", "--slower", "1"])
    assert said.exit_code == 1 and "give one of them" in said.output


@graded_three_times
def test_a_notebook_that_formgrader_would_miss_is_a_difference(done, room, monkeypatch, tmp_path):
    notebook = room.ours / "autograded" / "student0001" / "ps1" / "ps1.ipynb"
    tree = json.loads(notebook.read_text())
    for cell in tree["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["outputs"] = []
    notebook.write_text(json.dumps(tree))
    (room.ours / "autograded" / "student0002" / "ps1" / "ps1.ipynb").unlink()
    said, target = again(room, done[1], monkeypatch, tmp_path)
    lines = json.loads(target.read_text())["wrong"]
    assert said.exit_code == 1
    assert sum("shows no result" in line for line in lines) == len(in_problem_set("ps1"))
    assert "student0002: there is no autograded notebook" in lines


def test_gradebooks_differ_in_students_manual_grades_and_places_for_comments():
    one = agreement.Scores({"a": (1.0, 2.0, False), "b": (0.0, 3.0, True)}, ("b",))
    other = agreement.Scores({"a": (1.0, 2.0, False), "b": (0.0, 3.0, False)}, ())
    names = ("left", "right")
    assert agreement.differences({"s": one}, {"s": one}, names) == []
    assert agreement.differences({"s": one, "t": one}, {"s": other}, names) == [
        "s, b: left: 0 of 3, to be graded by a person, right: 0 of 3",
        "s: left and right have places for comments on different cells",
        "t: not in the gradebook of right",
    ]
    assert agreement.undeserved({"s": one}, {"s": {"a": 1, "b": 3}, "t": {"a": 1}}) == [
        "s, b: deserves 3, got 0 of 3, to be graded by a person",
        "t, a: deserves 1, got nothing",
    ]


def test_a_class_is_the_same_for_the_same_seed_and_no_two_students_write_the_same():
    first, same, other = (synthetic.make_class("ps1", len(synthetic.ROLES), SECRET, seed) for seed in (3, 3, 4))
    assert first == same and [one.files for one in first] != [one.files for one in other]
    assert len({one.files["worked_example.py"] for one in first}) == len(first)
    assert {one.role for one in first} == set(synthetic.ROLES)


def test_a_submission_to_a_later_set_gets_what_the_bank_says():
    answer_key = live_answer_key("ps3", GradingPolicy(SECRET))
    for student in synthetic.make_class("ps3", 3, SECRET, seed=1):
        package = {name: text.encode() for name, text in student.files.items()}
        results = judge_problem_set(package, answer_key, open_sandbox("auto"))
        found = {result.exercise.id: result.points for result in results}
        assert student.expected == {name: found[name] for name in student.expected}, student.role
        assert student.expected


def test_slower_submissions_think_once_in_every_function():
    plain, slow = (synthetic.make_class("ps1", 2, SECRET, slower=seconds) for seconds in (0.0, 3.0))
    for one, other in zip(plain, slow, strict=True):
        text = other.files["worked_example.py"]
        functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        for exercise in in_problem_set("ps1"):
            assert ast.unparse(functions[exercise.symbol].body[1]) == "_think()"
        assert text.replace("    _think()\n", "").startswith(one.files["worked_example.py"].rstrip())
        assert one.expected == other.expected


def test_a_function_of_the_bank_is_taken_out_with_what_it_builds_on(tmp_path, monkeypatch):
    (tmp_path / "some_bank.py").write_text(
        "import math\nimport functools\nfrom attention import masks\n\nHALF = 0.5\n\n\ndef half(x):\n"
        "    return math.floor(x * HALF)\n\n\n@functools.cache\ndef quarter(x):\n    return half(half(x))\n\n\n"
        "def masked(x):\n    return masks.causal_mask(x)\n\n\n@functools.cache\n@functools.cache\ndef twice(x):\n"
        "    return x\n\n\ndef eighth(x):\n    return quarter(half(x))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import some_bank

    found = extract(some_bank.quarter.__wrapped__)
    assert list(found) == ["math", "HALF", "half", "quarter"] and found["quarter"].startswith("def quarter")
    for function in (some_bank.masked, some_bank.eighth, some_bank.twice.__wrapped__):
        with pytest.raises(NotSelfContained):
            extract(function)


BURN = "\nimport time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass\n"
ORPHAN = "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        {burn}"
#: The first process of a namespace ends, and with it, never waited for, one that has done all the work.
WALLED = """
import os, time
told, tells = os.pipe()
if os.fork() == 0:
    {burn}
    os.write(tells, b"done")
    time.sleep(60)
os.read(told, 4)
time.sleep(3)  # for whoever only looks, from time to time
"""
IN_SANDBOX = """
import subprocess, sys, time
from pathlib import Path
from autograder.sandbox.bubblewrap import INSIDE, open_sandbox
stage = Path({stage!r})
with open_sandbox().command(stage, [sys.executable, "-I", "-B", INSIDE + "/work.py"]) as (command, descriptors):
    subprocess.run(command, pass_fds=descriptors, check=True)
print("own", time.process_time())
"""


def measured(code, folder):
    job = meter.Job([sys.executable, "-c", code], str(ROOT), dict(os.environ), str(folder / "log"), "own")
    return meter.measure([job])


def test_the_meter_counts_processes_whose_parents_have_ended(tmp_path):
    burn = BURN.format(seconds=0.6).replace("\n", "\n        ")
    found = measured(ORPHAN.format(burn=burn), tmp_path)
    assert found.codes == [0] and found.left_over == 0 and found.cpu >= 0.6


@pytest.mark.skipif(open_sandbox("auto").level == "none", reason="there is no isolation here to measure behind")
def test_the_meter_counts_what_runs_behind_walls_and_is_never_waited_for(tmp_path):
    # Apart from pytest's own folders, which nobody else may enter.
    with tempfile.TemporaryDirectory(prefix="attention-meter-") as folder:
        stage = Path(folder)
        (stage / "work.py").write_text(WALLED.format(burn=BURN.format(seconds=1.5).replace("\n", "\n    ")))
        stage.chmod(0o755)
        found = measured(IN_SANDBOX.format(stage=folder), tmp_path)
    own = float((tmp_path / "log").read_text().split()[1])
    assert found.codes == [0] and len(found.marks[0]) == 1
    assert found.cpu_from in ("cgroup", "seen"), "who only waits does not learn of it"
    assert found.cpu - own >= (1.5 if found.cpu_from == "cgroup" else 1.0)  # seen: the last look may miss 0.25 s


@graded_three_times
def test_a_command_that_fails_is_no_figure(done, room, monkeypatch, tmp_path):
    figures = done[1] | {"runs": {name: run | {"codes": [1, 1]} for name, run in done[1]["runs"].items()}}
    for name in ("ours", "stock", "stock-1", "stock-2"):
        Path(room.folder / f"{name}.log").write_text("it broke")
    said, target = again(room, figures, monkeypatch, tmp_path)
    assert said.exit_code == 1 and "status 1" in said.output and "it broke" in said.output and not target.exists()


def test_the_formula_shares_more_test_code_out_among_the_workers(monkeypatch):
    monkeypatch.setattr(cluster, "cores", lambda: 2)
    run = meter.Measured(20.0, 20.0, "cgroup", 5.0, 100.0, "pss", [100.0] * 4, [0], [[1.0]], 0, 0.1)
    runs = {STOCK: run, TWO_STOCK: replace(run, seconds=10.0), OURS: replace(run, seconds=2.0)}
    one = rounds.Round(10, runs, test_seconds=0.5, release_s=4.0)
    assert one.ratio(STOCK) == pytest.approx(10)
    assert by_formula(one, 2.5, STOCK) == pytest.approx((2 + 2) / (0.2 + 2 / 2))
    assert by_formula(one, 2.5, TWO_STOCK) == pytest.approx((1 + 2 / 2) / (0.2 + 2 / 2))
    assert rounds.Round(10, runs, 0.5, 4.0, ["s, a: differs"]).ratio(STOCK) is None


def test_the_stock_variant_needs_no_reference():
    texts = {**stock.installed("ps3"), **stock.keys("ps3", SECRET), "ps3.ipynb": stock.notebook("ps3")}
    assert not [name for name, text in texts.items() if "solution: begin" in text or "import autograder" in text]
    assert not [name for name in texts if name.startswith("attention")]
    assert set(texts) >= {f"keys/{exercise.number}.json" for exercise in in_problem_set("ps3")}


def test_an_unknown_problem_set_and_a_folder_that_is_there_are_told(tmp_path):
    for options, word in ((["--problem-set", "ps99"], "ps99"), (["--keep", str(tmp_path)], "already")):
        said = CliRunner().invoke(main, ["bench", *options])
        assert said.exit_code == 1 and word in said.output
