"""Writes down which files of a repository this process opens; Python runs it where this folder is on PYTHONPATH."""

import contextlib
import os
import sys

LOG, ROOT = os.environ.get("WATCHED_LOG"), os.environ.get("WATCHED_ROOT")

if LOG and ROOT:
    log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen = set()

    def note(event, arguments):
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if path in seen or not path.startswith(ROOT + os.sep):
            return
        seen.add(path)
        with contextlib.suppress(OSError):  # a child may have closed what it inherited
            os.write(log, os.fsencode(path) + b"\n")

    sys.addaudithook(note)
