"""Executes the generated notebooks as on Colab: a machine with the packages but not the course, which git fetches."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import time
import venv
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..cores import cores
from ..course.paths import ROOT
from .urls import repository

__all__ = ["ExecutionError", "Machine", "execute", "execute_all"]

CELL_SECONDS = 300  # as in book/_config.yml
SECONDS = 1200  # a whole notebook
#: Runs on the machine, whose Jupyter starts the machine's own Python.
DRIVER = """
import nbclient, nbformat
notebook = nbformat.read({given!r}, as_version=4)
nbclient.NotebookClient(notebook, timeout={seconds}, kernel_name="python3").execute(cwd=".")
nbformat.write(notebook, {result!r})
"""
WHERE = "import attention, pathlib; print('attention:', pathlib.Path(attention.__file__).parent)"


class ExecutionError(RuntimeError):
    """A notebook does not run; the text shows the cell and its traceback."""


@dataclass(frozen=True)
class Machine:
    """A folder with a Python that has every package but the course, and a copy of the course for git to fetch."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Machine:
        """A machine in an empty folder outside the repository; the course is as the working tree is now."""
        machine = cls(folder.resolve())
        if machine.folder.is_relative_to(ROOT):
            raise ValueError(f"{folder} lies inside the repository: the course would be found without git")
        machine.home.mkdir(parents=True)
        venv.create(machine.folder / "python", with_pip=False, symlinks=True)
        packages = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        library = next((machine.folder / "python").glob("lib/python*/site-packages"))
        # A folder named in a .pth file is searched, but the .pth files in it are not read: one of them has the course.
        (library / "packages.pth").write_text("\n".join(sorted(packages)) + "\n", "utf-8")
        machine._name_kernel()
        machine._copy_course()
        return machine

    @property
    def python(self) -> Path:
        return self.folder / "python" / "bin" / "python"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        """What a program on this machine sees; git fetches the course's address from the copy."""
        return {
            "PATH": os.pathsep.join([str(self.python.parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{self._copy.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": repository().url,
        }

    @property
    def _copy(self) -> Path:
        return self.folder / "course.git"

    def _name_kernel(self) -> None:
        command = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = self.folder / "python" / "share" / "jupyter" / "kernels" / "python3" / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": command, "display_name": "Python 3", "language": "python"}), "utf-8")

    def _copy_course(self) -> None:
        """A bare repository with one commit: what git would see in the working tree, committed or not."""
        me = ["-c", "user.name=copy", "-c", "user.email=copy@localhost", "-c", "core.bare=false"]
        here = ["git", f"--git-dir={self._copy}", f"--work-tree={ROOT}", *me]
        branch = f"--initial-branch={repository().branch}"
        subprocess.run(["git", "init", "--quiet", "--bare", branch, self._copy], check=True)
        subprocess.run([*here, "add", "--all"], cwd=ROOT, check=True)
        subprocess.run([*here, "commit", "--quiet", "--message", "The working tree"], cwd=ROOT, check=True)

    def run(self, code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs Python code in a folder of this machine."""
        command = [str(self.python), "-c", code]
        return subprocess.run(command, cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=SECONDS)


def execute(text: str, machine: Machine, cwd: Path) -> NotebookNode:
    """Executes a notebook's text in a new folder of the machine, in a Jupyter kernel, and returns it with its outputs.

    A last cell is added that prints where `attention` came from.
    Raises ExecutionError, whose text shows cell and traceback, where a cell fails.
    """
    cwd.mkdir(parents=True)
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(WHERE))
    given, result = cwd.with_suffix(".ipynb"), cwd.with_suffix(".out.ipynb")
    nbformat.write(notebook, given)
    done = machine.run(DRIVER.format(given=str(given), result=str(result), seconds=CELL_SECONDS), cwd)
    if done.returncode:
        raise ExecutionError(done.stderr)
    return nbformat.read(str(result), as_version=4)


def execute_all(texts: Mapping[str, str], machine: Machine) -> Iterator[tuple[str, float, Exception | None]]:
    """Executes notebooks, one per core at a time; of each, as it ends: its name, seconds, and what went wrong."""
    with ThreadPoolExecutor(cores()) as pool:
        work = machine.folder / "work"
        waiting = {pool.submit(_timed, text, machine, work / name): name for name, text in texts.items()}
        for done in as_completed(waiting):
            seconds, problem = done.result()
            yield waiting[done], seconds, problem


def _timed(text: str, machine: Machine, cwd: Path) -> tuple[float, Exception | None]:
    started, problem = time.monotonic(), None
    try:
        execute(text, machine, cwd)
    except (ExecutionError, subprocess.TimeoutExpired) as error:
        problem = error
    return time.monotonic() - started, problem
