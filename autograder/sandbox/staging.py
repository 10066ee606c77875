"""Stages what runs inside the sandbox: this package's own programs, and a learner's package."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import selfcheck

from ..course.paths import SELFCHECK
from .self_test import INSIDE

#: This package's modules that run inside, and what they need of selfcheck.
PROGRAMS = ("linux.py", "activity.py", "self_test.py", "runner.py", "worker.py", "fork_server.py")
SELFCHECK_MODULES = (
    *(
        "arrays.py",
        "call_bend.py",
        "call_watch.py",
        "dispatched.py",
        "eager.py",
        "executed.py",
        "fx_traces.py",
        "gradient_engine.py",
        "held.py",
        "import_finder.py",
        "leftovers.py",
        "line_slips.py",
        "module_state.py",
        "named_functions.py",
        "numpy_forms.py",
        "objects.py",
    ),
    *(
        "dispatch.py",
        "elsewhere.py",
        "largest.py",
        "operations.py",
        "overrides.py",
        "replaced_code.py",
        "printed.py",
        "same_branches.py",
        "runner.py",
        "source.py",
        "steps.py",
        "teaching.py",
        "traces.py",
    ),
)
#: What a learner's module may have left over from a notebook, `from selfcheck import check`, does nothing inside.
FOR_LEARNERS = "".join(f"def {name}(*args, **kwargs): ...\n" for name in selfcheck.__all__)
LAUNCHER = f"{INSIDE}/code/start.py"
PACKAGE_PARENT = f"{INSIDE}/work"
#: Of Python: no environment variables, no user site, no folder of the script on the path; nothing is written.
ISOLATED = ("-I", "-B")
#: Likewise, but with environment variables, which bubblewrap sets.
WITH_ENVIRONMENT = ("-s", "-P", "-B")


def stage_programs(stage: Path) -> None:
    """Copy the programs to a folder, beside an empty one for the package."""
    here, code = Path(__file__).parent, stage / "code"
    for package, source, names in (("sandbox", here, PROGRAMS), ("selfcheck", SELFCHECK, SELFCHECK_MODULES)):
        (code / package / "__pycache__").mkdir(parents=True)
        (code / package / "__init__.py").write_text(FOR_LEARNERS if package == "selfcheck" else "")
        for name in names:
            _copy_with_bytecode(source / name, code / package / name)
    shutil.copyfile(here / "start.py", code / "start.py")
    (stage / "work").mkdir()


def _copy_with_bytecode(source: Path, target: Path) -> None:
    """Copy a module, and what Python has compiled it to: that counts for the copy too, which is as old and as long."""
    shutil.copy2(source, target)
    with suppress(FileNotFoundError):  # it was not imported here yet
        shutil.copyfile(cache_from_source(str(source), optimization=""), bytecode_of(target))


def bytecode_of(module: Path) -> Path:
    """Where the sandbox's Python looks for a module's bytecode, which this one may keep elsewhere or optimize."""
    return module.parent / "__pycache__" / f"{module.stem}.{sys.implementation.cache_tag}.pyc"


def stage_package(stage: Path, files: dict[str, bytes]) -> None:
    """Write a learner's package `attention`; files: the text of each, by name."""
    (stage / "work" / "attention" / "__pycache__").mkdir(parents=True)
    for name, data in files.items():
        (stage / "work" / "attention" / name).write_bytes(data)


def let_everybody_read(stage: Path) -> None:
    """Have the unprivileged user that bubblewrap runs as read all that is staged."""
    for place in (stage, *stage.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)


def command(module: str, *arguments: object, options: tuple[str, ...] = ISOLATED) -> list[str]:
    """The command line, as it is inside, of one of the programs."""
    # Named whole: what `..` leads through is not there inside.
    return [os.path.abspath(sys.executable), *options, LAUNCHER, module, *map(str, arguments)]
