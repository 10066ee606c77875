"""The container's files agree with the repository: what they copy is there, pins and flags are the tested ones."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, patch

import pytest
import yaml

from autograder.deploy.doctor import FLAGS
from autograder.gradebook.feedback.formulas import KATEX
from autograder.release.handout import NEEDED, pinned

from .files import ROOT

FILES = ROOT / "autograder" / "deploy" / "files" / "container"
PINS = dict(
    line.split(";")[0].strip().split("==")
    for name in ("requirements.txt", "tests/requirements.txt")
    for line in (ROOT / name).read_text("utf-8").splitlines()
    if re.match(r"[\w.-]+==", line)
)
RUN_AT_HUB = {"jupyterhub": "6.1.1"}  # what the guide was tried with


def instructions(name: str) -> list[list[str]]:
    """The instructions of a container file, a list of words each."""
    text = re.sub(r"\\\n", " ", (FILES / name).read_text("utf-8"))
    return [shlex.split(line, comments=False) for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(("name", "context"), [("Containerfile", ROOT), ("Containerfile.hub", FILES)])
def test_a_container_file_copies_what_is_there(name: str, context: Path) -> None:
    copies = [words[1:-1] for words in instructions(name) if words[0] == "COPY"]
    copied = [words for words in copies if not words[0].startswith("--from=")]
    assert copied and all((context / one).exists() for words in copied for one in words)


def test_the_grader_is_nobody_special_and_starts_the_command_line() -> None:
    words = instructions("Containerfile")
    users = [one[1] for one in words if one[0] == "USER"]
    last = [one[0] for one in words].index("USER")
    assert users == ["1000"] and not [one for one in words[last:] if one[0] == "RUN"]
    assert next(one for one in words if one[0] == "ENTRYPOINT")[1:] == [
        "[/opt/attention/.venv/bin/python,", "-m,", "autograder]"
    ]  # fmt: skip
    assert not re.search(r"privileged|cap[-_]add|SYS_ADMIN", "".join(path.read_text("utf-8") for path in files()))


def test_the_image_has_what_sets_the_formulas_of_feedback_pages() -> None:
    words = instructions("Containerfile")
    place = KATEX.relative_to(ROOT).as_posix()
    assert ["COPY", "--from=katex", f"/katex/{place}", place] in words
    stage = next(number for number, one in enumerate(words) if one[0] == "FROM" and one[-1] != "katex")
    assert any(one[0] == "RUN" and "nodejs" in one for one in words[stage:])


def files() -> list[Path]:
    return sorted(path for path in FILES.iterdir() if path.is_file())


def test_hadolint_has_nothing_to_say_but_that_debians_versions_are_not_pinned() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    for path in FILES.glob("Containerfile*"):  # Debian keeps the last version alone: one that is pinned is soon gone
        done = subprocess.run([linter, "--ignore", "DL3008", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


def test_every_pin_is_that_of_the_requirements() -> None:
    text = "".join(path.read_text("utf-8") for path in files())
    pins = re.findall(r"(?m)(?:^|\s)([A-Za-z][\w-]+)==([\d.]+)", text)
    assert {"torch", "nbgrader", "psycopg2-binary"} <= {name for name, _ in pins}
    assert not [(name, pin) for name, pin in pins if (PINS | RUN_AT_HUB)[name] != pin]


def test_compose_starts_the_grader_with_the_flags_that_doctor_names() -> None:
    tree = yaml.safe_load((FILES / "compose.yml").read_text("utf-8"))
    grader = tree["services"]["grader"]
    assert [f"--security-opt {option}" for option in grader["security_opt"]] == re.findall(
        r"--security-opt \S+", FLAGS["docker"]
    )
    assert grader["cap_drop"] == ["ALL"] and tree["networks"]["grading"]["internal"]
    named = {one.split(":")[0] for service in tree["services"].values() for one in service["volumes"]}
    assert {one for one in named if not one.startswith("./")} == set(tree["volumes"])
    asked = set(re.findall(r"\$\{(\w+)", (FILES / "compose.yml").read_text("utf-8")))
    given = set(re.findall(r"(?m)^(\w+)=", (FILES / "env.example").read_text("utf-8")))
    assert asked == given


def test_learners_at_the_hub_have_what_a_released_problem_set_asks_for() -> None:
    """`python -m selfcheck` failed in the hub's terminal, for want of click."""
    given = (FILES / "requirements.hub.txt").read_text("utf-8").splitlines()
    assert set(pinned(NEEDED).splitlines()) <= set(given)
    guide = (ROOT / "book" / "guides" / "jupyterhub.md").read_text("utf-8")
    assert not [name for name in NEEDED if f"`{name}`" not in guide]


def test_the_hub_finds_what_makes_accounts_and_keeps_its_state_to_itself() -> None:
    """Nobody could sign in: useradd is in /usr/sbin, which the image's PATH did not have."""
    words = instructions("Containerfile.hub")
    path = next(one[1] for one in words if one[0] == "ENV" and one[1].startswith("PATH="))
    assert '"useradd"' in (FILES / "jupyterhub_config.py").read_text("utf-8") and "/usr/sbin" in path.split(":")
    place = next(one[1] for one in words if one[0] == "WORKDIR")
    assert any("install -d -m 700 " + place in " ".join(one) for one in words)
    tree = yaml.safe_load((FILES / "compose.yml").read_text("utf-8"))
    assert f"hub:{place}" in tree["services"]["hub"]["volumes"]


def test_no_learner_at_the_hub_has_the_number_of_the_grader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first account that useradd makes has the number 1000, as the grader has in its own container."""
    monkeypatch.setenv("HUB_PASSWORD", "a password")
    monkeypatch.setenv("HUB_USERS", "ada")
    settings = runpy.run_path(str(FILES / "jupyterhub_config.py"), {"get_config": MagicMock()}, "hub")
    grader = next(int(words[1]) for words in instructions("Containerfile") if words[0] == "USER")
    assert not settings["FIRST"] <= grader <= settings["LAST"]
    with patch("subprocess.run") as run, patch("os.chmod"):
        run.return_value.returncode = 1  # there is no such account yet
        settings["account"](MagicMock())
    made = run.call_args_list[-1].args[0]
    assert made[0] == "useradd" and f"UID_MIN={settings['FIRST']}" in made and f"UID_MAX={settings['LAST']}" in made


def test_the_hub_s_settings_are_python(tmp_path: Path) -> None:
    for path in FILES.glob("*.py"):
        done = subprocess.run(
            [sys.executable, "-m", "py_compile", path], env={"PYTHONPYCACHEPREFIX": str(tmp_path)}, check=False
        )
        assert done.returncode == 0
