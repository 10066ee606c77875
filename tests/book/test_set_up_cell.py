"""The first cell of the notebooks: what it finds, fetches, installs and chooses, on machines that are not here."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from autograder.build.notebook_setup import packages, setup_source
from autograder.build.urls import repository
from autograder.course.paths import BOOK, ROOT
from selfcheck import notebook

FOLDERS = ("solutions", "book")


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session inside the course whose path and environment are restored afterwards."""
    monkeypatch.chdir(BOOK / "chapters")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")


def _run(folders: tuple[str, ...] = FOLDERS, needs: tuple[str, ...] = ()) -> dict[str, Any]:
    cell: dict[str, Any] = {}
    exec(compile(setup_source(folders, needs), "set-up", "exec"), cell)
    return cell


def test_it_has_five_lines_below_its_title() -> None:
    title, *lines = setup_source(("src",), ("torch",), "*").splitlines()
    assert title.startswith("# @title") and len(lines) == 5


def test_it_finds_the_course_from_anywhere_inside_and_is_idempotent(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        _run()
        assert sys.path[:2] == [str(ROOT / "solutions"), str(ROOT / "book")]
        assert sys.path.count(str(ROOT / "book")) == 1
        assert os.environ["PYTHONPATH"].split(os.pathsep) == sys.path[:2]
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 2 and str(ROOT) in said[0]


#: Stands in for `selfcheck.notebook`, and says where it lies.
HERE = """
import pathlib
def set_up(folders, needs):
    print("from", pathlib.Path(__file__).parents[2].resolve(), folders, needs)
    return "cpu", None
"""


def _course(folder: Path) -> Path:
    """The least that is taken for the course."""
    (folder / "src" / "selfcheck").mkdir(parents=True)
    (folder / "src" / "selfcheck" / "__init__.py").touch()
    (folder / "src" / "selfcheck" / "notebook.py").write_text(HERE, "utf-8")
    return folder


def _origin(folder: Path) -> Path:
    """The same as a git repository."""
    _course(folder)
    me = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q", "-b", repository().branch], ["add", "."], [*me, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def _elsewhere(folder: Path, address: str, path: str = "", programs: str | None = None) -> tuple[str, str]:
    """The cell's output and error in a Python without the course, in a folder; the course is fetched from an address.

    path: where Python looks besides; programs: another PATH
    """
    python = getattr(sys, "_base_executable", sys.executable)
    source = setup_source(("src",), ("torch",)).replace(repository().url, f"{address}/{repository().name}")
    done = subprocess.run(
        [python, "-S", "-c", source],
        cwd=folder,
        env={"PATH": os.environ["PATH"] if programs is None else programs, "PYTHONPATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.stdout, done.stderr


def test_it_fetches_the_course_where_it_is_not_and_only_once(tmp_path: Path) -> None:
    _origin(tmp_path / "origin" / repository().name)
    work = tmp_path / "work"
    work.mkdir()
    fetched = work / repository().name
    for address in ((tmp_path / "origin").as_uri(), "file:///nowhere"):  # the second time nothing is fetched
        said, problem = _elsewhere(work, address)
        assert f"from {fetched} ['src'] ['torch']" in said, problem


@pytest.mark.parametrize("place", ["book/notebooks", "book", ".", "elsewhere"])
def test_a_course_around_the_notebook_or_an_installed_one_is_used_offline(place: str, tmp_path: Path) -> None:
    course = _course(tmp_path / "course")
    work = course / place if place != "elsewhere" else tmp_path / place
    work.mkdir(parents=True, exist_ok=True)
    said, problem = _elsewhere(work, "file:///nowhere", str(course / "src") if place == "elsewhere" else "")
    assert f"from {course} ['src'] ['torch']" in said, problem


def test_a_course_around_the_notebook_goes_before_an_installed_one(tmp_path: Path) -> None:
    around, installed = _course(tmp_path / "around"), _course(tmp_path / "installed")
    said, _ = _elsewhere(around, "file:///nowhere", str(installed / "src"))
    assert f"from {around} " in said


@pytest.mark.parametrize("state", ["no network", "no git", "a broken folder"])
def test_a_course_that_cannot_be_fetched_says_why_and_what_to_do(state: str, tmp_path: Path) -> None:
    _origin(tmp_path / "origin" / repository().name)
    work = tmp_path / "work"
    work.mkdir()
    if state == "a broken folder":
        (work / repository().name / "half").mkdir(parents=True)
    address = "file:///nowhere" if state == "no network" else (tmp_path / "origin").as_uri()
    _, problem = _elsewhere(work, address, programs=str(tmp_path) if state == "no git" else None)
    assert "CalledProcessError" in problem and repository().name in problem
    assert ("not found" if state == "no git" else "fatal:") in problem
    comment = setup_source(("src",)).partition("# offline?")[2].splitlines()[0]
    assert "put a copy of the course beside this notebook" in comment  # of the line that the traceback shows


def test_of_a_course_without_its_pages_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "__file__", str(tmp_path / "selfcheck" / "notebook.py"))
    with pytest.raises(FileNotFoundError, match="has no solutions and no book beside it"):
        notebook.set_up(["solutions", "book"], [])
    notebook.set_up(["src"], [])
    assert sys.path[0] == str(tmp_path)  # what a problem set is handed out with


def test_without_torch_it_imports_none_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it now would raise
    _absent(monkeypatch, "torch")
    cell = _run(needs=("numpy", "torch"))
    assert (cell["DEVICE"], cell["DTYPE"]) == ("cpu", None)
    said = capsys.readouterr().out
    assert "Missing here: torch" in said and "torch missing" in said


def _absent(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Makes packages look as if they were not installed."""
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in names else real(name, *more))


def _fake_torch(capability: tuple[int, int] | None, answers: bool = True) -> types.ModuleType:
    """A torch on a machine with a GPU of that capability, which answers or does not."""

    def ones(*_: object, **__: object) -> Any:
        if not answers:
            raise RuntimeError("no kernel image is available\nmore")
        return types.SimpleNamespace(sum=lambda: types.SimpleNamespace(item=lambda: 8.0))

    torch = types.ModuleType("torch")
    torch.ones, torch.float32, torch.float16, torch.bfloat16 = ones, "float32", "float16", "bfloat16"
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: capability is not None,
        get_device_capability=lambda: capability,
        get_device_name=lambda: "a GPU",
        is_bf16_supported=lambda: True,  # as on a T4
    )
    return torch


@pytest.mark.parametrize(
    ("torch", "device", "dtype", "said"),
    [
        (_fake_torch((7, 5)), "cuda", "float16", "a GPU, capability 7.5"),
        (_fake_torch((8, 0)), "cuda", "bfloat16", "a GPU, capability 8.0"),
        (_fake_torch((9, 0)), "cuda", "bfloat16", "a GPU, capability 9.0"),
        (
            _fake_torch((3, 7), answers=False),
            "cpu",
            "float32",
            "does not answer, so everything runs on the CPU: no kernel",
        ),
        (_fake_torch(None), "cpu", "float32", "no GPU here, so everything runs on the CPU"),
    ],
    ids=["T4", "A100", "H100", "too old", "none"],
)
def test_the_dtype_follows_the_gpus_capability(
    torch: Any, device: str, dtype: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    torch.__spec__ = types.SimpleNamespace()
    cell = _run()
    assert (cell["DEVICE"], cell["DTYPE"]) == (device, dtype)
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("on_colab", [True, False])
def test_what_is_missing_is_named_and_installed_on_colab_alone(
    on_colab: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    if on_colab:
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    _absent(monkeypatch, "keras", "torch")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    _run(needs=("keras", "matplotlib", "numpy", "torch"))
    said = capsys.readouterr().out
    assert "Missing here: keras, torch" in said
    if not on_colab:
        assert not ran
        return
    (command,) = ran
    wanted = command[command.index("--quiet") + 1 :]
    assert wanted[0] == "keras" and "torch" not in " ".join(wanted)
    assert wanted[1].startswith("numpy==")  # pinned to what is there, so that nothing changes it
    assert len(wanted) == 2


def test_nothing_is_installed_where_everything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("something is run"))
    _run(needs=("keras", "matplotlib", "numpy", "torch"))


def test_what_a_notebook_needs_is_read_from_its_imports() -> None:
    assert packages(["import os, numpy as np\nimport figures"]) == ["matplotlib", "numpy"]
    assert packages(["%time\nfrom attention.masks import causal_mask"]) == ["torch"]
    assert packages(["if True:\n    import triton\n!ls"]) == []
    assert packages(["from ._arguments import check_mask"], "attention") == ["torch"]
