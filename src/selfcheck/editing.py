"""Opens a module in whatever editor is at hand, and makes Python forget the old text after an edit."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from .catalogue import Exercise
from .catalogue.names import exercises_named
from .learner import package_folder

AT_A_LINE = ("vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe")  # editors that know +57


class Opened:
    """Where a module is; in a notebook, what opens it beside, at the exercise, and the exercise's buttons."""

    def __init__(self, path: Path, line: int = 1, exercise: Exercise | None = None) -> None:
        self.path, self.line, self.exercise = path, line, exercise

    @property
    def _where(self) -> str:
        return f", line {self.line}" if self.exercise else ""

    @property
    def _fragment(self) -> str:
        """The end of an address that has JupyterLab go to the line; it counts from 0."""
        return f"#line={self.line - 1}" if self.exercise else ""

    def __repr__(self) -> str:
        return f"edit {self.path}{self._where}, save, then run check(...) again"

    def _repr_html_(self) -> str | None:
        if "google.colab" in sys.modules:  # the pane is open, and a link would lead nowhere
            return None
        name = html.escape(f"{self.path.parent.name}/{self.path.name}{self._where}")
        served = _path_on_server(self.path)
        if served:
            # Commands of JupyterLab: one opens a file beside the notebook, where a link would open it over it, the
            # other goes to a line of what is open. Both take what is theirs of the same arguments.
            place = {"path": served, "id": self._fragment, "options": {"mode": "split-right"}}
            arguments = {"commands": ["docmanager:open", "rendermime:handle-local-link"], "args": place}
            given = html.escape(json.dumps(arguments))
            opens = f'<button data-commandlinker-command="apputils:run-all-enabled" data-commandlinker-args="{given}">'
            return f"Edit {opens}{name}</button>, save, then run <code>check(…)</code> again."
        try:  # JupyterLab reads a link from the notebook's own folder
            link = quote(Path(os.path.relpath(self.path, Path.cwd())).as_posix())
        except ValueError:  # another drive on Windows
            return None
        link = html.escape(f"{link}{self._fragment}")
        return f'Edit <a href="{link}" target="_blank">{name}</a>, save, then run <code>check(…)</code> again.'

    def _ipython_display_(self) -> None:
        from IPython.display import display

        from .buttons import show_buttons

        page = self._repr_html_()
        display({"text/plain": repr(self)} | ({"text/html": page} if page else {}), raw=True)
        if self.exercise:
            show_buttons(self.exercise)


def _path_on_server(path: Path) -> str | None:
    """A file's path as the Jupyter server that has started this kernel names it; None where it cannot be known."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir

        known = Path(jupyter_runtime_dir(), f"jpserver-{int(os.environ['JPY_PARENT_PID'])}.json")
        root = Path(json.loads(known.read_text(encoding="utf-8"))["root_dir"]).resolve()
        return path.resolve().relative_to(root).as_posix()
    except (ImportError, KeyError, OSError, TypeError, ValueError):
        return None


def edit(name: str | float) -> Opened:
    """Open an exercise: in Colab's editor pane, beside the notebook in JupyterLab; elsewhere, where it is.

    name: a module, "masks", or an exercise, "masks.causal_mask" or "4.2"; a module of your own will do as well
    Raises FileNotFoundError, with the modules there are, for one that does not exist.
    """
    path, line, exercise = _place(name)
    if "google.colab" in sys.modules:
        sys.modules["google.colab"].files.view(str(path))
    return Opened(path, line, exercise)


def open_in_editor(name: str | float) -> str:
    """Open an exercise in the editor that $VISUAL or $EDITOR names, at its function; returns what was done.

    Without such an editor, and for one that is none, it only says where the function is.
    """
    path, line, _ = _place(name)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        return f"{path}:{line}\n(set EDITOR, for instance to nano, and this opens it)"
    words = shlex.split(editor)
    program = Path(words[0]).name
    if program in ("code", "codium"):
        words += ["--goto", f"{path}:{line}"]
    else:
        words += [f"+{line}"] * (program in AT_A_LINE) + [str(path)]
    try:
        subprocess.run(words, check=False)
    except OSError as error:
        return f"{path}:{line}\n({editor} cannot be started: {error.strerror})"
    return f"edited {path}"


def _place(name: str | float) -> tuple[Path, int, Exercise | None]:
    """The module that a name means, the line where the exercise begins in it, and the exercise.

    Where a module is named, it is line 1 and no exercise.
    """
    folder = package_folder()
    path = folder / f"{name}.py"
    if path.is_file():
        return path, 1, None
    try:
        exercise = exercises_named(name)[0]
    except KeyError as error:
        names = ", ".join(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))
        raise FileNotFoundError(f"{error.args[0]} There is no module {path.name} either, but {names}") from None
    path = folder / f"{exercise.module}.py"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    head = re.compile(rf"(async def|def|class) {exercise.symbol}\b")
    return path, next((number for number, line in enumerate(lines, 1) if head.match(line)), 1), exercise


def reload() -> None:
    """Forget the imported `attention` modules: the next import reads the edited files.

    `check` needs no reload. Objects made before keep the old code: build models again after it.
    """
    for name in [name for name in sys.modules if name == "attention" or name.startswith("attention.")]:
        del sys.modules[name]
    print("attention is forgotten: import it again, and build models again")
