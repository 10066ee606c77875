"""The programs that pip cannot install are found, installed or named: with a PATH made for the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import prerequisites

from .files import ROOT

SCRIPT = ROOT / "autograder" / "prerequisites.py"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose PATH is one empty folder, and where we are nobody special."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    elsewhere = prerequisites.POSTGRESQL._replace(versions=tmp_path / "postgresql")
    needed = {
        goal: tuple(elsewhere if one == prerequisites.POSTGRESQL else one for one in wanted)
        for goal, wanted in prerequisites.NEEDED.items()
    }
    monkeypatch.setattr(prerequisites, "NEEDED", needed)
    return programs


def program(machine: Path, name: str, body: str = "exit 0") -> Path:
    """Puts an executable script on the machine's PATH."""
    path = machine / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def apt_get(machine: Path) -> Path:
    """An apt-get that writes down how it was called, and installs a script per package."""
    log = machine / "apt.log"
    makes = f'printf "#!/bin/sh\\n" > {machine}/$1; /bin/chmod 755 {machine}/$1'
    body = f"""echo "$DEBIAN_FRONTEND $*" >> {log}
give() {{ {makes}; }}
for package in "$@"; do case "$package" in
  nodejs) give node;; npm) give npm;; bubblewrap) give bwrap;; util-linux) give setpriv;; chromium) give chromium;;
  postgresql) give initdb;;
esac; done"""
    program(machine, "apt-get", body)
    return log


def test_root_gets_what_is_missing_installed(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    log = apt_get(machine)
    program(machine, "node")
    program(machine, "npm")
    assert prerequisites.main(["test"]) == 0
    update, install = log.read_text(encoding="utf-8").splitlines()
    assert update == "noninteractive update"
    assert install.endswith("bubblewrap util-linux chromium postgresql")
    assert "nodejs" not in install


def test_sudo_without_a_password_is_used(machine: Path) -> None:
    log = apt_get(machine)
    program(machine, "sudo", 'shift; [ "$1" = true ] && exit 0; export "$1"; shift; exec "$@"')
    assert prerequisites.main(["course"]) == 0
    assert "noninteractive install" in log.read_text(encoding="utf-8")


def test_sudo_that_asks_for_a_password_is_left_alone(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = apt_get(machine)
    program(machine, "sudo", "exit 1")
    assert prerequisites.main(["test"]) == 1
    assert not log.exists()
    assert "sudo apt-get install nodejs npm bubblewrap util-linux chromium postgresql" in capsys.readouterr().err


def test_a_machine_without_apt_is_told_what_to_install(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert prerequisites.main(["course"]) == 1
    said = capsys.readouterr().err
    assert "make course" in said and "nodejs.org" in said


def test_the_course_goes_on_without_a_sandbox_and_says_so(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(machine, "node")
    program(machine, "npm")
    assert prerequisites.main(["course"]) == 0
    assert "bubblewrap" in capsys.readouterr().out


def test_all_tests_go_on_without_further_browsers_and_say_so(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for needed in prerequisites.NEEDED["test-all"][:-1]:
        program(machine, needed.names[0])
    wished = prerequisites.WISHED["test-all"]
    assert {"firefox-esr", "webkit2gtk-driver"} <= {program.package for program in wished}
    assert prerequisites.missing(wished) == list(wished)
    prerequisites.main(["test-all"])
    assert "`make test-all` goes on without" in capsys.readouterr().out


def test_an_installation_that_fails_is_not_taken_for_success(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    program(machine, "apt-get", "exit 100")
    assert prerequisites.main(["test"]) == 1


def test_another_name_of_the_browser_will_do(machine: Path) -> None:
    program(machine, "google-chrome")
    assert prerequisites.missing([prerequisites.CHROMIUM]) == []


def test_the_newest_version_off_the_path_is_found(machine: Path, tmp_path: Path) -> None:
    wanted = prerequisites.NEEDED["test"][-1]
    assert prerequisites.missing([wanted]) == [wanted]
    for version in ("9.6", "15", "9.10"):
        (tmp_path / "postgresql" / version / "bin").mkdir(parents=True)
        program(tmp_path / "postgresql" / version / "bin", "initdb")
    assert prerequisites.path_of(wanted) == str(tmp_path / "postgresql" / "15" / "bin" / "initdb")
    assert prerequisites.path_of(wanted, lambda name: f"/opt/{name}") == "/opt/initdb"


@pytest.mark.parametrize("version", [(3, 11, 2), (3, 12), (3, 14, 1)])
def test_supported_pythons_pass(version: tuple[int, ...]) -> None:
    assert prerequisites.python_problem(version) is None


@pytest.mark.parametrize("version", [(3, 10), (3, 15), (2, 7)])
def test_other_pythons_are_refused_by_number(machine: Path, version: tuple[int, int]) -> None:
    problem = prerequisites.python_problem(version)
    assert problem is not None
    assert "needs Python 3.11 to 3.14" in problem and f"this is Python {version[0]}.{version[1]}" in problem


def test_a_better_python_on_the_path_is_named(machine: Path) -> None:
    program(machine, "python3.12")
    assert "make PYTHON=python3.12" in str(prerequisites.python_problem((3, 9)))


def test_it_runs_before_anything_is_installed() -> None:
    command = [sys.executable, "-I", "-S", str(SCRIPT), "python"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
