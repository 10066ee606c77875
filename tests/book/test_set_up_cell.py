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

FOLDERS = ("solutions", "book")


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session inside the course whose path and environment are restored afterwards."""
    monkeypatch.chdir(BOOK / "chapters")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")


def _run(folders: tuple[str, ...] = FOLDERS, needs: tuple[str, ...] = (), source: str | None = None) -> dict[str, Any]:
    cell: dict[str, Any] = {}
    exec(compile(source or setup_source(folders, needs), "set-up", "exec"), cell)
    return cell


def test_it_finds_the_course_from_anywhere_inside_and_is_idempotent(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        _run()
        assert sys.path[:2] == [str(ROOT / "solutions"), str(ROOT / "book")]
        assert sys.path.count(str(ROOT / "book")) == 1
        assert os.environ["PYTHONPATH"].split(os.pathsep) == sys.path[:2]
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 2 and str(ROOT) in said[0]


def _origin(folder: Path) -> Path:
    """The least that is taken for the course, as a git repository."""
    (folder / "book").mkdir(parents=True)
    (folder / "src" / "selfcheck").mkdir(parents=True)
    (folder / "book" / "_config.yml").write_text("title: x\n", "utf-8")
    (folder / "src" / "selfcheck" / "here.py").write_text("", "utf-8")
    me = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q", "-b", repository().branch], ["add", "."], [*me, "commit", "-q", "-m", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def test_it_fetches_the_course_where_it_is_not_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    origin, work = _origin(tmp_path / "origin"), tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    source = setup_source(("src",)).replace(repository().url, origin.as_uri())
    _run(source=source)
    assert (work / repository().name / "src" / "selfcheck" / "here.py").is_file()
    assert "Fetching" in capsys.readouterr().out
    _run(source=source)
    assert "Fetching" not in capsys.readouterr().out


@pytest.mark.parametrize("state", ["no network", "no git", "a broken folder"])
def test_a_course_that_cannot_be_fetched_says_what_to_do(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = (tmp_path / "nowhere").as_uri()
    if state == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    if state == "a broken folder":
        address = _origin(tmp_path / "origin").as_uri()
        (tmp_path / repository().name).mkdir()
        (tmp_path / repository().name / "half").touch()
    with pytest.raises(RuntimeError, match="could not be fetched") as caught:
        _run(source=setup_source(("src",)).replace(repository().url, address))
    advice = str(caught.value)
    assert "Is this machine online? Then run this cell again" in advice
    assert str(tmp_path / repository().name) in advice
    assert "git is not installed" in advice if state == "no git" else "fatal" in advice


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
