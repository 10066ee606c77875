"""Sets a notebook up: the course on Python's path, the packages that it needs, and what computes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

from selfcheck import check, compare, edit, failing, hint, pack, progress, reload, reset, restore, save

__all__ = [
    "check",
    "compare",
    "edit",
    "failing",
    "hint",
    "pack",
    "progress",
    "reload",
    "reset",
    "restore",
    "save",
    "set_up",
]


def set_up(folders: list[str], needs: list[str]) -> tuple[str, object]:
    """Put folders of the course on Python's path, say what will compute, and return it: device and dtype.

    folders: "src", "solutions", "book", in the order in which Python is to look; needs: the packages that the notebook
        imports: what is missing is installed on Colab, and named elsewhere. A second call does no harm.
    Raises FileNotFoundError where this is a part of the course alone, without such a folder.
    """
    course, places = _places(folders)
    _look_there(places)
    _provide(needs)
    device, dtype, reason = choose_device()
    print(f"The course is in {course}; Python looks first in {' and '.join(folders)}.")
    print(f"Python {platform.python_version()}, torch {_version('torch')}, numpy {_version('numpy')}. ", end="")
    print(f"DEVICE = {device!r}, DTYPE = {dtype} ({reason}).")
    return device, dtype


def _places(folders: list[str]) -> tuple[Path, list[str]]:
    """The course that this file belongs to, and its folders."""
    own = Path(__file__).resolve().parent.parent
    if folders == ["src"]:  # of the whole course, or what a problem set was handed out with
        return (own.parent if own.name == "src" else own), [str(own)]
    missing = [folder for folder in folders if not (own.parent / folder).is_dir()]
    if missing:
        raise FileNotFoundError(
            f"this page needs the whole course, and {own} has no {' and no '.join(missing)} beside it; "
            "open the notebook in a folder without selfcheck, and its first cell fetches the course"
        )
    return own.parent, [str(own.parent / folder) for folder in folders]


def _look_there(folders: list[str]) -> None:
    sys.path[:] = folders + [path for path in sys.path if path not in folders]
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in folders]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders + others)  # for the programs that a cell starts


def _absent(packages: list[str]) -> list[str]:
    return [package for package in packages if importlib.util.find_spec(package) is None]


def _version(package: str) -> str:
    return "missing" if _absent([package]) else importlib.metadata.version(package)


def _provide(packages: list[str]) -> None:
    """On Colab, installs what is missing, but never torch or numpy, whose versions stay; names what still is."""
    heavy = ["torch", "numpy"]
    wanted = [package for package in _absent(packages) if package not in heavy]
    if wanted and "google.colab" in sys.modules:
        print(f"Installing {', '.join(wanted)} …")
        kept = [f"{package}=={_version(package)}" for package in heavy if not _absent([package])]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *wanted, *kept], check=False)
    if missing := _absent(packages):
        install = f"python -m pip install {' '.join(missing)}"
        print(f"Missing here: {', '.join(missing)}. Cells that need it will fail; in a terminal, {install}")


def choose_device() -> tuple[str, object, str]:
    """Device, dtype and the reason; (cpu, None, …) where there is no torch."""
    if _absent(["torch"]):
        return "cpu", None, "no torch here"
    import torch

    if not torch.cuda.is_available():
        return "cpu", torch.float32, "no GPU here, so everything runs on the CPU"
    try:
        torch.ones(8, device="cuda").sum().item()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        return "cpu", torch.float32, f"the GPU does not answer, so everything runs on the CPU: {reason}"
    major, minor = torch.cuda.get_device_capability()
    # A T4 (7.5) has no bfloat16 of its own, whatever torch.cuda.is_bf16_supported() says there.
    dtype = torch.bfloat16 if major >= 8 else torch.float16
    return "cuda", dtype, f"{torch.cuda.get_device_name()}, capability {major}.{minor}"
