"""Shares judging out among Dask workers: the threads of this process, or a cluster that is there already."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

from ..sandbox.worker_pool import start_fork_server
from .cores import count
from .result import Task, Verdicts, verdicts

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 30  # seconds for a scheduler to answer, and for its first worker
AHEAD = 3  # submissions that are with the workers, for each of their threads: none waits, and memory stays flat
#: Nobody looks at what Dask would find out about the threads of this process, at their cost, and show on pages.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
LOCAL = "127.0.0.1:0"  # Dask listens for who wants to see a page even where there is none
Name, Outcome = TypeVar("Name"), TypeVar("Outcome")


class NoCluster(RuntimeError):
    """There are no workers to be had; the text says what to do."""


@contextmanager
def opened(scheduler: str | None = None) -> Iterator[Client]:
    """A client of the scheduler at an address, tcp://… or tls://…; None: of one in this process, for all its cores.

    Certificates for tls:// stand in Dask's own settings (distributed.comm.tls).
    Raises NoCluster where no scheduler answers, or it has no workers.
    """
    import dask
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # whatever matters comes back as an outcome
    if scheduler is None:
        own = {"n_workers": 1, "threads_per_worker": count(), "processes": False}
        with (
            dask.config.set(QUIET),
            LocalCluster(**own, dashboard_address=LOCAL, worker_dashboard_address=LOCAL, memory_limit=0) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise NoCluster(f"no scheduler answers at {scheduler} ({error}): start one with `dask scheduler`") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise NoCluster(
                f"the scheduler at {scheduler} has no workers: start some with `dask worker {scheduler}`"
            ) from None
        yield client


def judged(
    items: Iterable[tuple[Name, Task | Outcome]], scheduler: str | None = None
) -> Iterator[tuple[Name, Verdicts | Outcome | Exception]]:
    """What becomes of each task, as they are done: its verdicts, or why there are none; what is no task, as it is.

    Tasks of the same content are judged once. A worker that dies costs nothing: others take what it had.
    """
    waiting: dict[str, list[Name]] = {}
    with ExitStack() as stack:
        workers: _Workers | None = None
        for name, task in items:
            if not isinstance(task, Task):
                yield name, task
                continue
            if scheduler is None:
                start_fork_server(task.isolation)
            workers = workers or _Workers(stack.enter_context(opened(scheduler)))
            key = f"attention-{task.isolation}-{task.key}"
            if key not in waiting:
                workers.take(key, task)
            waiting.setdefault(key, []).append(name)
            while len(waiting) >= workers.most:
                yield from _next(workers, waiting)
        while workers and waiting:
            yield from _next(workers, waiting)


def _next(workers: _Workers, waiting: dict[str, list[Name]]) -> Iterator[tuple[Name, Verdicts | Exception]]:
    key, outcome = workers.give()
    for name in waiting.pop(key):
        yield name, outcome


class _Workers:
    """Those who judge, seen from the one who asks."""

    def __init__(self, client: Client) -> None:
        from distributed import as_completed

        self._client, self._done = client, as_completed()

    @property
    def most(self) -> int:
        """How many submissions are with them at a time; others may have joined them, or left."""
        return AHEAD * max(1, sum(self._client.nthreads().values()))

    def take(self, key: str, task: Task) -> None:
        self._done.add(self._client.submit(verdicts, task, key=key))

    def give(self) -> tuple[str, Verdicts | Exception]:
        """What is done next, and what became of it."""
        future = next(self._done)
        try:
            return future.key, future.result()
        except Exception as error:  # one submission never stops the class
            return future.key, error
