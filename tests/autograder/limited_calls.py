"""What test_limited has run in a process of its own."""

import os
import signal

PREPARED = []


def prepare():
    PREPARED.append(os.getpid())


def who(first):
    """The process that was prepared, this one and that one's parent."""
    yield first, PREPARED, os.getpid()


def hears(sign, ended_by):
    """A word, and then what ends the process."""
    yield sign
    ended_by()
    yield "never said"


def runs_on():
    while True:
        pass


def takes_memory():
    kept = []
    while True:
        kept.append(bytearray(2**20))


def goes_round():
    goes_round()


def crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def objects():
    raise ValueError("no zip")
