"""Shares judging out among workers: the threads of this process, or a Dask cluster that is there already."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..answer_key.keys import AnswerKey
from ..cores import cores
from ..sandbox.worker_pool import start_fork_server
from .result import Result
from .task import Task, judge_task

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 30  # for a scheduler to answer, and for its first worker
AHEAD = 3  # submissions that are with the workers, for each of their cores: none waits, and memory stays flat
Name = TypeVar("Name")


class NoCluster(RuntimeError):
    """There are no workers to be had; the text says what to do."""


def judged(
    items: Iterable[tuple[Name, Task | Result | Exception]],
    answer_key: Callable[[str], AnswerKey],
    scheduler: str | None = None,
) -> Iterator[tuple[Name, Result | Exception]]:
    """What becomes of each task, as they are done: its result, or why there is none; what is no task, as it is.

    answer_key: gives that of a problem set; it is called once for each that there is something to judge of
    scheduler: address of a Dask cluster, tcp://… or tls://…; None for the threads of this process
    Tasks of the same content are judged once. A worker that dies costs nothing: others take what it had.
    Raises NoCluster where there are no workers.
    """
    names: dict[str, list[Name]] = {}
    with ExitStack() as stack:
        workers: Workers | None = None
        for name, task in items:
            if not isinstance(task, Task):
                yield name, task
                continue
            if scheduler is None:
                start_fork_server(task.isolation)
            workers = workers or stack.enter_context(opened(scheduler))
            if task.problem_set not in workers.answer_keys:
                workers.share(answer_key(task.problem_set))
            key = f"attention-{task.isolation}-{task.key}"
            if key not in names:
                names[key] = []
                workers.submit(key, task)
            names[key].append(name)
            while len(names) >= AHEAD * workers.threads:
                yield from _next(workers, names)
        while workers and names:
            yield from _next(workers, names)


def _next(workers: Workers, names: dict[str, list[Name]]) -> Iterator[tuple[Name, Result | Exception]]:
    key, outcome = workers.next_done()
    for name in names.pop(key):
        yield name, outcome


class Workers(Protocol):
    """Those who judge, seen from the one who asks."""

    #: By problem set, what was shared.
    answer_keys: dict[str, Any]

    @property
    def threads(self) -> int:
        """How many submissions they judge at a time; others may have joined them, or left."""

    def share(self, answer_key: AnswerKey) -> None:
        """Give all of them an answer key, before the first task that needs it."""

    def submit(self, key: str, task: Task) -> None:
        """Have a task judged; key: by which `next_done` names it."""

    def next_done(self) -> tuple[str, Result | Exception]:
        """What is done next, and what became of it."""


@contextmanager
def opened(scheduler: str | None = None) -> Iterator[Workers]:
    """The workers of a cluster, or of this process."""
    if scheduler is None:
        pool = ThreadPoolExecutor(AHEAD * cores(), thread_name_prefix="judge")  # of which most wait, see periods.py
        try:
            yield _Threads(pool)
        finally:
            pool.shutdown(cancel_futures=True)
        return
    with _connected(scheduler) as client:
        yield _Cluster(client)


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """A client of a scheduler; certificates for tls:// stand in Dask's own settings (distributed.comm.tls)."""
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # whatever matters comes back as an outcome
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        raise NoCluster(f"no scheduler answers at {scheduler} ({error}): start one with `dask scheduler`") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise NoCluster(
                f"the scheduler at {scheduler} has no workers: start some with `dask worker {scheduler}`"
            ) from None
        yield client


class _Threads:
    """The threads of this process."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.answer_keys: dict[str, AnswerKey] = {}
        self._pool = pool
        self._waiting: dict[Future[Result], str] = {}

    @property
    def threads(self) -> int:
        return cores()

    def share(self, answer_key: AnswerKey) -> None:
        self.answer_keys[answer_key.problem_set] = answer_key

    def submit(self, key: str, task: Task) -> None:
        self._waiting[self._pool.submit(judge_task, task, self.answer_keys[task.problem_set])] = key

    def next_done(self) -> tuple[str, Result | Exception]:
        future = next(iter(wait(self._waiting, return_when=FIRST_COMPLETED).done))
        return self._waiting.pop(future), _outcome(future)


class _Cluster:
    """The workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        from distributed import as_completed

        self.answer_keys: dict[str, Any] = {}
        self._client, self._done = client, as_completed()

    @property
    def threads(self) -> int:
        return max(1, sum(self._client.nthreads().values()))

    def share(self, answer_key: AnswerKey) -> None:
        # A task of its own, and not scattered data: where the workers that hold it die, the scheduler still has it.
        key = f"attention-answers-{answer_key.digest}"
        self.answer_keys[answer_key.problem_set] = self._client.submit(_received, answer_key, key=key)

    def submit(self, key: str, task: Task) -> None:
        self._done.add(self._client.submit(judge_task, task, self.answer_keys[task.problem_set], key=key))

    def next_done(self) -> tuple[str, Result | Exception]:
        future = next(self._done)
        return future.key, _outcome(future)


def _received(answer_key: AnswerKey) -> AnswerKey:
    return answer_key


def _outcome(future: Any) -> Result | Exception:
    try:
        return future.result()
    except Exception as error:  # one submission never stops the class
        return error
