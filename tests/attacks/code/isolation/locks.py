# /// attack
# about = "locks a file that every sandbox sees, to hold the others up or to talk to them"
# module = "worked_example"
# base = "reference"
# deserves = {}
# ///
import fcntl
import os


def _reached():
    for path in ("/usr/bin/env", os.__file__):
        with open(path, "rb") as first, open(path, "rb") as second:
            try:
                fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(first, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                continue
            with open("/proc/locks") as lines:
                if any(f" {os.getpid()} " in line for line in lines):
                    return True
            try:
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody holds it: it was only said
            except OSError:
                return True
            for command in (fcntl.F_SETLEASE, fcntl.F_NOTIFY):
                try:
                    fcntl.fcntl(first, command, fcntl.F_RDLCK)
                    return True
                except OSError:
                    pass
    return False
