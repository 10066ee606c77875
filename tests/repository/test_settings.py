"""Versions, licences, commands and workflows agree with one another."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from autograder.prerequisites import NEWEST, OLDEST

from .files import ROOT, make_calls, make_targets, ours, text

SUPPORTED = [f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]


def normal(name: str) -> str:
    """A distribution's name as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    """The [project] table of pyproject.toml."""
    return tomllib.loads(text("pyproject.toml"))["project"]


def pins() -> dict[str, str]:
    """Version by distribution, from requirements.txt, of those that are for this system."""
    lines = [line for line in text("requirements.txt").splitlines() if line and not line.startswith("#")]
    assert lines.pop() == "-e .", "the last line installs the course itself"
    assert len({normal(line.split("==")[0]) for line in lines}) == len(lines), "a distribution is pinned twice"
    return _pinned(lines)


def pins_of_tests() -> dict[str, str]:
    """Version by distribution, from tests/requirements.txt."""
    return _pinned([line for line in text("tests/requirements.txt").splitlines() if line and not line.startswith("#")])


def _pinned(lines: list[str]) -> dict[str, str]:
    found = {}
    for line in map(Requirement, lines):
        pin = re.fullmatch(r"==([0-9][A-Za-z0-9.]*)", str(line.specifier))
        assert pin, f"not pinned: {line}"
        if line.marker is None or line.marker.evaluate():
            found[normal(line.name)] = pin[1]
    return found


def test_every_requirement_is_pinned_and_installed() -> None:
    for name, version in pins().items():
        assert importlib.metadata.version(name).split("+")[0] == version, f"{name}: run make setup"


def test_everything_imported_is_pinned() -> None:
    imported: set[str] = set()
    for name in ours(".py"):
        for node in ast.walk(ast.parse(text(name))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.split(".")[0])
    distributions = importlib.metadata.packages_distributions()
    third_party = {name for name in imported - set(sys.stdlib_module_names) if name in distributions}
    own = {"attention", "selfcheck", "autograder"}
    pinned = pins() | pins_of_tests()
    unpinned = {
        name for name in third_party - own if not any(normal(package) in pinned for package in distributions[name])
    }
    assert not unpinned


def test_supported_pythons_agree_everywhere() -> None:
    assert project()["requires-python"] == f">={SUPPORTED[0]},<{NEWEST[0]}.{NEWEST[1] + 1}"
    tested = workflow()["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert tested == SUPPORTED[: len(tested)], "what CI runs, which may be less than what the pins have wheels for"
    assert f"CI runs {tested[0]} to {tested[-1]}" in text("README.md")
    assert text(".binder/runtime.txt").strip().removeprefix("python-") in SUPPORTED
    assert f"Python {SUPPORTED[0]} to {SUPPORTED[-1]}" in text("README.md")


def test_the_citation_is_complete_and_agrees_with_the_project() -> None:
    citation = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors", "version", "date-released", "license"} <= set(citation)
    assert citation["cff-version"] == "1.2.0" and citation["type"] in ("software", "dataset")
    assert all(author.get("name") or author.get("family-names") for author in citation["authors"])
    assert str(citation["version"]) == project()["version"]
    assert citation["license"] == ["BSD-3-Clause", "CC-BY-4.0"]
    newest = re.search(r"^## (\S+) \((\S+)\)", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert newest is not None
    assert newest.groups() == (project()["version"], citation["date-released"].isoformat())


def test_the_repository_has_one_address() -> None:
    url = yaml.safe_load(text("book/_config.yml"))["repository"]["url"].rstrip("/")
    owner, name = url.split("/")[-2:]
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["repository-code"] == url
    assert citation["url"] == f"https://{owner}.github.io/{name}/"
    assert citation["url"] in text("README.md")


def test_both_licences_are_there_and_named() -> None:
    assert text("LICENSE").startswith("BSD 3-Clause License")
    assert "https://creativecommons.org/licenses/by/4.0/legalcode" in text("LICENSE-TEXT")
    assert project()["license"] == "BSD-3-Clause"
    assert json.loads(text("package.json"))["license"] == "BSD-3-Clause"
    assert "[BSD-3-Clause](LICENSE)" in text("README.md") and "[CC BY 4.0](LICENSE-TEXT)" in text("README.md")


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        ".github/workflows/ci.yml",
        ".github/workflows/nightly.yml",
        ".ci/run",
        "book/guides/instructor.md",
    ],
)
def test_every_make_command_that_is_named_exists(name: str) -> None:
    for target, variables in make_calls(text(name).replace("exec make", "    make")):
        assert target in make_targets(), f"{name} names make {target}"
        for variable in variables:
            assert re.search(rf"^{variable} *\?=", text("Makefile"), flags=re.MULTILINE), f"{name}: {variable}="


def test_help_names_what_the_readme_promises() -> None:
    for target in ("course", "test", "record", "test-all", "lab", "build", "book", "clean"):
        assert f"make {target}" in text("Makefile").split("help:", 1)[1].split("\n\n")[0]


def workflow(name: str = "ci") -> dict[str, Any]:
    """A workflow, as GitHub reads it."""
    return yaml.safe_load(text(f".github/workflows/{name}.yml"))


def commands(job: str, name: str = "ci") -> list[str]:
    """What a job of a workflow runs."""
    return [step["run"] for step in workflow(name)["jobs"][job]["steps"] if "run" in step]


def test_the_workflow_runs_the_same_commands_as_everybody() -> None:
    assert "make test" in commands("test")
    assert "make course SERVE=no" in commands("course")


def test_every_proof_is_made_anew_each_night_on_every_python_that_ci_runs() -> None:
    job = workflow("nightly")["jobs"]["test-all"]
    assert "make test-all" in commands("test-all", "nightly")
    assert job["strategy"]["matrix"] == workflow()["jobs"]["test"]["strategy"]["matrix"]
    (recipe,) = re.findall(r"^test-all:.*\n((?:\t.*\n)+)", text("Makefile"), flags=re.MULTILINE)
    assert "--records=check" in recipe and "autograder prove" in recipe
    assert yaml.safe_load(text(".github/workflows/nightly.yml"))[True]["schedule"]  # YAML reads `on` as True


@pytest.mark.parametrize("failing", [None, "book", "pytest", "prove"])
def test_make_test_all_runs_every_part_and_fails_where_one_does(tmp_path: Path, failing: str | None) -> None:
    program, log = tmp_path / "python", tmp_path / "log"
    program.write_text(f'#!/bin/sh\necho "$*" >> {log}\ncase "$*" in *" {failing} "*) exit 3;; esac\n')
    program.chmod(0o755)
    (recipe,) = re.findall(r"^test-all:.*\n((?:\t.*\n)+)", text("Makefile"), flags=re.MULTILINE)
    for name in ("PYTEST", "FIGURES"):
        (value,) = re.findall(rf"^{name} *:= *(.*)", text("Makefile"), flags=re.MULTILINE)
        recipe = recipe.replace(f"$({name})", value)
    script = recipe[recipe.index("@") + 1 :].replace("$(PY)", str(program)).replace("$$", "$")
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == (0 if failing is None else 1), done.stderr
    book, tests, prove = log.read_text().splitlines()
    assert "book --execute-all" in book and "--records=check" in tests
    assert re.search(r"prove --seed \d+ --out book/guides/proven.txt$", prove)


def test_the_book_is_published_from_main_and_only_after_the_tests() -> None:
    publish = workflow()["jobs"]["publish"]
    assert publish["if"] == "github.ref == 'refs/heads/main'"
    assert set(publish["needs"]) == {"test", "course"}
    uploads = [
        step for step in workflow()["jobs"]["course"]["steps"] if "upload-pages-artifact" in step.get("uses", "")
    ]
    site = re.search(r"^SITE\s*:=\s*(\S+)", text("Makefile"), flags=re.MULTILINE)
    assert site is not None and uploads[0]["with"]["path"] == site[1]


def test_ci_run_is_make_test() -> None:
    assert os.access(ROOT / ".ci/run", os.X_OK)
    assert "make test" in text(".ci/run")


def test_the_dev_container_and_binder_settings_are_valid() -> None:
    container = json.loads(text(".devcontainer/devcontainer.json"))
    assert container["postCreateCommand"].split()[0] == "make"
    assert container["postCreateCommand"].split()[1] in make_targets()
    assert text(".binder/requirements.txt").split() == ["-r", "../requirements.txt"]
    assert os.access(ROOT / ".binder/postBuild", os.X_OK)
