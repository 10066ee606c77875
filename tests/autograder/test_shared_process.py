"""The process that answers all exercises: it ends when nobody wants more of it, and is asked no more than it has to."""

import os
from types import SimpleNamespace

import pytest

from autograder.answer_key.keys import live_answer_key
from autograder.course.paths import REFERENCE
from autograder.course.policy import GradingPolicy
from autograder.judge import limits, schedule
from autograder.judge.judge import judge_problem_set
from autograder.judge.protocol import Request, ask, ask_together
from autograder.judge.requests import HIDDEN, VISIBLE
from autograder.sandbox import fork_server_client
from autograder.sandbox.bubblewrap import open_sandbox
from autograder.sandbox.usage import Tally
from autograder.sandbox.worker_pool import is_fork_server_available
from selfcheck.verdict import FAILED, PASSED

from .test_own_failures import GIVEN, PLANS, sandbox_of

WAITS = """
import signal, time

def causal_mask(n):
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    time.sleep(1e6)
"""
RAISES = "def causal_mask(n):\n    size = n + 1\n    return [0][size]\n"


def require_a_fork_server(sandbox):
    if not is_fork_server_available(sandbox):
        pytest.skip("no namespaces within namespaces here: no process answers all exercises")


@pytest.mark.parametrize("way", ["forked", "own", "none"])
def test_code_that_waits_for_ever_is_ended_at_the_limit_with_all_that_it_used(way, monkeypatch):
    monkeypatch.setattr(limits, "JOINT_CPU_SECONDS", 0.25)
    late = vars(os) | {"kill": lambda *_: pytest.fail("the fork server should have ended it")}
    monkeypatch.setattr(fork_server_client, "os", SimpleNamespace(**late))
    tally, files = Tally(), GIVEN | {"masks.py": WAITS.encode()}
    with sandbox_of(way) as sandbox:
        if way == "forked":
            require_a_fork_server(sandbox)
        (answers,) = ask_together(files, [Request("masks.causal_mask", PLANS)], sandbox, lambda _: [], tally)
    assert answers["0"][0]["error"]["type"] == "Stopped"
    assert tally.used.complete == (way == "forked")


def test_an_exception_is_described_where_the_answer_counts():
    asked = GIVEN | {"masks.py": RAISES.encode()}, [Request("masks.causal_mask", PLANS)]
    shared, apart = ask_together(*asked, open_sandbox(), lambda _: []), ask(*asked, False, open_sandbox())
    shared, apart = (answers[0]["0"][0]["error"] for answers in (shared, apart))
    assert (apart["file"], apart["line"], apart["source"]) == ("masks.py", 3, "return [0][size]")
    assert [shared[name] == apart[name] for name in ("type", "kinds", "text", "line", "source")] == [
        *[True] * 3,
        *[False] * 2,
    ]


@pytest.fixture(scope="module")
def key():
    return live_answer_key("ps3", GradingPolicy(b"one process"))


@pytest.fixture
def asked(monkeypatch):
    """The exercises that are asked for apart, with whether their inputs are hidden."""
    require_a_fork_server(open_sandbox())
    asked, really = [], schedule.ask

    def ask(files, requests, *more):
        asked.extend((request.id, HIDDEN if request.hidden else VISIBLE) for request in requests)
        return really(files, requests, *more)

    monkeypatch.setattr(schedule, "ask", ask)
    return asked


def judged(key, **more):
    """The verdicts on the reference with something appended to some of its modules."""
    files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
    files |= {f"{module}.py": files[f"{module}.py"] + text.encode() for module, text in more.items()}
    return judge_problem_set(files, key, open_sandbox())


def test_a_module_that_python_cannot_read_is_asked_once_for_each_exercise(key, asked, monkeypatch):
    results = judged(key, masks="\n\ndef broken(:\n")
    numbers = [(result.exercise.id, VISIBLE) for result in results if result.exercise.module == "masks"]
    assert [part for part in asked if part[0].startswith("masks.")] == numbers
    assert all(check.verdict == FAILED for result in results[:1] for check in result.checks)

    monkeypatch.setattr(schedule, "_is_unreadable", lambda answers: False)
    asked.clear()
    assert judged(key, masks="\n\ndef broken(:\n") == results, "to ask for all of it tells nothing more"
    assert [part for part in asked if part[0].startswith("masks.")] == [*numbers, *((id, HIDDEN) for id, _ in numbers)]


def test_a_module_that_raises_the_same_by_itself_is_asked_for_everything(key, asked):
    """In one process alone: no other may be taken at that one's word."""
    once = "\nimport os\nif os.getpid() == 1:\n    raise SyntaxError('only here')\n"
    results = judged(key, masks=once)
    assert all(result.passed for result in results if result.exercise.module == "masks")
    assert {part[1] for part in asked} == {VISIBLE, HIDDEN} and results[0].checks[0].verdict == PASSED


RECORDED = """

_right = scaled_dot_product_attention


def scaled_dot_product_attention(*args, **kwargs):
    output, weights = _right(*args, **kwargs)
    return (output + 1 if output.requires_grad else output), weights
"""


def test_an_answer_is_right_there_only_if_its_numbers_are_where_gradients_are_recorded(key):
    (attention,) = [one for one in judged(key, dot_product=RECORDED) if one.exercise.module == "dot_product"]
    assert [check.check for check in attention.checks if not check.points] == ["masked_empty_gradient"]
