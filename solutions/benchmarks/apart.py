"""Runs a function in a process of its own: its memory and its threads are then its own too."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """What function(*arguments) returns, or its exception; all must be importable or picklable.

    A server that has imported torch, but computed nothing, forks the process, which takes milliseconds. Where there is
    no fork, a new interpreter starts. Raises RuntimeError where the process dies without an answer.
    """
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload(["torch", "torch.nn.attention", "benchmarks.attention_rows"])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, function, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        right, found = ours.recv()
    except EOFError:
        process.join()
        raise RuntimeError(
            f"{function.__name__}{arguments} ended without an answer, exit code {process.exitcode}; out of memory?"
        ) from None
    finally:  # also when interrupted
        ours.close()
        process.join(timeout=1)
        if process.is_alive():
            process.kill()
            process.join()
    if not right:
        raise found
    return found


def _answer(connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this process
    try:
        answer = True, function(*arguments)
    except Exception as error:
        answer = False, error
    connection.send(answer)
    connection.close()
