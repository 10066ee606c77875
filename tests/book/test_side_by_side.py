"""Pages are executed side by side before they are read, and what fails is reported as myst-nb reports it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.paths import BOOK

CONF = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["myst_nb", "side_by_side"]
nb_execution_mode, nb_execution_cache_path = "cache", {cache!r}
"""
PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3
---
# {title}

```{{code-cell}} ipython3
{code}
```
"""
MEET = """import pathlib, time
pathlib.Path("{mine}").touch()
until = time.monotonic() + 60
while not pathlib.Path("{other}").exists() and time.monotonic() < until:
    time.sleep(0.05)
print("{mine} met" if pathlib.Path("{other}").exists() else "{mine} was alone")"""


def _site(source: Path) -> Path:
    return source.parent / "out" / "html"


def _build(source: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "sphinx", "-E", "-N", "-b", "html", "-W", "--keep-going", source, _site(source)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
    )
    return done.returncode, done.stdout


def _write(source: Path, **pages: str) -> None:
    for name, code in pages.items():
        (source / f"{name}.md").write_text(PAGE.format(title=name, code=code), "utf-8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A book of three pages; where it is built and what the cache holds lie beside it."""
    source = tmp_path / "source"
    source.mkdir()
    settings = CONF.format(extensions=str(BOOK / "_extensions"), cache=str(tmp_path / "cache"))
    (source / "conf.py").write_text(settings, "utf-8")
    (source / "index.md").write_text("# All\n\n```{toctree}\na\nb\nbad\n```\n", "utf-8")
    return source


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core executes one page at a time")
def test_pages_run_at_the_same_time_and_a_failure_is_reported_once_and_alone(source: Path) -> None:
    _write(
        source,
        a=MEET.format(mine="one", other="two"),
        b=MEET.format(mine="two", other="one"),
        bad="1 / 0",
    )
    code, said = _build(source)
    assert code == 1
    assert "executing 3 stale notebooks" in said
    assert said.count("Using cached notebook") == 2
    assert said.count("it gets one more run, alone") == 1
    assert said.count("Executing notebook failed: CellExecutionError") == 1
    assert "ZeroDivisionError" in (_site(source) / "reports" / "bad.err.log").read_text("utf-8")
    outputs = [(_site(source) / f"{page}.html").read_text("utf-8") for page in "ab"]
    assert "one met" in outputs[0] and "two met" in outputs[1]

    _write(source, bad="print(6 * 7)")
    code, said = _build(source)
    assert code == 0, said
    assert "executing 1 stale notebooks" in said
    assert said.count("Using cached notebook") == 3
    assert "Executing notebook using" not in said
    assert "42" in (_site(source) / "bad.html").read_text("utf-8")

    code, said = _build(source)
    assert code == 0, said
    assert "every notebook is in the cache" in said
