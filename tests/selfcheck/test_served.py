"""A process that waits with torch imported answers a terminal's commands as a process of their own would."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.release import bundle as releasing

from .terminals import LIMIT, Terminal, comes_true, terminal, unpack, variables

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="there is a server on Linux alone")

#: Stands before a module's own import of torch, and says whether somebody had imported it.
WITNESS = """
import os as _os, sys as _sys
with open(_os.environ["LOG"], "a") as _log:
    print("torch" in _sys.modules, _os.getcwd(), _os.environ.get("MARK"), file=_log)
import torch
"""
WHERE = "import sys; sys.path.insert(0, '.'); from selfcheck.served import socket_file; print(socket_file())"


class Course:
    """A bundle, a folder for sockets, and what the witness in the learner's module has said."""

    def __init__(self, folder: Path, private: Path) -> None:
        self.folder, self.private, self.log = folder, private, folder / "log"
        self.masks = folder / "attention" / "masks.py"
        (folder / "where.py").write_text(WHERE, "utf-8")
        self.plain = self.masks.read_text("utf-8").replace("\nimport torch\n", WITNESS, 1)
        self.answer("")

    def answer(self, body: str) -> None:
        """Write a body for causal_mask; "" for the stub."""
        text, self.body = self.plain, body
        if body:
            text = re.sub(r'raise NotImplementedError\("exercise 4\.2.*', lambda _: body, text, count=1)
            assert text != self.plain
        self.masks.write_text(text, "utf-8")

    @property
    def more(self) -> dict[str, str]:
        return {"SELFCHECK_SERVER": "300", "TMPDIR": str(self.private), "LOG": str(self.log)}

    def begin(self, mark: str = "") -> Terminal:
        self.log.write_text("")
        return Terminal(self.folder, ["4.2"], self.more | {"MARK": mark})

    def said(self) -> list[tuple[str, str]]:
        return [tuple(line.split(" ", 1)) for line in self.log.read_text().splitlines()]

    def sockets(self) -> list[Path]:
        return [path for path in self.private.glob("selfcheck-*/*") if path.is_socket()]

    def where(self, **more: str) -> str:
        """The socket that a command would look for now."""
        command = [sys.executable, "where.py"]
        done = subprocess.run(
            command, cwd=self.folder, env=variables(self.more | more), capture_output=True, text=True, timeout=LIMIT
        )
        return done.stdout.strip() or done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A course whose server waits: a first check has started it."""
    home = tmp_path_factory.mktemp("s")
    course = Course(unpack(releasing.bundle("ps3"), home / "course"), home)
    first = course.begin()
    assert first.ended() == 1, first.seen
    assert course.said()[0][0] == "False", "nothing had imported torch before"
    course.first = first.seen
    assert comes_true(lambda: bool(course.sockets())), "no server has started"
    yield course
    for path in course.sockets():
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(str(path))
            peer = struct.unpack("3i", server.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        os.kill(peer, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _nothing_answered(request: pytest.FixtureRequest) -> None:
    """Each test begins with the stub, whatever the one before it has written."""
    if "course" in request.fixturenames:
        request.getfixturevalue("course").answer("")


def test_the_second_check_imports_no_torch_and_says_the_same_where_the_caller_is(course: Course) -> None:
    second = course.begin(mark="second")
    assert second.ended() == 1
    assert course.said() == [("True", f"{course.folder} second")]
    assert second.seen == course.first


def test_an_answer_is_read_anew_each_time(course: Course) -> None:
    for body, code in (("return None", 1), ("keys = query_length if key_length is None else key_length", 1)):
        course.answer(body)
        command = course.begin()
        assert command.ended() == code
        assert "not started yet" not in command.seen
    course.answer("")
    command = course.begin()
    command.ended()
    assert "not started yet" in command.seen


def test_ctrl_c_ends_an_endless_loop_and_not_the_server(course: Course) -> None:
    course.answer('print("here", file=open(_os.environ["LOG"], "a"))\n    while True: pass')
    command = course.begin()
    assert comes_true(lambda: "here" in course.log.read_text())
    command.send(b"\x03")
    assert "while True: pass" in command.until("Does a loop never end?")
    assert command.ended() == 130
    assert course.said()[0][0] == "True" and _still_serves(course)


def test_code_that_ends_its_process_ends_that_alone(course: Course) -> None:
    for body, code in (("_os._exit(7)", 7), ("_os.kill(0, 9)", 137)):
        course.answer(body)
        assert course.begin().ended() == code
        assert course.said()[0][0] == "True" and _still_serves(course)


def test_a_debugger_reaches_the_terminal_through_it(course: Course) -> None:
    course.answer("breakpoint()")
    command = course.begin()
    command.until("(Pdb)")
    command.send(b"p 'answered', __name__\n")
    command.until("('answered', 'attention.masks')")
    command.send(b"q\n")
    command.until("you left the debugger")
    assert command.ended() == 130
    assert course.said()[0][0] == "True"


def test_a_command_whose_terminal_is_gone_ends(course: Course) -> None:
    course.answer('print(_os.getpid(), "here", file=open(_os.environ["LOG"], "a"))\n    while True: pass')
    command = course.begin()
    assert comes_true(lambda: "here" in course.log.read_text())
    worker = next(int(first) for first, second in course.said() if second == "here")
    command.kill()
    assert comes_true(lambda: not Path(f"/proc/{worker}").exists())


def test_two_commands_run_at_once(course: Course) -> None:
    # Each waits for the other: one after the other, neither would come to an end.
    course.answer(
        'log = _os.environ["LOG"]\n    print("here", file=open(log, "a"))\n'
        '    while open(log).read().count("here") < 2: pass\n    _os._exit(5)'
    )
    first = course.begin()
    assert comes_true(lambda: "here" in course.log.read_text())
    second = Terminal(course.folder, ["4.2"], course.more)
    assert (first.ended(), second.ended()) == (5, 5)
    assert [one for one, _ in (line.split(" ", 1) for line in course.log.read_text().splitlines() if " " in line)] == [
        "True",
        "True",
    ]


def test_a_change_of_selfcheck_or_of_what_python_reads_has_a_server_of_its_own(course: Course) -> None:
    now = course.where()
    assert [now] == [str(path) for path in course.sockets()]
    assert course.where(COLUMNS="80") == now
    assert course.where(OMP_NUM_THREADS="3") != now
    assert course.where(SELFCHECK_SERVER="no") == "None"
    words = course.folder / "selfcheck" / "words.py"
    before = words.stat()
    words.write_text(words.read_text("utf-8") + "\n", "utf-8")
    assert course.where() != now
    words.write_text(words.read_text("utf-8")[:-1], "utf-8")
    os.utime(words, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert course.where() == now


def test_a_folder_that_others_can_read_and_a_dead_server_count_as_none(
    course: Course, tmp_path_factory: pytest.TempPathFactory
) -> None:
    course.answer("")
    place = tmp_path_factory.mktemp("d")  # short: the name of a socket has a hundred bytes at most
    folder = place / f"selfcheck-{os.getuid()}"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert course.where(TMPDIR=str(place)) == "None"
    folder.chmod(0o700)
    path = course.where(TMPDIR=str(place))
    assert Path(path).parent == folder
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    course.log.write_text("")
    shown = terminal(course.folder, "4.2", more=course.more | {"TMPDIR": str(place)})
    assert "not started yet" in shown and course.said() == [("False", f"{course.folder} None")]


def test_it_ends_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    code = "import sys; from selfcheck import server; server._prepare = lambda: None; server.main(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", code, path], env=os.environ | {"SELFCHECK_SERVER": "0.3"}) as server:
        assert server.wait(LIMIT) == 0
    assert not path.exists()


def _still_serves(course: Course) -> bool:
    course.answer("")
    command = course.begin()
    return command.ended() == 1 and course.said()[0][0] == "True"
