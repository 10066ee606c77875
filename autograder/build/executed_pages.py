"""Keeps what the code cells of a page printed and drew, for as long as nothing changes that they depend on.

A page depends on its code cells, on the files of the repository that they import or read, on those that these import,
and so on (`import_closure`), on the versions of the installed packages that this code imports and of those that these
need, on Python's minor version, the system, the kind of processor, whether there is a GPU, and on `SETTINGS`.
A record that differs in any of these is not used. It does not depend on the model of the processor: what a page
measures was measured on the machine that executed it, and its record names that machine.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from selfcheck.atomic_files import write_atomically

from ..course.paths import BOOK, ROOT
from .cell_outputs import MEASURED, joined, kinds, words
from .import_closure import closure_of_code

__all__ = [
    "COMMITTED",
    "LOCAL",
    "SETTINGS",
    "Record",
    "changes",
    "depends_on",
    "differences",
    "notebooks_of_pages",
    "read",
    "stale",
    "uncovered",
]

COMMITTED = BOOK / "executed"  # what the repository holds
LOCAL = BOOK / "_build" / "executed"  # what was executed here and is not committed
#: The environment in which every page is executed.
SETTINGS = {
    "OMP_NUM_THREADS": "1",  # torch's first multi-threaded exp of a process is not always right
    "KERAS_BACKEND": "torch",
    "PYTHONHASHSEED": "0",
}
#: What turns a value into an output, whatever a page imports.
RENDERERS = ("IPython", "ipykernel", "matplotlib_inline", "nbclient")
KERNEL_TELLS = ("language_info", "widgets")
TAGS = {"raises-exception", "skip-execution"}  # the tags that decide how a cell is executed
MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """Where and when a page was executed."""

    date: str
    python: str
    torch: str
    processor: str
    cores: int

    @classmethod
    def this(cls) -> Machine:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        today = datetime.now(UTC).strftime("%Y-%m-%d")
        return cls(today, platform.python_version(), importlib.metadata.version("torch"), _processor(), cores)


@dataclass(frozen=True)
class Record:
    """The outputs of a page's code cells, one list per cell, and what they depend on."""

    page: str  # "chapters/04-masks"
    depends: dict[str, Any]
    outputs: list[list[dict[str, Any]]]
    metadata: dict[str, Any]  # of the notebook: what the kernel said of itself
    seconds: float
    machine: Machine

    @classmethod
    def of(cls, page: str, depends: dict[str, Any], executed: NotebookNode, seconds: float) -> Record:
        outputs = [joined(cell.outputs) for cell in _code_cells(executed)]
        told = {name: executed.metadata[name] for name in KERNEL_TELLS if name in executed.metadata}
        outputs, told = json.loads(json.dumps([outputs, told]))
        return cls(page, depends, outputs, told, round(seconds, 1), Machine.this())

    def fill(self, notebook: NotebookNode) -> NotebookNode:
        """Put the outputs into the page's notebook, as if it had just been executed."""
        for number, (cell, outputs) in enumerate(zip(_code_cells(notebook), self.outputs, strict=True), start=1):
            cell.outputs = [from_dict(output) for output in outputs]
            cell.execution_count = number
        notebook.metadata.update(from_dict(self.metadata))
        return notebook

    def write(self, folder: Path) -> Path:
        """Write the record below a folder; the same record gives the same bytes."""
        content = {**asdict(self), "sha256": _digest([self.outputs, self.metadata])}
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        file = _file(folder, self.page)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, gzip.compress(text.encode(), 9, mtime=0))
        return file


def read(folder: Path, page: str) -> Record | None:
    """The record of a page below a folder; None where there is none, or one whose outputs were changed by hand."""
    try:
        content = json.loads(gzip.decompress(_file(folder, page).read_bytes()))
        if content.pop("sha256") != _digest([content["outputs"], content["metadata"]]) or content["page"] != page:
            return None
        return Record(**{**content, "machine": Machine(**content["machine"])})
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def depends_on(page: str, notebook: NotebookNode, book: Path = BOOK) -> dict[str, Any]:
    """Everything that decides what the code cells of a page print and draw.

    Raises SyntaxError where a cell is not Python.
    """
    cells = [(cell.source, sorted(TAGS & set(cell.metadata.get("tags", [])))) for cell in _code_cells(notebook)]
    code = "\n".join(MAGIC.sub(r"\1pass", source) for source, _ in cells)
    closure = closure_of_code(code, (book / page).parent)
    exact = "sysconfig" in closure.packages  # such code can read Python's own files, which every release changes
    return {
        "cells": _digest(cells),
        "files": {_name(file): hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in sorted(closure.files)},
        "packages": _versions(closure.packages | set(RENDERERS)),
        "python": platform.python_version() if exact else ".".join(platform.python_version_tuple()[:2]),
        "system": f"{platform.system()} {platform.machine()}",
        "gpu": any(Path("/dev").glob("nvidia[0-9]*")),
        "settings": SETTINGS,
    }


def changes(record: Record | None, depends: Mapping[str, Any]) -> list[str]:
    """Why a record may not be used, a reason each; none where it may."""
    if record is None:
        return ["there is no record of it"]
    reasons = []
    for part in sorted(depends.keys() | record.depends.keys()):
        before, now = record.depends.get(part), depends.get(part)
        if isinstance(before, dict) and isinstance(now, dict):
            names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            reasons += [_changed(part, name, before.get(name), now.get(name)) for name in names]
        elif before != now:
            reasons.append("its code cells" if part == "cells" else f"{part}: {before}, here {now}")
    return reasons


def stale(folders: Sequence[Path] = (COMMITTED,)) -> dict[str, list[str]]:
    """The pages whose outputs no record below these folders gives, each with the reasons of the first folder."""
    reasons_by_page = {}
    for page, notebook in notebooks_of_pages():
        depends = depends_on(page, notebook)
        reasons = [changes(read(folder, page), depends) for folder in folders]
        if all(reasons):
            reasons_by_page[page] = reasons[0]
    return reasons_by_page


def notebooks_of_pages() -> Iterator[tuple[str, NotebookNode]]:
    """Name and notebook of each page with code cells."""
    from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

    for file in sorted(BOOK.rglob("*.md")):
        name = file.relative_to(BOOK).with_suffix("").as_posix()
        text = file.read_text("utf-8")
        if not name.startswith("_build/") and is_myst_markdown_notebook(text):
            notebook = read_myst_markdown_notebook(text)
            if _code_cells(notebook):
                yield name, notebook


def uncovered(opened: Iterable[str], depends: Mapping[str, Any]) -> list[str]:
    """The files of the repository that a page opened while it was executed and that its record does not depend on."""
    names = set()
    for text in opened:
        file = Path(text)
        if file.suffix == ".pyc" and file.parent.name == "__pycache__":
            file = file.parent.with_name(f"{file.name.partition('.')[0]}.py")
        if file.is_relative_to(ROOT) and not _installed_or_built(file) and file.is_file():
            names.add(_name(file))
    return sorted(names - depends["files"].keys())


def differences(recorded: Record, executed: Record, notebook: NotebookNode) -> list[str]:
    """In which cells of the page's notebook a new execution gave something else than the record holds.

    Numbers may differ, for pages measure times. Words may too in a cell tagged `measured`, and in every cell on another
    model of processor, for training amplifies how it rounds; then the kinds of the outputs are compared.
    """
    same_processor = recorded.machine.processor == executed.machine.processor
    found = []
    cells = zip(_code_cells(notebook), recorded.outputs, executed.outputs, strict=True)
    for number, (cell, old, new) in enumerate(cells, start=1):
        view = words if same_processor and MEASURED not in cell.metadata.get("tags", ()) else kinds
        if view(old) != view(new):
            found.append(f"code cell {number} gave {view(new)}, its record {view(old)}")
    return found


def _code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _changed(part: str, name: str, before: str | None, now: str | None) -> str:
    if part == "files":
        return name if before and now else f"{name}, which it {'no longer' if before else 'now'} imports"
    return f"{name} {before}, here {now}"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _file(folder: Path, page: str) -> Path:
    return folder / f"{page}.json.gz"


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.as_posix()


def _installed_or_built(file: Path) -> bool:
    parts = file.relative_to(ROOT).parts
    return bool({".venv", "node_modules", "_build", ".git"} & set(parts)) or parts[0].endswith(".egg-info")


def _versions(modules: Iterable[str]) -> dict[str, str]:
    """The pinned packages behind top-level modules, with those that they need, and the versions installed.

    A build's own suffix, as in 2.13.0+cpu, is left out: without a GPU its outputs are the same.
    """
    pinned, versions = _pinned(), {}
    waiting = [name for module in modules for name in _distributions().get(module, ())]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in versions or name not in pinned:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        versions[name] = distribution.version.partition("+")[0]
        waiting += _needed(name)
    return dict(sorted(versions.items()))


@cache
def _needed(name: str) -> tuple[str, ...]:
    needed = map(Requirement, importlib.metadata.requires(name) or ())
    return tuple(
        requirement.name
        for requirement in needed
        if not requirement.marker or requirement.marker.evaluate({"extra": ""})
    )


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


@cache
def _pinned() -> frozenset[str]:
    """The packages of requirements.txt; others, such as Triton for the tests, are no part of the course."""
    names = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    return frozenset(map(canonicalize_name, names))


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text("utf-8").splitlines() if information.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
