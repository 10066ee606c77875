"""Whatever a grader was started with, it grades or says in one line what to do: never a zero."""

import errno
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.cli import judge
from autograder.course.paths import REFERENCE, ROOT
from autograder.judge import arguments, limits
from autograder.judge import judge as judging
from autograder.sandbox import bubblewrap, own_limits, staging
from tests.autograder.test_sight import OPENS, environment, python, site_packages

LIMITS = {name: count * unit for name, count, unit, *_ in own_limits.NEEDED}
#: Runs an answer in a sandbox of its own process, which has lower limits and makes files that it alone may read.
ASKS = """
import os, resource, sys
from autograder.judge import protocol
from autograder.sandbox.bubblewrap import open_sandbox
from tests.autograder.test_sandbox import GIVEN, PLANS

resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))
os.umask(0o077)
body = b"import os\\ndef causal_mask(n):\\n    return os.umask(0)"
request = protocol.Request("masks.causal_mask", PLANS)
(answers,) = protocol.ask(GIVEN | {"masks.py": body}, [request], False, open_sandbox())
print(answers["0"][0])
"""


def test_each_limit_is_what_an_answer_may_need():
    assert LIMITS["AS"] == limits.ADDRESS_SPACE_BYTES
    assert LIMITS["NPROC"] == limits.PROCESSES
    assert LIMITS["CPU"] == limits.EXERCISE_CPU_SECONDS + 1
    assert LIMITS["FSIZE"] == arguments.BYTES


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("isolation", bubblewrap.CHOICES)
def test_a_limit_that_is_too_low_is_told_before_anything_runs(name, isolation, monkeypatch):
    kind = getattr(resource, f"RLIMIT_{name}")
    monkeypatch.setattr(
        resource, "getrlimit", lambda asked: (1, LIMITS[name] - 1) if asked == kind else (resource.RLIM_INFINITY,) * 2
    )
    with pytest.raises(bubblewrap.SandboxUnavailable, match="nothing is run. Raise it .* run the command again"):
        bubblewrap.open_sandbox(isolation)


def test_a_limit_that_the_grader_may_raise_itself_is_raised(monkeypatch):
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, values: raised.append((kind, values)))
    assert own_limits.raise_or_tell() == ""
    assert raised == [(getattr(resource, f"RLIMIT_{name}"), (resource.RLIM_INFINITY,) * 2) for name in LIMITS]


def test_limits_below_those_of_an_answer_that_need_not_be_so_high_cost_nothing():
    done = subprocess.run(
        [sys.executable, "-c", ASKS],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "solutions", ROOT / "src")))},
        capture_output=True,
        text=True,
    )
    assert f"'value': '{0o022}'" in done.stdout, done.stderr  # files are as other processes expect them


def test_a_folder_that_torch_cannot_be_imported_from_is_named(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/srv/caf\udce9")
    with pytest.raises(bubblewrap.SandboxUnavailable, match=r"caf\\udce9': the name of a folder there is not UTF-8"):
        bubblewrap.open_sandbox()


def test_what_an_installation_prints_when_python_starts_is_no_answer_of_the_self_test(monkeypatch):
    run = subprocess.run

    def greeted(*arguments, **options):
        done = run(*arguments, **options)
        return subprocess.CompletedProcess(done.args, done.returncode, f"{{}}\nhello\n{done.stdout}", done.stderr)

    expected = bubblewrap._run_self_test(())
    monkeypatch.setattr(subprocess, "run", greeted)
    assert bubblewrap._run_self_test(()) == expected
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, "hello\n", ""))
    assert bubblewrap._run_self_test(()) == ("hello", ())


def test_a_python_that_is_named_through_a_folder_which_is_not_shown_is_found(tmp_path):
    environment(tmp_path / "environment", packages=True)
    (tmp_path / "unseen").mkdir()
    program = tmp_path / "unseen" / ".." / "environment" / "bin" / "python"
    done = python(str(program), OPENS, path=f"{site_packages()}:{ROOT / 'src'}")
    assert done.stdout == "bubblewrap\n", done.stdout + done.stderr


def test_where_the_grader_keeps_bytecode_changes_no_name_that_is_staged(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    staged = judging._with_bytecode("masks.py", b"assert True, 'where bytecode is kept'")
    assert set(staged) == {"masks.py", f"__pycache__/masks.{sys.implementation.cache_tag}.pyc"}
    staging.stage_programs(tmp_path)
    assert not [name for name in os.listdir(tmp_path) if name not in ("code", "work")]


@pytest.mark.parametrize("missing", ["setpriv", "unshare"])
def test_a_program_that_root_needs_to_give_up_its_rights_is_named_with_its_package(missing, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda name: None if name == missing else f"/usr/bin/{name}")
    told, _ = bubblewrap._run_self_test(())
    assert told == f"the program {missing} is not installed (Debian: apt-get install util-linux)"


@pytest.fixture
def package(tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "attention").symlink_to(REFERENCE)
    return tmp_path / "ada"


def judge_command(package, *options):
    return CliRunner().invoke(main, ["judge", str(package), "--exercise", "masks.causal_mask", *map(str, options)])


def test_judge_gives_no_points_where_the_grader_fails(package, tmp_path, monkeypatch):
    judged = judge.cluster.judged

    def failing(*arguments):
        for name, result in judged(*arguments):
            yield name, replace(result, grader_error=True)

    monkeypatch.setattr(judge, "cluster", SimpleNamespace(judged=failing))
    done = judge_command(package, "--json", tmp_path / "out.json")
    assert done.exit_code == 1 and "the grader failed, not the answers" in " ".join(done.output.split())
    assert "of 7 points" not in done.output and json.loads((tmp_path / "out.json").read_text()) == {}


def test_judge_says_in_one_line_why_there_is_no_sandbox(package, monkeypatch):
    monkeypatch.setattr(bubblewrap, "_tried", {(): ("the program bwrap is not installed", ())})
    done = judge_command(package)
    assert done.exit_code == 1 and "the program bwrap is not installed" in " ".join(done.output.split())
    assert isinstance(done.exception, SystemExit)


def test_judge_says_in_one_line_that_a_disk_is_full_wherever_it_is(package, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), source, None, target)

    done = judge_command(package, "--json", "/dev/full")
    assert done.exit_code == 1 and "judge: the disk is full: make room, and run judge again" in done.output
    monkeypatch.setattr(bubblewrap, "_tried", {})
    monkeypatch.setattr(staging.shutil, "copy2", full)
    done = judge_command(package)
    told = " ".join(done.output.split())
    assert done.exit_code == 1 and told.startswith("judge: the disk is full (") and "attention-stage-" in told
    assert isinstance(done.exception, SystemExit)


def test_of_a_bubblewrap_that_does_not_end_the_program_is_named_and_not_its_hundred_options(monkeypatch):
    def waits(command, **_):
        raise subprocess.TimeoutExpired(command, bubblewrap.SELF_TEST_SECONDS)

    monkeypatch.setattr(subprocess, "run", waits)
    told, _ = bubblewrap._run_self_test(())
    assert told.endswith("has not ended within 60 seconds") and len(told) < 60
