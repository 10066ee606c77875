"""A cgroup for each worker, where one may be made: found, limited, counted, removed."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import limits, protocol
from autograder.judge.memory_watch import MemoryWatch
from autograder.sandbox import cgroup
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.usage import Tally, Used
from autograder.sandbox.worker_handle import WorkerHandle
from autograder.sandbox.worker_pool import default_pool
from selfcheck.plan import call

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
REQUEST = protocol.Request("masks.causal_mask", {"0": {"calls": [call(3).packed()], "gradient": False}})
BURNT = 0.5  # seconds of the processor
KILLED_AFTER_SECONDS = 3.0  # by the clock, of a worker that has been forked


def tree(tmp_path, controllers):
    """Files as a kernel with cgroups at these paths, which give such controllers to those below, would show them."""
    top = tmp_path / "cgroup"
    for path, names in controllers.items():
        folder = top / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(names)
        (folder / "cgroup.procs").touch()
    (tmp_path / "mountinfo").write_text(f"31 24 0:27 / {top} rw,nosuid shared:9 - cgroup2 cgroup2 rw\n")
    (tmp_path / "membership").write_text("1:name=systemd:/\n0::/user.slice/app.slice/term.scope\n")
    return top, (tmp_path / "membership", tmp_path / "mountinfo")


@pytest.mark.parametrize(
    ("controllers", "chosen"),
    [
        ({"": "cpu memory", "user.slice": "memory", "user.slice/app.slice": "memory pids"}, "user.slice/app.slice"),
        ({"": "memory", "user.slice": "cpu memory", "user.slice/app.slice": "pids"}, "user.slice"),
        ({"": "", "user.slice": "", "user.slice/app.slice": "cpu pids"}, None),
    ],
)
def test_the_nearest_cgroup_that_gives_the_memory_controller_is_taken(tmp_path, controllers, chosen):
    top, files = tree(tmp_path, controllers | {"user.slice/app.slice/term.scope": ""})
    assert cgroup.delegated_parent(*files) == (chosen if chosen is None else top / chosen)


def test_the_first_version_of_cgroups_is_left_alone(tmp_path):
    (tmp_path / "mountinfo").write_text("31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    (tmp_path / "membership").write_text("6:memory:/user.slice\n")
    assert cgroup.delegated_parent(tmp_path / "membership", tmp_path / "mountinfo") is None


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """A worker's cgroup as the kernel would make it, in files; what each held when it was removed."""
    removed = []

    def mkdir(self, *more, mkdir=Path.mkdir, **named):
        mkdir(self, *more, **named)
        if self.parent == tmp_path:
            (self / "memory.max").write_text("max")
            (self / "memory.swap.max").write_text("max")
            (self / "memory.oom.group").write_text("0")
            (self / "memory.peak").write_text(f"{70 * 2**20}\n")
            (self / "cpu.stat").write_text("usage_usec 1250000\nuser_usec 1000000\nsystem_usec 250000\n")

    def rmdir(self, rmdir=Path.rmdir):
        if self.parent != tmp_path:
            rmdir(self)
            return
        removed.append({file.name: file.read_text() for file in self.iterdir()})
        shutil.rmtree(self)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    monkeypatch.setattr(cgroup, "delegated_parent", lambda: tmp_path)
    return removed


def test_a_worker_is_held_and_counted_by_its_cgroup(pretended, tmp_path):
    sandbox, tally = open_sandbox(), Tally()
    if not default_pool().is_fork_server_available(sandbox):
        pytest.skip("no namespaces within namespaces here: every worker has a bubblewrap of its own")
    body = b"def causal_mask(n):\n    return n\n"
    (answers,) = protocol.ask(GIVEN | {"masks.py": body}, [REQUEST], False, sandbox, tally)
    assert answers["0"][0]["value"]["value"] == "3"
    (group,) = pretended
    assert int(group["memory.max"]) == limits.MEMORY_BYTES and group["memory.swap.max"] == "0"
    assert group["memory.oom.group"] == "1"
    assert int(group["cgroup.procs"]) > 1
    assert tally.used == Used(1.25, 70.0, complete=True) and tally.used.as_json()["memory"] == "cgroup"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at_own_limit", [True, False])
def test_a_worker_killed_for_memory_is_the_submissions_verdict_at_its_own_limit_alone(
    pretended, monkeypatch, at_own_limit
):
    sandbox = open_sandbox()
    if not default_pool().is_fork_server_available(sandbox):
        pytest.skip("no namespaces within namespaces here: every worker has a bubblewrap of its own")

    def killed_soon(self, pid):
        """As the kernel counts and kills, once the learner's code runs."""
        events = f"low 0\nhigh 0\nmax 9\noom {int(at_own_limit)}\noom_kill 1\noom_group_kill 0\n"
        (self._folder / "memory.events").write_text(events)
        threading.Timer(KILLED_AFTER_SECONDS, os.kill, (pid, signal.SIGKILL)).start()

    monkeypatch.setattr(cgroup.WorkerCgroup, "add", killed_soon)
    files = GIVEN | {"masks.py": b"def causal_mask(n):\n    while True:\n        pass\n"}
    if at_own_limit:
        (answers,) = protocol.ask(files, [REQUEST], False, sandbox)
        assert "too much memory" in answers["0"][0]["error"]["text"]
    else:
        with pytest.raises(protocol.GraderFault):
            protocol.ask(files, [REQUEST], False, sandbox)


@pytest.mark.parametrize(("files_mib", "is_exceeded"), [(100, True), (1500, False)])
def test_what_the_cgroups_of_a_submission_hold_together_has_a_limit(pretended, tmp_path, files_mib, is_exceeded):
    """One of them is asked, and another waits; files that were read are given back when the memory is needed."""
    watch = MemoryWatch()
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            group = cgroup.WorkerCgroup(tmp_path, limits.MEMORY_BYTES)
            (group._folder / "memory.current").write_text(f"{2500 * 2**20}\n")
            kinds = {"anon": 2**20, "active_file": files_mib * 2**20, "inactive_file": 0, "slab_reclaimable": 4096}
            (group._folder / "memory.stat").write_text("".join(f"{name} {size}\n" for name, size in kinds.items()))
            handle = WorkerHandle(0, 0, b"", 1, lambda _: None, lambda _, group=group: group.memory_bytes())
            stack.enter_context(watch.including(handle))
        time.sleep(limits.MEMORY_LOOK_WALL_SECONDS)
        assert watch.is_exceeded() == is_exceeded


def test_where_a_cgroup_is_refused_the_worker_is_counted_without(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroup, "delegated_parent", lambda: tmp_path / "gone")
    tally = Tally()
    body = b"def causal_mask(n):\n    return n\n"
    (answers,) = protocol.ask(GIVEN | {"masks.py": body}, [REQUEST], False, open_sandbox(), tally)
    assert answers["0"][0]["value"]["value"] == "3" and 0 < tally.used.processor_seconds < BURNT


@pytest.fixture
def kernel():
    """The top of this machine's cgroups of the second version, with whatever controllers it has."""
    lines = cgroup.MOUNTS.read_text().splitlines() if cgroup.MOUNTS.exists() else []
    tops = [Path(line.split()[4]) for line in lines if " - cgroup2 " in line]
    if not tops or not os.access(tops[0], os.W_OK):
        pytest.skip("no cgroup of the second version may be made here")
    return tops[0]


def test_the_kernel_counts_what_nobody_waits_for_and_the_cgroup_goes(kernel):
    burn = f"import time\nwhile time.process_time() < {BURNT}: pass"
    orphans = f"import subprocess, sys; sys.stdin.readline(); subprocess.Popen([sys.executable, '-c', {burn!r}])"
    try:
        group = cgroup.WorkerCgroup(kernel, 2**30)
    except OSError as error:
        pytest.skip(f"no cgroup may be made in {kernel}: {error}")
    try:
        with subprocess.Popen([sys.executable, "-c", orphans], stdin=subprocess.PIPE) as process:
            group.add(process.pid)
            process.communicate(b"go\n")
        while group.used().processor_seconds < BURNT:
            pass
        assert group.used().complete
    finally:
        group.remove()
    assert not [place for place in kernel.iterdir() if place.name.startswith(f"{cgroup.NAME}-{os.getpid()}-")]
