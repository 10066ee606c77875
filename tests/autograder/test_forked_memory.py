"""What a forked process costs: the pages that it has copied, and the looks at its memory."""

import os
import subprocess
import sys

from autograder.sandbox import usage

#: Leaves small free pieces of memory all over a heap of 32 MiB, and forks: the child allocates some of their size.
FORKS = """
import ctypes, os, resource, sys
from autograder.sandbox.linux import use_up_free_memory

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
pieces = [library.malloc(104) for _ in range(300_000)]
for piece in pieces[::40]:
    library.free(piece)
if sys.argv[1] == "used up":
    use_up_free_memory()
child = os.fork()
if child == 0:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5000):
        library.malloc(104)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def _pages_copied(how):
    done = subprocess.run([sys.executable, "-c", FORKS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_forked_process_allocates_where_nothing_else_lies():
    # 5,000 pieces of 112 bytes fill 137 pages, and lie in 5,000 of them where each takes one that was free.
    assert _pages_copied("used up") < 600 < 3000 < _pages_copied("as it is")


def test_the_machines_processes_are_listed_once_for_all_who_look_together(monkeypatch):
    monkeypatch.setattr(usage, "LIST_WALL_SECONDS", 3600.0)
    monkeypatch.setattr(usage, "_processes", usage._Processes())
    lists, parents = [], usage._parents
    monkeypatch.setattr(usage, "_parents", lambda: lists.append(None) or parents())
    with _sleeping() as one, _sleeping() as other:
        watches = usage.UsageWatch(), usage.UsageWatch()
        assert all(watch.look(process.pid, 0) > 0 for watch, process in zip(watches, (one, other), strict=True))
        assert len(lists) == 1
        monkeypatch.setattr(usage, "LIST_WALL_SECONDS", 0.0)
        with _sleeping() as third:
            assert {one.pid, other.pid, third.pid} <= {process.pid for process in usage._below(os.getpid())}
        assert len(lists) == 2


def test_a_process_that_has_the_number_of_another_by_now_is_not_counted(monkeypatch):
    with _sleeping() as ours, _sleeping() as strange:
        monkeypatch.setattr(usage, "_processes", usage._Processes())
        monkeypatch.setattr(usage, "_parents", lambda: iter([(strange.pid, ours.pid)]))
        watch = usage.UsageWatch()
        watch.look(ours.pid, 0)
        assert {process.pid for process in watch._seconds} == {ours.pid}


def _sleeping():
    return subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
