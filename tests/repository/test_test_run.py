"""A run of tests ends with a verdict, whatever a test does to its worker."""

import os
import re
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests import scheduling

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
import pytest
from tests.scheduling import Groups

@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)
"""
DIES = "import os, signal\n\ndef test_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
PASSES = "import time\n\ndef test_{}():\n    time.sleep(0.05)\n"
HANGS = "import threading\n\ndef test_hangs():\n    threading.Event().wait()\n"


def run(folder: Path, files: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """A run of these test files with two workers and this repository's way to share them out.

    Its temporary files are its own: it would delete those of earlier runs first, which can take minutes.
    """
    for name, text in ({"conftest.py": CONFTEST} | files).items():
        (folder / name).write_text(text, encoding="utf-8")
    options = ("-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider", f"--basetemp={folder / 'tmp'}", *options)
    command = [sys.executable, "-m", "pytest", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize("deadly", [1, 3])
def test_a_worker_that_is_killed_is_a_failure_and_every_other_test_is_run(deadly, tmp_path):
    quiet = "".join(map(PASSES.format, "abcd"))
    files = {f"test_quiet_{letter}.py": quiet for letter in "abc"}
    files |= {f"test_deadly_{number}.py": PASSES.format("before") + DIES for number in range(deadly)}
    files["test_deadly_0.py"] += PASSES.format("after")
    done = run(tmp_path, files)
    assert done.returncode == 1, done.stdout
    assert f"{deadly} failed, {12 + deadly + 1} passed" in done.stdout, done.stdout
    for number in range(deadly):
        assert re.search(rf"worker 'gw\d+' crashed while running 'test_deadly_{number}.py::test_dies'", done.stdout)


def test_a_test_that_hangs_is_ended_and_named_and_the_others_go_on(tmp_path):
    files = {"test_hangs.py": HANGS + PASSES.format("after"), "test_quiet.py": PASSES.format("quiet")}
    done = run(tmp_path, files, "-o", "timeout=1")
    assert done.returncode == 1 and "1 failed, 2 passed" in done.stdout, done.stdout
    assert re.search(r"FAILED test_hangs.py::test_hangs - Failed: Timeout", done.stdout), done.stdout


def test_every_test_has_a_time_limit(pytestconfig):
    assert float(pytestconfig.getini("timeout")) > 0


def test_long_groups_are_begun_first_and_the_others_in_their_order(monkeypatch):
    begun = []
    take = lambda groups, node: begun.append(groups.workqueue.popitem(last=False)[0])  # noqa: E731
    monkeypatch.setattr(LoadScopeScheduling, "_assign_work_unit", take)
    groups = scheduling.Groups.__new__(scheduling.Groups)
    others = ["tests/a.py", "tests/b.py"]
    groups.workqueue = OrderedDict.fromkeys([others[0], *reversed(scheduling.LONGEST), others[1]])
    while groups.workqueue:
        groups._assign_work_unit(None)
    assert begun == [*scheduling.LONGEST, *others]
    assert all((ROOT / path).is_file() for path in scheduling.LONGEST)


def test_a_group_that_no_longer_reaches_a_dying_worker_goes_to_another():
    class Dying:
        def send_runtest_some(self, indices):
            raise OSError("cannot send to <Channel id=1 closed>")

    groups, node = scheduling.Groups.__new__(scheduling.Groups), Dying()
    units = {"tests/a.py": {"tests/a.py::test_a": False}, "tests/b.py": {"tests/b.py::test_b": False}}
    groups.workqueue, groups.assigned_work = OrderedDict(units), OrderedDict({node: {}})
    groups.registered_collections = {node: ["tests/a.py::test_a", "tests/b.py::test_b"]}
    groups._assign_work_unit(node)
    assert list(groups.workqueue.items()) == list(units.items())
    assert groups.assigned_work[node] == {}
