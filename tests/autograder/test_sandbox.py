"""What submitted code can and cannot do."""

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE, ROOT
from autograder.judge import limits, protocol
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import SandboxUnavailable, open_sandbox
from autograder.sandbox.worker_pool import WorkerPool
from selfcheck.arrays import unpack
from selfcheck.plan import call, generator, iterator, tensor

from .outside_view import WAITS, kill_worker, until, waiting

GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}


@pytest.fixture(scope="module")
def sandbox():
    return open_sandbox()


def ask(sandbox, body, names=("masks.causal_mask",), torch=False):
    """The first answer to each exercise, from a module masks.py with this text."""
    requests = [protocol.Request(name, PLANS) for name in names]
    answers = protocol.ask(GIVEN | {"masks.py": body.encode()}, requests, torch, sandbox)
    return [one["0"][0] for one in answers]


def function(*lines):
    return "def causal_mask(n):\n" + "".join(f"    {line}\n" for line in lines)


def value_of(answer):
    assert "error" not in answer, answer
    return answer["value"]["value"]


def test_an_answer_comes_back(sandbox):
    assert value_of(ask(sandbox, function("return n + 1"))[0]) == "4"


def test_a_number_of_the_outside_is_not_seen(sandbox, monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", "s3cret")
    answer = ask(sandbox, function("import os", "return repr(sorted(os.environ))"))[0]
    assert "COURSE_TOKEN" not in answer["value"]["value"]


@pytest.mark.parametrize("path", [str(REFERENCE / "masks.py"), "/etc/passwd", "/sandbox/work/../../etc/shadow"])
def test_no_file_of_the_grader_is_in_reach(sandbox, path):
    answer = ask(sandbox, function(f"return open({path!r}).read()"))[0]
    assert answer["error"]["type"] == "FileNotFoundError"


def test_the_solution_is_nowhere_on_its_disk(sandbox):
    look = ["import os", f"root = {str(ROOT)!r}", "return ' '.join(os.listdir(root)) if os.path.isdir(root) else ''"]
    assert value_of(ask(sandbox, function(*look))[0]) in ("", ".venv")


def test_there_is_no_network(sandbox):
    answer = ask(sandbox, function("import socket", "socket.create_connection(('127.0.0.1', 22), 1)"))[0]
    refused = ("PermissionError",) if not sandbox.lacks else ("ConnectionRefusedError", "OSError")
    assert answer["error"]["type"] in refused
    devices = "[line for line in open('/proc/net/dev') if ':' in line]"
    assert value_of(ask(sandbox, function(f"return len({devices})"))[0]) in ("0", "1")  # the loopback device at most


def test_the_name_of_the_machine_is_not_seen(sandbox):
    assert value_of(ask(sandbox, function("import os", "return os.uname().nodename"))[0]) == "sandbox"


def test_it_is_not_root_and_cannot_write_its_own_code(sandbox):
    assert value_of(ask(sandbox, function("import os", "return os.getuid()"))[0]) != "0"
    answer = ask(sandbox, function("open('/sandbox/work/attention/masks.py', 'w')"))[0]
    assert answer["error"]["type"] in ("OSError", "PermissionError")


def test_it_has_no_capability_and_can_gain_none(sandbox):
    wanted = ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs")
    status = f"[line.split()[1] for line in open('/proc/self/status') if line.startswith({wanted})]"
    assert value_of(ask(sandbox, function(f"return ' '.join({status})"))[0]).split() == [*["0" * 16] * 4, "1"]


def test_it_sees_no_process_of_the_grader(sandbox):
    answer = ask(sandbox, function("import os", "return len([p for p in os.listdir('/proc') if p.isdigit()])"))[0]
    assert int(value_of(answer)) < 6


def test_an_endless_loop_costs_its_own_exercise(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 2.0)
    body = function("while True:", "    try:", "        pass", "    except BaseException:", "        pass")
    answers = ask(sandbox, body + "def other(n):\n    return n\n", ("masks.causal_mask", "masks.other"))
    assert "a loop that never ends" in answers[0]["error"]["text"]
    assert value_of(answers[1]) == "3"


def test_code_that_ignores_the_signal_of_the_limit_ends_a_second_later(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 1.0)
    ignoring = function("import signal", "signal.signal(signal.SIGXCPU, signal.SIG_IGN)", "while True: pass")
    answers = ask(sandbox, ignoring + "def other(n):\n    return n\n", ("masks.causal_mask", "masks.other"))
    assert "a loop that never ends" in answers[0]["error"]["text"]
    assert value_of(answers[1]) == "3"


def test_waiting_ends_too_but_a_busy_machine_costs_no_point(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "EXERCISE_CPU_SECONDS", 1.0)
    with monkeypatch.context() as patch:
        patch.setattr(limits, "WALL_CLOCK_FACTOR", 60.0)
        answer = ask(sandbox, function("import time", "time.sleep(1.5)", "return n"))[0]
        assert value_of(answer) == "3", "more by the clock than of the processor"
    answer = ask(sandbox, function("import time", "time.sleep(3600)"))[0]
    assert "longer than" in answer["error"]["text"]


def test_a_submission_has_a_budget(sandbox, monkeypatch):
    monkeypatch.setattr(limits, "PART_CPU_SECONDS", 0.5)
    monkeypatch.setattr(limits, "WALL_CLOCK_FACTOR", 200.0)  # the clock has no word in this
    body = function("import time", "while time.process_time() < 1:", "    pass", "return n")
    answers = ask(sandbox, body + "def other(n):\n    return n\n", ("masks.causal_mask", "masks.other"))
    assert value_of(answers[0]) == "3" and "not tried" in answers[1]["error"]["text"]


def test_memory_has_a_limit(sandbox):
    answer = ask(sandbox, function("return len(bytearray(20 * 2**30))"))[0]
    assert answer["error"]["type"] == "MemoryError"


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_code_that_ends_its_process_loses_that_exercise_only(sandbox, end):
    body = function("import os", end) + "def other(n):\n    return n\n"
    answers = ask(sandbox, body, ("masks.causal_mask", "masks.other"))
    assert answers[0]["error"]["type"] == "Stopped"
    assert value_of(answers[1]) == "3"


@pytest.mark.parametrize("attempt", ["os.kill(os.getppid(), 9)", "os.kill(-1, 9)"])
def test_code_cannot_end_the_process_that_relays_its_answers(sandbox, attempt):
    body = function("import os, contextlib", f"with contextlib.suppress(OSError): {attempt}", "return n")
    body += "def other(n):\n    return n\n"
    answers = ask(sandbox, body, ("masks.causal_mask", "masks.other"))
    assert [value_of(answer) for answer in answers] == ["3", "3"]


def test_a_flood_of_output_is_no_answer(sandbox):
    answer = ask(sandbox, function("print('x' * 10**8)", "return n"))[0]
    assert value_of(answer) == "3"
    answer = ask(sandbox, function("return list(range(10**6))"))[0]
    assert answer["value"]["kind"] == "other"


def test_a_forged_line_on_the_relay_is_no_answer(sandbox):
    forge = [
        "import os",
        "for descriptor in range(3, 64):",
        "    try:",
        '        os.write(descriptor, b\'{"place": 0, "said": "eyIwIjogW3sidmFsdWUiOiA3fV19"}\\n\')',
        "    except OSError:",
        "        pass",
        "return n",
    ]
    assert ask(sandbox, function(*forge))[0]["error"]["type"] == "Stopped"


OPENS = """
from autograder.sandbox.bubblewrap import SandboxUnavailable, open_sandbox
print(open_sandbox("auto").level)
try:
    open_sandbox()
except SandboxUnavailable as refused:
    print(refused)
"""


def test_without_bubblewrap_grading_stops_and_says_how_to_get_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OPENS], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    level, refusal = done.stdout.split("\n", 1)
    assert level == "none" and "the program bwrap is not installed" in refusal
    assert "apt-get install bubblewrap" in " ".join(refusal.split())


def test_a_bubblewrap_that_is_too_old_is_refused_and_says_so(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: Unknown option --size' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    tmp_path.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "_tried", {})
    monkeypatch.setattr(bubblewrap, "_command", lambda *_: [str(tmp_path / "bwrap")])
    with pytest.raises(
        SandboxUnavailable, match="Unknown option --size\nThis bubblewrap is too old: .* 0.7.0 or later"
    ):
        open_sandbox()


@pytest.mark.skipif(os.geteuid() != 0, reason="others can reach their own temporary folder")
@pytest.mark.parametrize("forks", [True, False], ids=["forked", "sandbox of its own"])
def test_a_temporary_folder_that_root_alone_can_reach_is_no_hindrance(tmp_path, monkeypatch, forks):
    (tmp_path / "mine").mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "mine"))
    monkeypatch.setattr(bubblewrap, "_tried", {})
    with WorkerPool(forks) as pool:
        assert value_of(ask(open_sandbox(pool=pool), function("return n"))[0]) == "3"


BUT_PROCESSES = [f"--unshare-{one}" for one in ("user", "ipc", "net", "uts")]
#: What takes a property away: parts of the command line, and what stands there instead.
TAKEN = {
    "no network": {"--unshare-all": ["--unshare-all", "--share-net"]},
    "no processes but its own": {"--unshare-all": BUT_PROCESSES, "--as-pid-1": [], "--proc": ["--ro-bind", "/proc"]},
    "no rights": {"--new-session": ["--new-session", "--cap-add", "ALL"]},
    "no environment": {"--clearenv": [word for number in range(20) for word in ("--setenv", f"N{number}", "1")]},
    "no writable files": {"/": ["/dev"]},
    "nothing private": {"--clearenv": ["--clearenv", "--ro-bind", __file__, "/private"]},
}


@pytest.mark.parametrize("name", TAKEN)
def test_where_a_property_that_matters_is_missing_nothing_is_graded(monkeypatch, name):
    open_sandbox(private=["/private"])  # with all of them
    whole = bubblewrap._command

    def command(*given):
        return [word for one in whole(*given) for word in TAKEN[name].get(one, [one])]

    monkeypatch.setattr(bubblewrap, "_tried", {})
    monkeypatch.setattr(bubblewrap, "_command", command)
    with pytest.raises(SandboxUnavailable, match=f"sandbox self-test failed: .*{name}"):
        open_sandbox(private=["/private"])


def test_without_isolation_the_same_answers_come_back():
    assert value_of(ask(open_sandbox("none"), function("return n + 1"))[0]) == "4"


def test_a_sandbox_that_never_starts_is_the_graders_fault():
    class Broken:
        level, lacks, pool = "bubblewrap", (), WorkerPool(forks=False)

        @contextmanager
        def command(self, stage, program):
            yield [os.path.realpath("/bin/false")], ()

    with pytest.raises(protocol.GraderFault):
        ask(Broken(), function("return n"))


def test_objects_that_a_step_hands_over_are_made_inside(sandbox):
    plans = {
        "step": {
            "calls": [
                call(generator=generator(3)).packed(),
                call(chunks=iterator(tensor([1.0, 2.0]), tensor([3.0]))).packed() | {"memory": True},
            ]
        }
    }
    body = "def causal_mask(generator=None, chunks=()):\n    import torch\n"
    body += "    return torch.rand(1, generator=generator) if generator else torch.cat(list(chunks))\n"
    files = GIVEN | {"masks.py": body.encode()}
    drawn, joined = protocol.ask(files, [protocol.Request("masks.causal_mask", plans)], True, sandbox)[0]["step"]
    assert drawn["drawn"] == {"generator": True, "": False}
    assert unpack(joined["value"]).values() == [1.0, 2.0, 3.0] and joined["largest"] == 3


@contextmanager
def met_from_outside(*deeds):
    """Has each of these done to one learner's process that waits, in turn; the processes."""
    met = []

    def act():
        for deed in deeds:
            (learner,) = until(lambda: waiting() - set(met))
            met.append(learner)
            deed(learner)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(act)
        yield met
        done.result()


def go_on(learner):
    learner.send_signal(signal.SIGUSR1)


def test_a_worker_that_dies_is_tried_again_and_costs_nothing(sandbox):
    with met_from_outside(kill_worker, go_on) as met:
        answers = ask(sandbox, WAITS)
    assert len(met) == 2 and value_of(answers[0]) == "3"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGABRT", "SIGSEGV", "SIGBUS"])  # no memory, thread, or page is left
def test_an_exercise_that_the_machine_ends_once_keeps_its_answer(sandbox, name):
    with met_from_outside(lambda learner: learner.send_signal(getattr(signal, name)), go_on) as met:
        answers = ask(sandbox, WAITS)
    assert len(met) == 2 and value_of(answers[0]) == "3"


def test_a_worker_that_dies_twice_is_the_graders_fault_and_no_zero(sandbox):
    with met_from_outside(kill_worker, kill_worker), pytest.raises(protocol.GraderFault, match="ended"):
        ask(sandbox, WAITS)


COVER = """
import os, subprocess, sys
from autograder.sandbox import linux

def mount(path):
    os.makedirs(path, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", path], check=True)
    open(f"{path}/here", "w").close()

place = sys.argv[1]
mount(place)
mount(f"{place}/a python")
mount(f"{place}/tab\\t or \\\\ or \\n")
with linux.kept_mounts_below(place, linux.mounted_places()):
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
print(sorted(os.listdir(place)), os.listdir(f"{place}/a python"))
"""


def test_an_interpreter_below_the_scratch_folder_is_there_when_that_is_emptied(tmp_path):
    command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", COVER, tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == str(["a python", "tab\t or \\ or \n"]) + " ['here']\n", done.stderr
