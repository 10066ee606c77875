# /// attack
# about = "locks a file that every sandbox sees, to hold the others up or to talk to them"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import fcntl
import os


def _reached():
    for path in ("/usr/bin/env", os.__file__, "/sandbox/code/start.py"):
        with open(path, "rb") as file:
            for lock in (
                lambda file=file: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
                lambda file=file: fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
            ):
                try:
                    lock()
                    return True
                except OSError:
                    pass
    return False
