"""Checks NumPy exercises in a process of their own while this one imports torch.

The process is forked before the import begins, so that no check in it meets half of torch.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from multiprocessing import connection

from .catalogue import Exercise
from .learner import Learner, Stopped, stoppable
from .verdict import ExerciseResult

__all__ = ["NumpyChecks"]


class NumpyChecks:
    """A process that checks what it is given, until it is ended or this process ends."""

    def __init__(self) -> None:
        """OSError where nothing can be forked."""
        if not hasattr(os, "fork"):
            raise OSError("this system forks no process")
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._channel, theirs = connection.Pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                self._channel.close()
                _serve(theirs)
            finally:
                os._exit(0)
        theirs.close()

    def results(self, chosen: Sequence[Exercise], recalls: bool) -> list[ExerciseResult] | None:
        """The verdicts on these exercises, as `Learner` gives them; None where the process has ended.

        Raises Stopped where somebody stopped the check.
        """
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to both: that one stops
        try:
            self._channel.send((list(chosen), recalls))
            answer = self._channel.recv()
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        finally:
            signal.signal(signal.SIGINT, before)
        if isinstance(answer, Stopped):
            raise answer
        return list(answer)

    def end(self) -> None:
        """End the process, and wait until it has."""
        self._channel.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._process, 0)


def _serve(channel: connection.Connection) -> None:
    """Check whatever comes; EOFError or KeyboardInterrupt when nothing comes any more."""
    while True:
        chosen, recalls = channel.recv()
        answer: list[ExerciseResult] | Stopped
        try:
            with stoppable(), Learner(recalls).imported() as learner:
                answer = [learner.result(exercise) for exercise in chosen]
        except Stopped as stopped:
            answer = stopped
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        channel.send(answer)
