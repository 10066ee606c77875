"""Executes the stale notebooks side by side, one per core, before Sphinx reads the pages one after the other.

What ran well goes into the cache in which myst-nb then finds it. What failed does not, so that myst-nb runs it again,
alone, and reports it as it reports any failure.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def execute_stale(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Executes those of the named pages' notebooks that the cache does not hold."""
    if env.mystnb_config.execution_mode != "cache":
        return
    cache = get_cache(env.mystnb_config.execution_cache_path)
    stale = dict(_stale(env, names, cache))
    if not stale:
        LOG.info("every notebook is in the cache")
        return
    cores = _cores()
    LOG.info("executing %d stale notebooks, up to %d at a time", len(stale), cores)
    started = time.monotonic()
    with ThreadPoolExecutor(cores) as pool:  # each thread waits for a kernel, which is a process of its own
        waiting = {pool.submit(_execute, env, Path(path), notebook): path for path, notebook in stale.items()}
        for done in as_completed(waiting):
            _keep(cache, waiting[done], done.result())
    LOG.info("executed them in %.0f s", time.monotonic() - started)


def _stale(env: BuildEnvironment, names: list[str], cache: JupyterCacheAbstract) -> Iterator[tuple[str, NotebookNode]]:
    """Path and notebook of each page to execute; later chapters, which train longer, first."""
    seen = set()
    for name in sorted(names, key=lambda name: (name.startswith("chapters/"), name), reverse=True):
        path = env.doc2path(name)
        text = Path(path).read_text("utf-8")
        reader = create_nb_reader(path, env.myst_config, env.mystnb_config, text)
        if reader is None:  # a page without code
            continue
        notebook = reader.read(text)
        _, key = cache.create_hashed_notebook(notebook)
        if key in seen:  # two pages with the same code share an entry
            continue
        seen.add(key)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            yield path, notebook


def _execute(env: BuildEnvironment, path: Path, notebook: NotebookNode) -> ExecutionResult:
    config = env.mystnb_config
    return single_nb_execution(
        notebook,
        cwd=str(path.parent),
        timeout=config.execution_timeout,
        allow_errors=config.execution_allow_errors,
    )


def _keep(cache: JupyterCacheAbstract, path: str, result: ExecutionResult) -> None:
    if result.err is not None:
        LOG.info("%s: failed after %.1f s beside others; it gets one more run, alone", path, result.time)
        return
    bundle = CacheBundleIn(result.nb, path, data={"execution_seconds": result.time})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    LOG.info("%s: executed in %.1f s", path, result.time)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-before-read-docs", execute_stale)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
