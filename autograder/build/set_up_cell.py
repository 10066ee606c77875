# @title Set-up: run this cell first
"""Finds the course or fetches it, puts it on Python's path and says what will compute; a second run does no harm."""

import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

REPOSITORY = "$url"
BRANCH = "$branch"
NAME = "$name"
FOLDERS = ["$folders"]  # of the course, in the order in which Python looks
NEEDS = ["$needs"]  # the packages that this notebook imports
ON_COLAB = "google.colab" in sys.modules


def find_course() -> Path | None:
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, here / NAME):
        if (folder / "book" / "_config.yml").is_file() and (folder / "src" / "selfcheck").is_dir():
            return folder
    return None


def fetch_course() -> Path:
    print(f"Fetching {REPOSITORY} …")
    clone = ["git", "clone", "--quiet", "--depth", "1", "--branch", BRANCH, REPOSITORY, NAME]
    silent = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}  # ask for no password
    try:
        problem = subprocess.run(clone, env=silent, capture_output=True, text=True).stderr.strip()
    except OSError:
        problem = "git is not installed"
    if found := find_course():
        return found
    raise RuntimeError(
        f"The course could not be fetched: {problem or 'it is not in what was fetched'}\n"
        f"Is this machine online? Then run this cell again. If not, put a copy of {REPOSITORY} at {Path.cwd() / NAME}, "
        f"or start Jupyter inside one. If a broken folder {NAME} is left over here, rename it first."
    )


def look_there(folders: list[str]) -> None:
    sys.path[:] = folders + [path for path in sys.path if path not in folders]
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path not in folders]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders + others)  # for the programs that a cell starts


def absent(packages: list[str]) -> list[str]:
    return [package for package in packages if importlib.util.find_spec(package) is None]


def version(package: str) -> str:
    return "missing" if absent([package]) else importlib.metadata.version(package)


def provide(packages: list[str]) -> None:
    """On Colab, installs what is missing, but never torch or numpy, whose versions stay; names what still is."""
    heavy = ["torch", "numpy"]
    wanted = [package for package in absent(packages) if package not in heavy]
    if wanted and ON_COLAB:
        print(f"Installing {', '.join(wanted)} …")
        kept = [f"{package}=={version(package)}" for package in heavy if not absent([package])]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *wanted, *kept])
    if missing := absent(packages):
        install = f"python -m pip install {' '.join(missing)}"
        print(f"Missing here: {', '.join(missing)}. Cells that need it will fail; in a terminal, {install}")


def choose_device() -> tuple[str, object, str]:
    """Device, dtype and the reason; (cpu, None, …) where there is no torch."""
    if absent(["torch"]):
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


course = find_course() or fetch_course()
look_there([str(course / folder) for folder in FOLDERS])
provide(NEEDS)
DEVICE, DTYPE, reason = choose_device()
print(f"The course is in {course}; Python looks first in {' and '.join(FOLDERS)}.")
print(f"Python {platform.python_version()}, torch {version('torch')}, numpy {version('numpy')}. ", end="")
print(f"DEVICE = {DEVICE!r}, DTYPE = {DTYPE} ({reason}).")
