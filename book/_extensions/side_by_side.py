"""Gives every page its outputs before Sphinx reads it: from its record, or by executing it, one page per core.

A record is used where nothing has changed that the page depends on. What ran well goes on record and into the cache in
which myst-nb finds it. What failed does not, so that myst-nb runs it again, alone, and reports it as any failure.
"""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from autograder.build import executed_pages
from autograder.build.executed_pages import SETTINGS, Record

LOG = logging.getLogger(__name__)
IN_THE_KERNEL = Path(__file__).parent / "in_the_kernel"


@dataclass(frozen=True)
class Page:
    """A page with code cells, or none but a kernel, and what these depend on."""

    name: str
    path: Path
    notebook: NotebookNode
    depends: dict[str, Any] | None  # None: its code is not Python, as executing it will show


def give_outputs(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Takes the named pages' outputs from their records and executes the other pages."""
    if env.mystnb_config.execution_mode != "cache":
        return
    shutil.rmtree(env.mystnb_config.execution_cache_path, ignore_errors=True)
    pages = list(_pages(env, names))
    stale = [page for page in pages if not _take(app, env, page)]
    LOG.info("%d of %d pages with code are on record", len(pages) - len(stale), len(pages))
    if not stale:
        return
    cores = _cores()
    LOG.info("executing %d stale pages, up to %d at a time", len(stale), cores)
    started = time.monotonic()
    with ThreadPoolExecutor(cores) as pool:  # each thread waits for a kernel, which is a process of its own
        waiting = {pool.submit(_execute, env, page): page for page in stale}
        for done in as_completed(waiting):
            _keep(app, env, waiting[done], done.result())
    LOG.info("executed them in %.0f s", time.monotonic() - started)


def _pages(env: BuildEnvironment, names: list[str]) -> Iterator[Page]:
    """The pages that are notebooks; later chapters, which train longer, first."""
    for name in sorted(names, key=lambda name: (name.startswith("chapters/"), name), reverse=True):
        path = Path(env.doc2path(name))
        text = path.read_text("utf-8")
        reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
        if reader is not None:
            notebook = reader.read(text)
            depends = None
            with suppress(SyntaxError):
                depends = executed_pages.depends_on(name, notebook, Path(env.srcdir))
            yield Page(name, path, notebook, depends)


def _take(app: Sphinx, env: BuildEnvironment, page: Page) -> bool:
    """Whether a page has its outputs without being executed: it has no code, or a record that holds."""
    if not any(cell.cell_type == "code" for cell in page.notebook.cells):
        _into_cache(env, page, page.notebook, 0.0)
        return True
    if app.config.executed_anew or page.depends is None:
        return False
    for folder in _folders(app):
        record = executed_pages.read(folder, page.name)
        if not executed_pages.changes(record, page.depends):
            if app.config.executed_write and folder != _folders(app)[0]:
                record.write(_folders(app)[0])
            _into_cache(env, page, record.fill(page.notebook), record.seconds)
            return True
    reasons = executed_pages.changes(executed_pages.read(_folders(app)[0], page.name), page.depends)
    LOG.info("%s is stale: %s%s", page.name, "; ".join(reasons[:3]), "; …" if len(reasons) > 3 else "")
    return False


@dataclass(frozen=True)
class Execution:
    """A page's executed notebook, what went wrong, seconds, and the files that were opened."""

    notebook: NotebookNode
    problem: Exception | None
    seconds: float
    opened: tuple[str, ...]


def _execute(env: BuildEnvironment, page: Page) -> Execution:
    config = env.mystnb_config
    started, problem = time.monotonic(), None
    notebook = copy.deepcopy(page.notebook)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "opened"
        log.touch()
        paths = filter(None, [str(IN_THE_KERNEL), os.environ.get("PYTHONPATH")])
        kernel = {**os.environ, **SETTINGS, "FILES_OPENED": str(log), "PYTHONPATH": os.pathsep.join(paths)}
        client = NotebookClient(
            notebook,
            timeout=config.execution_timeout,
            allow_errors=config.execution_allow_errors,
            resources={"metadata": {"path": str(page.path.parent)}},
        )
        try:
            client.execute(env=kernel)
        except (CellControlSignal, DeadKernelError) as error:
            problem = error
        opened = sorted(set(log.read_text("utf-8", "replace").splitlines()))
    return Execution(notebook, problem, time.monotonic() - started, tuple(opened))


def _keep(app: Sphinx, env: BuildEnvironment, page: Page, execution: Execution) -> None:
    """Puts what ran well into the cache and, where its dependencies are known, on record."""
    seconds = execution.seconds
    if execution.problem is not None:
        LOG.info("%s: failed after %.1f s beside others; it gets one more run, alone", page.name, seconds)
        return
    LOG.info("%s: executed in %.1f s", page.name, seconds)
    record = Record.of(page.name, page.depends or {}, execution.notebook, seconds)
    _into_cache(env, page, record.fill(page.notebook), seconds)
    if page.depends is None:
        return
    if uncovered := executed_pages.uncovered(execution.opened, page.depends):
        text = "%s opened %s, which no import and no name in its code leads to; it cannot go on record"
        LOG.warning(text, page.name, ", ".join(uncovered))
        return
    committed, local = _folders(app)
    before = executed_pages.read(committed, page.name)
    if app.config.executed_anew and not executed_pages.changes(before, page.depends):
        for difference in executed_pages.differences(before, record, page.notebook):
            LOG.warning("%s: %s", page.name, difference)
    record.write(committed if app.config.executed_write else local)


def _into_cache(env: BuildEnvironment, page: Page, executed: NotebookNode, seconds: float) -> None:
    cache = get_cache(env.mystnb_config.execution_cache_path)
    bundle = CacheBundleIn(executed, str(page.path), data={"execution_seconds": seconds})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _folders(app: Sphinx) -> tuple[Path, Path]:
    """Where committed records lie, and where those of this machine."""
    source = Path(app.srcdir)
    return source / app.config.executed_committed, source / app.config.executed_local


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("executed_committed", "executed", "")
    app.add_config_value("executed_local", "_build/executed", "")
    app.add_config_value("executed_anew", os.environ.get("EXECUTE_ANEW") == "yes", "")
    app.add_config_value("executed_write", os.environ.get("EXECUTED_WRITE") == "yes", "")
    app.connect("env-before-read-docs", give_outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
