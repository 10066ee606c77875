"""Pages are executed side by side before they are read, and only where they are not on record."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.build.executed_pages import read
from autograder.course.paths import BOOK, ROOT

#: Sphinx and kernels take long to start, and what they do follows from these files and what they import.
pytestmark = pytest.mark.proof(
    depends=["book/_extensions/side_by_side.py", "book/_extensions/in_the_kernel/*.py", "book/figures.py"],
    ignores=["LICENSE", "requirements.txt", "book/_static/*"],
)
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


def _build(source: Path, **more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "sphinx", "-E", "-N", "-b", "html", "-W", "--keep-going", source, _site(source)]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "solutions", BOOK)))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths, **more}
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
    assert "0 of 3 pages with code are on record" in said and "executing 3 stale pages" in said
    assert said.count("Using cached notebook") == 2
    assert said.count("it gets one more run, alone") == 1
    assert said.count("Executing notebook failed: CellExecutionError") == 1
    assert "ZeroDivisionError" in (_site(source) / "reports" / "bad.err.log").read_text("utf-8")
    outputs = [(_site(source) / f"{page}.html").read_text("utf-8") for page in "ab"]
    assert "one met" in outputs[0] and "two met" in outputs[1]
    assert not (source / "executed").exists()

    _write(source, bad="print(6 * 7)")
    code, said = _build(source, EXECUTED_WRITE="yes")
    assert code == 0, said
    assert "2 of 3 pages with code are on record" in said and "executing 1 stale pages" in said
    assert "Executing notebook using" not in said
    assert "42" in (_site(source) / "bad.html").read_text("utf-8")
    assert {file.name for file in (source / "executed").iterdir()} == {f"{page}.json.gz" for page in ("a", "b", "bad")}

    shutil.rmtree(source / "_build")
    code, said = _build(source)
    assert code == 0, said
    assert "3 of 3 pages with code are on record" in said and "executing" not in said
    assert "one met" in (_site(source) / "a.html").read_text("utf-8")


def test_what_a_cell_prints_is_never_shown_for_another_cell(source: Path) -> None:
    _write(source, a="print('first')", b="import sys", bad="1 + 1")
    assert _build(source, EXECUTED_WRITE="yes")[0] == 0
    shutil.copyfile(source / "executed" / "bad.json.gz", source / "executed" / "b.json.gz")
    _write(source, a="print('second')")
    code, said = _build(source)
    assert code == 0, said
    assert "a is stale: its code cells" in said and "b is stale: there is no record of it" in said
    assert "executing 2 stale pages" in said
    shown = (_site(source) / "a.html").read_text("utf-8")
    assert ">second" in shown and ">first" not in shown
    assert read(source / "executed", "a").outputs[0][0]["text"] == "first\n"  # what is committed is written when asked


def test_executing_everything_anew_fails_where_a_record_was_wrong(source: Path) -> None:
    told = source.parent / "told"
    told.write_text("one thing", "utf-8")
    _write(source, a=f"print(open({str(told)!r}).read())", b="print(1)", bad="1 + 1")
    assert _build(source, EXECUTED_WRITE="yes")[0] == 0
    code, said = _build(source, EXECUTE_ANEW="yes")
    assert code == 0, said
    assert "executing 3 stale pages" in said
    told.write_text("another", "utf-8")
    code, said = _build(source, EXECUTE_ANEW="yes")
    assert code == 1
    assert "a: code cell 1 gave" in said and "another" in said


def test_a_page_that_opens_a_file_of_the_repository_unseen_cannot_go_on_record(source: Path) -> None:
    name = f"str(pathlib.Path({str(ROOT)!r}) / ('LICEN' + 'SE'))"
    child = "[sys.executable, '-c', f'print(len(open({path!r}).read()))']"
    code = f"import pathlib, subprocess, sys\npath = {name}\nprint(subprocess.run({child}))"
    _write(source, a=code, b="import figures", bad="1 + 1")
    code, said = _build(source, EXECUTED_WRITE="yes")
    assert code == 1
    assert "a opened LICENSE, which no import and no name in its code leads to" in said
    assert "b opened" not in said
    assert {file.name for file in (source / "executed").iterdir()} == {"b.json.gz", "bad.json.gz"}
