"""Which system calls a submission may make: every one has been decided on, and what is not let pass is refused."""

import platform

import pytest

from autograder.build.stubs import given_files
from autograder.course.paths import REFERENCE
from autograder.judge import protocol
from autograder.sandbox import seccomp, system_calls
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck.plan import call

pyseccomp = pytest.importorskip("pyseccomp")
GIVEN = {name: (REFERENCE / name).read_bytes() for name in given_files()}
PLANS = {"0": {"calls": [call(3).packed()], "gradient": False}}
MOST = 600  # numbers of system calls: a kernel of today has fewer than 480
UNFILTERED = {
    335,
    336,
}  # uretprobe and uprobe, which the kernel shows to no filter, and ends whoever makes them by hand
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")


def names(table):
    return (" ".join(table.values()) if isinstance(table, dict) else table).split()


DECIDED = {kind: names(getattr(system_calls, kind)) for kind in ("ALLOWED", "LIMITED", "DONE", "MISSING", "REFUSED")}
PASSING = {*DECIDED["ALLOWED"], *DECIDED["LIMITED"], *DECIDED["DONE"]}


def name_of(arch, number):
    try:
        return pyseccomp.resolve_syscall(arch, number).decode()
    except ValueError:
        return ""


def known():
    """Every system call of the processors that the grader runs on, as far as this libseccomp knows them."""
    arches = (pyseccomp.Arch.X86_64, pyseccomp.Arch.AARCH64)
    return {name_of(arch, number) for arch in arches for number in range(MOST)} - {""}


def answer(*lines):
    """What a learner's function with these lines returns, as text."""
    body = "import ctypes, errno, os\n\ndef causal_mask(n):\n" + "".join(f"    {line}\n" for line in lines)
    files = GIVEN | {"masks.py": body.encode()}
    (answers,) = protocol.ask(files, [protocol.Request("masks.causal_mask", PLANS)], False, open_sandbox())
    assert "error" not in answers["0"][0], answers["0"][0]
    return answers["0"][0]["value"]["value"]


def test_every_call_is_decided_on_once():
    every = [name for kind in DECIDED.values() for name in kind]
    assert sorted(every) == sorted(set(every))
    assert known() >= PASSING, "what is let pass is spelt as the kernel spells it"
    assert len(known() & set(every)) > 360  # what a later libseccomp knows besides is refused


@ON_X86
def test_the_kernel_refuses_every_number_that_is_not_let_pass():
    passing = {number for number in range(MOST) if name_of(pyseccomp.Arch.X86_64, number) in PASSING}
    numbers = sorted({*range(MOST)} - passing - UNFILTERED)
    assert len(numbers) > 300
    tried = answer(
        "kernel, passed = ctypes.CDLL(None, use_errno=True).syscall, []",
        f"for number in {numbers}:",
        "    ctypes.set_errno(0)",
        "    if kernel(number, -1, -1, -1, -1, -1, -1) != -1 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):",
        "        passed.append((number, errno.errorcode.get(ctypes.get_errno())))",
        "return str(passed)",
    )
    assert tried == "[]"


HIGH = 1 << 32  # a bit that the kernel ignores and a filter sees
#: Number and arguments of a call that is let pass with others.
PARTS = {
    "how children end, high": (13, HIGH | 17, "act", 0, 8),
    "namespaces": (56, 0x10000011, 0, 0, 0, 0),
    "the Internet": (41, 2, 1, 0),
    "a pair elsewhere": (53, 30, 1, 0, "room"),
    "limits of another process": (302, 1, 7, 0, "room"),
    "limits of another process, high": (302, HIGH | 1, 7, 0, "room"),
    "a read that does not wait": (327, "file", "vector", 1, 0, 0, 8),
    "a lease": (72, "file", 1024, 0),
    "a lease, high": (72, "file", HIGH | 1024, 0),
    "a larger pipe": (72, "pipe", 1031, 2**20),
    "flags of a file system": (16, "file", 0x80086601, "room"),
    "a filter on a socket": (54, "socket", 1, 26, "room", 16),
    "core scheduling": (157, 62, 1, 0, 0, 0),
    "core scheduling, high": (157, HIGH | 62, 1, 0, 0, 0),
}


@ON_X86
def test_a_call_that_is_let_pass_in_part_is_refused_with_other_arguments():
    tried = answer(
        "import socket",
        "file, one = os.open(os.__file__, os.O_RDONLY), socket.socket(socket.AF_UNIX)",
        "room, data = ctypes.create_string_buffer(256), ctypes.create_string_buffer(16)",
        "vector = (ctypes.c_size_t * 2)(ctypes.addressof(data), 16)",
        "names = {'file': file, 'pipe': os.pipe()[1], 'socket': one.fileno(), 'room': room, 'vector': vector,",
        "         'act': (ctypes.c_size_t * 4)(1, 0x04000000, 0, 0)}",  # SIG_IGN
        "kernel, found = ctypes.CDLL(None, use_errno=True).syscall, []",
        f"for title, (number, *arguments) in {PARTS}.items():",
        "    arguments = [names.get(one, one) for one in arguments]",
        "    arguments = [ctypes.c_size_t(one) if isinstance(one, int) else one for one in arguments]",
        "    ctypes.set_errno(0)",
        "    result = kernel(number, *arguments)",
        "    refusals = (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EOPNOTSUPP)",
        "    if result != -1 or ctypes.get_errno() not in refusals:",
        "        found.append((title, result, ctypes.get_errno()))",
        "return str(found)",
    )
    assert tried == "[]"


def test_what_is_answered_as_done_is_not_done():
    assert (
        answer(
            "import fcntl, sqlite3, signal",
            "one, two = open('/tmp/lock', 'w'), open('/tmp/lock', 'w')",
            "fcntl.flock(one, fcntl.LOCK_EX)",
            "fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB)",
            "fcntl.lockf(one, fcntl.LOCK_EX)",
            "os.posix_fadvise(one.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)",
            "os.sync()",
            "table = sqlite3.connect('/tmp/data')",
            "table.execute('create table t (n)')",
            "table.commit()",
            "return open('/proc/locks').read().count(f' {os.getpid()} ')",
        )
        == "0"
    )


def test_a_filter_that_cannot_be_had_is_none(monkeypatch):
    monkeypatch.setattr(seccomp, "_libseccomp", lambda: None)
    seccomp.program.cache_clear()
    seccomp.no_processes.cache_clear()
    try:
        assert seccomp.program() is None and seccomp.no_processes() == b""
    finally:
        monkeypatch.undo()
        seccomp.program.cache_clear()
        seccomp.no_processes.cache_clear()
