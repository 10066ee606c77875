"""`doctor` says which isolation there is, what forbids it, and what to do."""

import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.deploy import doctor
from autograder.deploy.doctor import FAILS, FLAGS, GOOD, LACKS, examine
from autograder.sandbox import bubblewrap
from autograder.sandbox.bubblewrap import SandboxUnavailable, open_sandbox
from autograder.sandbox.sight import InSight


def called(*words):
    done = CliRunner().invoke(main, ["doctor", *words], catch_exceptions=False)
    return done.exit_code, " ".join(done.output.split())


def found(**named):
    return {finding.name: finding for finding in examine(**named)}


def test_where_the_sandbox_works_doctor_says_so_and_what_it_lacks():
    status, said = called()
    assert status == 0 and f"sandbox: {open_sandbox().description}: its self-test passes" in said
    assert "grade runs submitted code in bubblewrap here" in said and "fails" not in said
    assert {finding.state for finding in examine()} <= {GOOD, LACKS}


def test_without_bubblewrap_it_says_what_to_install(monkeypatch):
    real = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, *more: None if name == "bwrap" else real(name, *more))
    monkeypatch.setattr(bubblewrap, "_tried", {})
    status, said = called()
    assert status == 1 and "fails bwrap: not installed Debian and Ubuntu: apt-get install bubblewrap" in said
    assert "the program bwrap is not installed" in said and re.search(r"grade stops here: bwrap, sandbox$", said)


@pytest.mark.parametrize(("name", "value", "remedy"), doctor.SYSCTLS)
def test_the_setting_that_forbids_namespaces_is_named_with_the_command(name, value, remedy, tmp_path, monkeypatch):
    refuse_namespaces(monkeypatch)
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(f"{value}\n")
    finding = found(proc_sys=tmp_path)["user namespaces"]
    assert finding.state == FAILS and "Operation not permitted" in finding.text
    assert f"{name.replace('/', '.')} is {value}. On the host, as root: {remedy}" in finding.remedy


def test_in_a_container_it_names_the_flags(tmp_path, monkeypatch):
    refuse_namespaces(monkeypatch)
    (tmp_path / "containerenv").touch()
    monkeypatch.setattr(doctor, "CONTAINERS", (str(tmp_path / "containerenv"),))
    remedy = found(proc_sys=tmp_path)["user namespaces"].remedy
    assert all(flags in remedy for flags in FLAGS.values()) and "--privileged" not in remedy


def refuse_namespaces(monkeypatch):
    real = subprocess.run

    def refused(command, *more, **options):
        if "unshare" in command and "--user" in command:
            text = "unshare: unshare failed: Operation not permitted\n"
            return subprocess.CompletedProcess(command, 1, "", text)
        return real(command, *more, **options)

    monkeypatch.setattr(subprocess, "run", refused)


@pytest.mark.parametrize(
    ("error", "text"), [(SandboxUnavailable("refused\nmore"), "refused"), (InSight("move it"), "would see")]
)
def test_a_sandbox_that_is_refused_fails(error, text, monkeypatch):
    def refused(**_):
        raise error

    monkeypatch.setattr(doctor, "open_sandbox", refused)
    finding = found()["sandbox"]
    assert finding.state == FAILS and text in finding.text and finding.remedy


def test_it_stays_readable_where_a_setting_has_a_value_that_allows(tmp_path, monkeypatch):
    refuse_namespaces(monkeypatch)
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel/unprivileged_userns_clone").write_text("1\n")
    monkeypatch.setattr(doctor, "CONTAINERS", ())
    assert found(proc_sys=tmp_path)["user namespaces"].remedy == "Ask who runs this machine."
