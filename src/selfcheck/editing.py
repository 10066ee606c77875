"""Opens a module in whatever editor is at hand, and makes Python forget the old text after an edit."""

from __future__ import annotations

import html
import os
import sys
from pathlib import Path
from urllib.parse import quote

from .learner import package_folder


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


def edit(module: str) -> Opened:
    """Open a module, "masks" or "masks.causal_mask": Colab's editor pane, a link in JupyterLab, its path elsewhere.

    Raises FileNotFoundError, with the modules there are, for one that does not exist.
    """
    folder = package_folder()
    path = folder / f"{module.partition('.')[0]}.py"
    if not path.is_file():
        names = ", ".join(sorted(one.stem for one in folder.glob("*.py") if not one.stem.startswith("_")))
        raise FileNotFoundError(f"there is no module {path.name} in {folder}; there are {names}")
    if "google.colab" in sys.modules:
        sys.modules["google.colab"].files.view(str(path))
    return Opened(path)


def reload() -> None:
    """Forget the imported `attention` modules: the next import reads the edited files.

    `check` needs no reload. Objects made before keep the old code: build models again after it.
    """
    for name in [name for name in sys.modules if name == "attention" or name.startswith("attention.")]:
        del sys.modules[name]
    print("attention is forgotten: import it again, and build models again")
