"""Opens a module in whatever editor is at hand, and makes Python forget the old text after an edit."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from .catalogue.names import exercises_named
from .learner import package_folder

AT_A_LINE = ("vi", "vim", "nvim", "nano", "emacs", "micro", "kak", "joe")  # editors that know +57


class Opened:
    """Where a module is; in a notebook a link that opens it beside the notebook."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"edit {self.path}, save, then run check(...) again"

    def _repr_html_(self) -> str | None:
        if "google.colab" in sys.modules:  # the pane is open, and a link would lead nowhere
            return None
        try:  # JupyterLab reads a link from the notebook's own folder
            link = Path(os.path.relpath(self.path, Path.cwd())).as_posix()
        except ValueError:  # another drive on Windows
            return None
        name = f"{self.path.parent.name}/{self.path.name}"
        return (
            f'Edit <a href="{html.escape(quote(link))}" target="_blank">{html.escape(name)}</a>, save, '
            "then run <code>check(…)</code> again."
        )


def edit(name: str | float) -> Opened:
    """Open the module of an exercise: Colab's editor pane, a link in JupyterLab, its path elsewhere.

    name: a module, "masks", or an exercise, "masks.causal_mask" or "4.2"; a module of your own will do as well
    Raises FileNotFoundError, with the modules there are, for one that does not exist.
    """
    path, _ = _place(name)
    if "google.colab" in sys.modules:
        sys.modules["google.colab"].files.view(str(path))
    return Opened(path)


def open_in_editor(name: str | float) -> str:
    """Open an exercise in the editor that $VISUAL or $EDITOR names, at its function; returns what was done.

    Without such an editor, and for one that is none, it only says where the function is.
    """
    path, line = _place(name)
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


def _place(name: str | float) -> tuple[Path, int]:
    """The module that a name means, and the line where the exercise begins in it: 1 where no exercise is named."""
    folder, symbol = package_folder(), ""
    path = folder / f"{name}.py"
    if not path.is_file():
        try:
            first = exercises_named(name)[0]
        except KeyError as error:
            names = ", ".join(sorted(one.stem for one in folder.glob("*.py") if not one.stem.startswith("_")))
            raise FileNotFoundError(f"{error.args[0]} There is no module {path.name} either, but {names}") from None
        path, symbol = folder / f"{first.module}.py", first.symbol
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    begins = (number for number, line in enumerate(lines, 1) if symbol and re.match(rf"(def|class) {symbol}\b", line))
    return path, next(begins, 1)


def reload() -> None:
    """Forget the imported `attention` modules: the next import reads the edited files.

    `check` needs no reload. Objects made before keep the old code: build models again after it.
    """
    for name in [name for name in sys.modules if name == "attention" or name.startswith("attention.")]:
        del sys.modules[name]
    print("attention is forgotten: import it again, and build models again")
