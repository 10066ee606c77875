"""What fails beside a learner's code, and not in it, is the grader's fault: no grade, and never a zero."""

import ast
from contextlib import contextmanager

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE, SELFCHECK
from autograder.course.policy import GradingPolicy
from autograder.judge import judge, own_modules, protocol
from autograder.judge.judge import judge_problem_set
from autograder.sandbox import bubblewrap, staging
from autograder.sandbox.bubblewrap import Sandbox, SandboxUnavailable, open_sandbox
from autograder.sandbox.worker_pool import WorkerPool
from selfcheck.plan import call
from selfcheck.verdict import FAILED, GRADER_ERROR, PASSED

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}
RIGHT = "def causal_mask(n):\n    return n + 1\n"


@contextmanager
def sandbox_of(way):
    """A sandbox whose workers come from a fork server of its own, from "own" sandboxes, or run with "none"."""
    found = open_sandbox("none" if way == "none" else "bubblewrap")
    with WorkerPool(forks=way == "forked") as pool:
        yield Sandbox(found.level, found.lacks, pool)


@pytest.fixture(scope="module", params=["forked", "own"])
def sandbox(request):
    with sandbox_of(request.param) as opened:
        yield opened


def ask(sandbox, body, *names):
    requests = [protocol.Request(f"masks.{name}", PLANS) for name in names or ("causal_mask",)]
    answers = protocol.ask(GIVEN | {"masks.py": body.encode()}, requests, False, sandbox)
    return [one["0"][0] for one in answers]


#: What every process of the sandbox begins with, so that something of ours fails there.
FAILURES = {
    "the runner": "import sys; sys.modules['selfcheck.runner'] = None",
    "an argument's memory": "import mmap; mmap.mmap = None",
    "limits": "import resource; del resource.setrlimit",
    "numpy": "import sys; sys.modules['numpy'] = None",
}


@pytest.mark.parametrize(
    ("way", "failure"), [*(("own", failure) for failure in FAILURES), ("forked", "limits"), ("none", "numpy")]
)
def test_whatever_of_ours_fails_before_the_learners_code_is_the_graders_fault(monkeypatch, way, failure):
    stage_programs = staging.stage_programs

    def stage(folder):
        stage_programs(folder)
        start = folder / "code" / "start.py"
        start.write_text(f"{FAILURES[failure]}\n{start.read_text()}")

    with sandbox_of(way) as sandbox:
        monkeypatch.setattr(staging, "stage_programs", stage)
        with pytest.raises(protocol.GraderFault, match="before the learner's code ran"):
            ask(sandbox, RIGHT)


def test_the_self_test_looks_for_the_programs_before_any_submission(monkeypatch):
    monkeypatch.setattr(bubblewrap, "_tried", {})
    kept = tuple(name for name in staging.SELFCHECK_MODULES if name != "held.py")
    monkeypatch.setattr(staging, "SELFCHECK_MODULES", kept)
    with pytest.raises(SandboxUnavailable, match="sandbox self-test failed: its own programs\n.*Install it again"):
        open_sandbox()


#: Each is a learner's own deed, at the import of a module or in a function, whatever of ours it takes away.
TAKES = {
    "the runner": "import sys\nsys.modules |= dict.fromkeys((n for n in sys.modules if n.startswith('selfcheck')))",
    "numpy and torch": "import sys\nsys.modules['numpy'] = sys.modules['torch'] = None\nimport numpy",
    "a module given": "import sys\nsys.modules['attention._arguments'] = None\nfrom . import _arguments",
    "descriptors": "import os\nos.closerange(0, 64)",
    "everything": "import sys\nsys.modules.clear()",
}
LEAVES = """
import contextlib, os, signal

def leaves(n):
    for folder in ("/tmp", "/dev/shm"):
        with contextlib.suppress(OSError), open(folder + "/full", "wb") as file:
            while True:
                file.write(bytes(2**20))
    for number in range(50):
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                os.closerange(0, 64)
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
                signal.pause()
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGKILL)
    for file in os.listdir("/proc/self/fd"):
        for size in (0, 2**30):
            with contextlib.suppress(OSError):
                os.ftruncate(int(file), size)
    return n

def causal_mask(n):
    return n
"""


@pytest.mark.parametrize("way", TAKES)
def test_what_a_learner_takes_away_is_the_learners(sandbox, way):
    answer = ask(sandbox, TAKES[way] + "\n" + RIGHT)[0]
    assert "error" in answer or answer["value"]["value"] == "4"


def test_what_a_learner_leaves_behind_does_not_look_like_a_fault(sandbox):
    _, answered = ask(sandbox, LEAVES, "leaves", "causal_mask")
    assert answered["value"]["value"] == "3"


BROKEN = b"\n\nimport nothing_of_that_name\n"


def judged(files):
    answer_key = live_answer_key("ps2", GradingPolicy(b"s" * 20))
    return judge_problem_set(files, answer_key, open_sandbox(), only=["dot_product.scaled_dot_product_attention"])


@pytest.fixture
def forgotten(monkeypatch):
    monkeypatch.setattr(own_modules, "_fit", set())


def test_a_module_of_ours_that_cannot_be_imported_gives_no_grade(monkeypatch, forgotten):
    given = {name: text + BROKEN * (name == "_arguments.py") for name, text in judge.given_sources().items()}
    monkeypatch.setattr(judge, "given_sources", lambda: given)
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    checks = [check for result in judged(files) for check in result.checks]
    assert {check.verdict for check in checks} == {GRADER_ERROR}
    assert all("ModuleNotFoundError: No module named 'nothing_of_that_name'" in check.message for check in checks)


def test_a_module_of_ours_that_is_imported_in_a_function_alone_need_not_be_importable(monkeypatch, forgotten):
    """Triton is on few machines, and no learner's module imports it."""
    kernel = "_triton_attention.py"
    given = {name: text + BROKEN * (name == kernel) for name, text in judge.given_sources().items()}
    assert BROKEN in given[kernel]
    monkeypatch.setattr(judge, "given_sources", lambda: given)
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    assert {check.verdict for result in judged(files) for check in result.checks} == {PASSED}
    files["dot_product.py"] += BROKEN
    assert {check.verdict for result in judged(files) for check in result.checks} == {FAILED}


def test_a_module_of_a_learners_that_cannot_be_imported_is_a_mistake_and_ours_are_tried_once(monkeypatch, forgotten):
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    files["dot_product.py"] += (
        b"\n\nimport sys\nsys.modules['attention._arguments'] = None\nimport attention._arguments\n"
    )
    asked = []
    ask = own_modules.ask
    monkeypatch.setattr(own_modules, "ask", lambda *given: asked.append(1) or ask(*given))
    for _ in range(2):
        assert {check.verdict for result in judged(files) for check in result.checks} == {FAILED}
    assert len(asked) == 1


def test_what_runs_inside_has_all_that_it_imports():
    staged = {name.removesuffix(".py") for name in staging.SELFCHECK_MODULES}
    there = staged | {"handed"}  # comes with the exercises that need it
    for name in staged:
        tree = ast.parse((SELFCHECK / f"{name}.py").read_text(encoding="utf-8"))
        near = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level == 1]
        needed = {node.module or alias.name for node in near for alias in node.names}
        assert needed <= there, f"{name}.py imports {needed - there}, which the sandbox lacks: see SELFCHECK_MODULES"
