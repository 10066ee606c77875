"""Judging on a Dask cluster: what dies in the middle loses nothing and has nothing entered twice."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import psutil
import pytest

from autograder import pipeline
from autograder.answer_key.keys import live_answer_key
from autograder.bench import agreement
from autograder.cores import cores
from autograder.course.paths import REFERENCE, ROOT
from autograder.course.policy import GradingPolicy
from autograder.intake import archive, store
from autograder.judge import cluster
from autograder.judge.task import Task
from autograder.version import grader_version

from .shared_courses import copy_of, released

PS, SIZE = "ps1", 6
PATIENCE = 300  # seconds by the clock, of which only a test that fails needs all
#: What makes a submission take seconds by the clock and none of the processor, so that there is a middle to die in.
ASLEEP = "\nimport time\ntime.sleep(1)\n"
WRONG = "\ndef project(*arguments):\n    return 1\n"  # and awake: it is imported once for each exercise
SETTINGS = {"MALLOC_TRIM_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
FILES = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}


POLICY = GradingPolicy(b"a course's secret of enough bytes")


def task(files=FILES, grader=None, policy=POLICY):
    return Task(files, PS, policy.of(PS).digest, "bubblewrap", grader or grader_version())


def judged(items, scheduler=None):
    return cluster.judged(items, lambda problem_set: live_answer_key(problem_set, POLICY), scheduler)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course where a class has handed in, and nothing is graded."""
    with released(tmp_path_factory, PS) as bare:
        course = copy_of(bare, tmp_path_factory.mktemp("class") / "course")
    notebook = (course.release(PS) / f"{PS}.ipynb").read_bytes()
    for number in range(SIZE):
        text = FILES["worked_example.py"].decode() + f"# number {number}\n" + (ASLEEP if number else WRONG)
        received = archive.Received({"worked_example.py": text.encode()}, notebook, ())
        store.store(course, f"student{number}", PS, received)
    return course


def awake(course):
    """The same course, with the same answers, where nobody sleeps."""
    for student in course.students(PS):
        [path] = course.submitted(student, PS).rglob("worked_example.py")
        path.write_text(path.read_text().replace(ASLEEP, ""))
    return course


@contextmanager
def dask(*words, more=None):
    """One process of a Dask cluster."""
    command = [sys.executable, "-m", "dask", *map(str, words)]
    environment = os.environ | SETTINGS | (more or {})
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def worker(place, name, options=(), **settings):
    options = (*options, "--name", name, "--nthreads", 1, "--memory-limit", 0, "--no-nanny", "--no-dashboard")
    return dask("worker", "--scheduler-file", place, *options, "--local-directory", place.parent / name, **settings)


@contextmanager
def scheduler(place, host="127.0.0.1", **settings):
    """A scheduler on this machine alone; its address."""
    options = ("--host", host, "--port", 0, "--no-dashboard", "--scheduler-file", place)
    with dask("scheduler", *options, **settings):
        end = time.monotonic() + PATIENCE
        while not (place.exists() and place.stat().st_size) and time.monotonic() < end:
            time.sleep(0.05)
        yield json.loads(place.read_text())["address"]


@contextmanager
def grading_on(address, course, more=None):
    command = [sys.executable, "-m", "autograder", "grade", PS, "--course", course.root, "--scheduler", address]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | SETTINGS | (more or {}), **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process, start):
    for line in process.stdout:
        if line.startswith(start):
            return
    pytest.fail(f"ended with {process.wait()} before a line that begins with {start!r}")


def on_file(course):
    return {path.stem: json.loads(path.read_text()) for path in (course.root / "results" / PS).glob("*.json")}


def test_neither_a_worker_nor_the_one_who_asks_can_die_so_that_a_grade_is_lost_or_doubled(handed_in, tmp_path):
    course, place = copy_of(handed_in, tmp_path / "course"), tmp_path / "scheduler.json"
    with scheduler(place) as address, worker(place, "one") as first, worker(place, "two"):
        assert address.startswith("tcp://127.0.0.1:")
        with grading_on(address, course) as asking:
            read_until(asking, f"2/{SIZE} ")
            asking.send_signal(signal.SIGKILL)
        before = on_file(course)
        assert 2 <= len(before) < SIZE

        with grading_on(address, course) as asking:
            read_until(asking, f"{len(before) + 1}/{SIZE} ")
            first.send_signal(signal.SIGKILL)
            rest = asking.stdout.read()
            assert asking.wait() == 0, rest

    after = on_file(course)
    assert {name: after[name]["graded"] for name in before} == {name: one["graded"] for name, one in before.items()}
    alone = awake(copy_of(handed_in, tmp_path / "alone"))
    lines = pipeline.grade(alone, PS)
    assert len(lines) == SIZE and all(line.points is not None for line in lines)
    books = [agreement.read_scores(one.root, PS) for one in (course, alone)]
    assert len(books[0]) == SIZE and agreement.differences(*books, ("the cluster", "here")) == []
    assert [line.again for line in pipeline.grade(course, PS)] == [False] * SIZE


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Dask's settings for TLS, with an authority of this test."""
    folder = tmp_path_factory.mktemp("tls")
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=course"]
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    found = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(certificate)}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(certificate)
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(key)
    return found


@pytest.mark.full
def test_a_cluster_behind_tls_judges_for_who_has_the_certificate_and_for_nobody_else(handed_in, certificates, tmp_path):
    course, place = copy_of(handed_in, tmp_path / "course"), tmp_path / "scheduler.json"
    for student in set(course.students(PS)) - {"student1"}:
        shutil.rmtree(course.submitted(student, PS))
    with scheduler(place, "tls://127.0.0.1", more=certificates) as address, worker(place, "one", more=certificates):
        assert address.startswith("tls://")
        with grading_on(address, course, certificates) as asking:
            said, _ = asking.communicate(timeout=PATIENCE)
        assert asking.returncode == 0 and f"1/1 {'student1'}: " in said
        course.result_file("student1", PS).unlink()
        with grading_on(address, course) as asking:
            said, _ = asking.communicate(timeout=PATIENCE)
        assert asking.returncode == 1 and "no scheduler answers at tls://" in said and not on_file(course)


def test_what_is_handed_in_twice_is_judged_once_and_what_is_known_is_passed_on():
    known = {"points": 1}
    found = dict(judged([("ada", task()), ("known", known), ("ben", task()), ("eve", task({}))]))
    assert found["known"] is known and found["ada"] is found["ben"] is not found["eve"]
    assert found["ada"].points > 0
    assert found["eve"].points == 0


def test_a_worker_that_would_judge_otherwise_does_not():
    [(name, outcome)] = judged([("ada", task(grader="another"))])
    assert name == "ada" and isinstance(outcome, RuntimeError) and grader_version() in str(outcome)


def test_a_worker_whose_own_python_would_show_the_course_judges_nobody(handed_in, tmp_path):
    """Where `grade` runs the course is out of sight; below the prefix of the worker's Python it is not."""
    course = copy_of(handed_in, tmp_path / "python" / "lib" / "course")
    for student in set(course.students(PS)) - {"student0"}:
        shutil.rmtree(course.submitted(student, PS))
    other_python = tmp_path / "other_python.py"
    other_python.write_text(f"import sys\nsys.prefix = {str(tmp_path / 'python')!r}\n")
    place = tmp_path / "scheduler.json"
    with (
        scheduler(place) as address,
        worker(place, "one", options=("--preload", other_python)),
        grading_on(address, course) as asking,
    ):
        said, _ = asking.communicate(timeout=PATIENCE)
    told = " ".join(said.split())
    assert asking.returncode == 1 and "student0: not graded" in told
    assert "grader's fault: InSight: the worker on " in told and " judges nobody: " in told  # a long path is cut
    assert not on_file(course)


def test_what_is_private_elsewhere_and_is_not_on_a_workers_machine_keeps_it_from_nothing(tmp_path):
    elsewhere = ("/usr/local/share/no-such-course/secret", str(tmp_path))
    found = dict(judged([("ada", replace(task({}), private=elsewhere))]))
    assert found["ada"].points == 0 and not found["ada"].grader_error


def test_nobody_at_an_address_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(cluster.NoCluster, match="no scheduler answers at tcp://.*dask scheduler"):
            list(judged([("ada", task())], address))


def test_a_scheduler_without_workers_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 5)
    with scheduler(tmp_path / "scheduler.json") as address, pytest.raises(cluster.NoCluster, match="has no workers"):
        list(judged([("ada", task())], address))


def test_a_submission_is_the_same_task_whatever_its_files_are_called_in_turn_and_another_where_anything_differs():
    same = task(dict(reversed(FILES.items())))
    assert same.key == task().key
    others = [task(FILES | {"scores.py": b""}), task({}), task(grader="another")]
    others.append(task(policy=GradingPolicy(b"the secret of some other course")))
    assert len({one.key for one in (same, *others)}) == 5


def test_the_workers_of_this_process_are_reached_from_nowhere():
    def listening():
        return {one.laddr for one in psutil.Process().net_connections() if one.status == psutil.CONN_LISTEN}

    before = listening()
    [(_, outcome)] = [(found, listening()) for found in judged([("ada", task({}))])]
    assert outcome <= before


def test_no_more_submissions_are_taken_ahead_than_keep_the_workers_busy():
    taken = []

    def items():
        for number in range(2 * cluster.AHEAD * cores()):
            taken.append(number)
            yield number, task({"note.py": str(number).encode()})

    ahead = [len(taken) - done for done, _ in enumerate(judged(items()))]
    assert len(ahead) == len(taken) and max(ahead) <= cluster.AHEAD * cores()
