"""The grader's packages import one way, along the list in pyproject.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

from autograder.course.paths import ROOT

CONTRACT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
MOST_PARTS, MOST_LEVELS = 20, 11


def lint(cwd: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache", "--config", ROOT / "pyproject.toml"], cwd=cwd, capture_output=True, text=True
    )


def test_imports_point_down_the_list():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


def test_an_import_that_points_up_is_refused(tmp_path):
    (tmp_path / "autograder").mkdir()
    for layer in CONTRACT["layers"]:
        for name in layer.replace("|", ":").split(":"):
            (tmp_path / "autograder" / f"{name.strip()}.py").touch()
    (tmp_path / "autograder" / "__init__.py").touch()
    assert lint(tmp_path).returncode == 0
    (tmp_path / "autograder" / "course.py").write_text("from . import judge\n", encoding="utf-8")
    done = lint(tmp_path)
    assert done.returncode == 1 and "autograder.course -> autograder.judge" in done.stdout


def test_the_grader_has_few_parts_and_levels():
    names = {path.stem for path in (ROOT / "autograder").glob("*.py")} - {"__init__"}
    parts = [*names, *(path.parent.name for path in (ROOT / "autograder").glob("*/__init__.py"))]
    assert len(parts) <= MOST_PARTS
    assert len(CONTRACT["layers"]) <= MOST_LEVELS


def test_nothing_that_is_shipped_imports_the_tests():
    shipped = [*(ROOT / "autograder").rglob("*.py"), *(ROOT / "src").rglob("*.py"), *(ROOT / "solutions").rglob("*.py")]
    for path in shipped:
        text = path.read_text(encoding="utf-8")
        assert "import tests" not in text and "from tests" not in text and '"tests.' not in text, path
