"""Which system calls a submission may make: every one has been decided on, and what is not let pass is refused."""

import platform
import resource

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
#: uretprobe and uprobe, which the kernel shows to no filter; whoever makes them by hand is ended.
UNFILTERED = {335, 336}
ON_X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86-64")


def names(table):
    return (" ".join(table.values()) if isinstance(table, dict) else table).split()


DECIDED = {
    kind: names(getattr(system_calls, kind))
    for kind in ("ALLOWED", "LIMITED", "DONE", "MISSING", "ATTRIBUTES", "REFUSED")
}
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


def answer(*lines, before="", torch=False):
    """What a learner's function with these lines returns, as text."""
    body = f"import ctypes, errno, os\n{before}\ndef causal_mask(n):\n" + "".join(f"    {line}\n" for line in lines)
    files = GIVEN | {"masks.py": body.encode()}
    (answers,) = protocol.ask(files, [protocol.Request("masks.causal_mask", PLANS)], torch, open_sandbox())
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
        "    result, refusals = kernel(number, -1, -1, -1, -1, -1, -1), (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)",
        "    if result != -1 or ctypes.get_errno() not in refusals:",
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
    "large pages": (9, 0, 2**21, 3, 0x40022, -1, 0),
    "a filter of its own": (157, 22, 2, 0, 0, 0),
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
            "os.fsync(os.pipe()[0])",  # which the kernel would refuse
            "os.fdatasync(os.pipe()[0])",
            "assert ctypes.CDLL(None).msync(ctypes.c_void_p(4096), ctypes.c_size_t(4096), 4) == 0",  # likewise
            "assert ctypes.CDLL(None).msync(ctypes.c_void_p(4096), ctypes.c_size_t(4096), 1) == -1",
            "for advice in (12, 20, 21):  # of no page: likewise",
            "    assert ctypes.CDLL(None).madvise(ctypes.c_void_p(1), ctypes.c_size_t(1), advice) == 0",
            "table = sqlite3.connect('/tmp/data')",
            "table.execute('create table t (n)')",
            "table.commit()",
            "return open('/proc/locks').read().count(f' {os.getpid()} ')",
        )
        == "0"
    )


TALKS = """
import asyncio, concurrent.futures, logging, select, shutil, signal, subprocess, sys, tempfile, threading

async def talk():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(5)", stdout=subprocess.PIPE)
    said, _ = await child.communicate()
    server = await asyncio.start_unix_server(lambda _, to: (to.write(b"hi"), to.close()), "/tmp/talk")
    reads, writes = await asyncio.open_unix_connection("/tmp/talk")
    heard = await reads.read()
    writes.close()
    server.close()
    return said.strip() + heard
"""


def test_threads_processes_events_and_files_work():
    said = answer(
        "done, folder = [], tempfile.mkdtemp()",
        "threads = [threading.Thread(target=done.append, args=(one,)) for one in range(8)]",
        "for one in threads: one.start()",
        "for one in threads: one.join()",
        "with concurrent.futures.ProcessPoolExecutor(2) as pool: done += pool.map(abs, [-9, -8])",
        "open(folder + '/one', 'w').write('text')",
        "shutil.copytree(folder, folder + '2')",
        "subprocess.run(['cp', '-a', folder + '/one', folder + '/two'], check=True)",
        "os.utime(folder + '/two')",
        "signal.signal(signal.SIGALRM, lambda *_: done.append(10))",
        "signal.setitimer(signal.ITIMER_REAL, 0.01)",
        "signal.pause()",
        "logging.basicConfig(filename=folder + '/log')",
        "return str((sorted(done), asyncio.run(talk()), sorted(os.listdir(folder))))",
        before=TALKS,
    )
    assert said == str(([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], b"5hi", ["log", "one", "two"]))


SHARES = """
import torch, torch.multiprocessing

def doubled(queue, shared):
    shared += 1
    queue.put((shared * 2).tolist())
"""


def test_torch_shares_tensors_between_processes():
    said = answer(
        "start = torch.multiprocessing.get_context('fork')",
        "queue, shared = start.Queue(), torch.zeros(2).share_memory_()",
        "child = start.Process(target=doubled, args=(queue, shared))",
        "child.start()",
        "heard = queue.get()",
        "child.join()",
        "return str((heard, shared.tolist()))",
        before=SHARES,
        torch=True,
    )
    assert said == "([2.0, 2.0], [1.0, 1.0])"


CORE = """
import resource

def limits():
    return resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE)
"""


@ON_X86
def test_a_process_that_crashes_starts_no_program_outside_and_cannot_change_that():
    """At a limit of 1 byte, and of no other number, Linux starts no program that takes what the process held."""
    core = 0 if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 else 1
    assert answer(
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
        "resource.prlimit(0, resource.RLIMIT_CORE, (0, 0))",
        "kernel, zeros = ctypes.CDLL(None).syscall, (ctypes.c_ulong * 2)()",
        "high = ctypes.c_ulong(1 << 32 | resource.RLIMIT_CORE)",
        "assert kernel(160, high, zeros) == kernel(302, 0, high, zeros, None) == 0",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (32, 64))",
        "return str(limits())",
        before=CORE,
    ) == str(((core, core), (32, 64)))


def test_nobody_takes_what_the_user_has_a_number_of():
    """Places to wait at, of which all submissions and the grader have so many together: asyncio does without."""
    assert (
        answer(
            "try:",
            "    select.epoll()",
            "except OSError as error:",
            "    return error.strerror",
            before="import select",
        )
        == "Function not implemented"
    )


def test_a_filter_that_cannot_be_had_is_none(monkeypatch):
    monkeypatch.setattr(seccomp, "_libseccomp", lambda: None)
    seccomp.program.cache_clear()
    seccomp.no_processes.cache_clear()
    seccomp.last.cache_clear()
    try:
        assert seccomp.program() is None and seccomp.no_processes() == seccomp.last() == b""
    finally:
        monkeypatch.undo()
        seccomp.program.cache_clear()
        seccomp.no_processes.cache_clear()
        seccomp.last.cache_clear()
