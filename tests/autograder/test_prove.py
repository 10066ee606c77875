"""The proof of the checks as a command: what it says and writes down, and when something does not hold."""

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.authoring import mutation, proofs
from autograder.authoring.mutation.mutants import mutants
from autograder.cli import prove
from autograder.course.paths import BOOK, ROOT
from selfcheck.catalogue import exercises
from tests.exercises.parts import CATALOGUE, parts_of_module

MODULES = mutation.modules()


def shares(text):
    """The share of each module's mutants that is seen, from the figures."""
    rows = [line for line in text.splitlines() if line.startswith("| mutants of `")]
    return {row.split("`")[1]: float(row.split("|")[3].split("%")[0]) / 100 for row in rows}


@pytest.mark.full  # the proofs of all exercises stand in tests/exercises
@pytest.mark.timeout(900)
def test_a_part_of_the_proof_holds(tmp_path):
    command = [sys.executable, "-m", "autograder", "prove", "--quick", "--out", tmp_path / "figures.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("holds")]
    assert len(said) == 4 + len(MODULES) and "0 of" in done.stdout
    assert set(shares((tmp_path / "figures.md").read_text())) == set(MODULES)


@pytest.mark.full
def test_where_the_processes_that_judge_mutants_cannot_start_the_proof_ends():
    program = """if __name__ == "__main__":
    from autograder.authoring import mutation
    list(mutation.judged(mutation.mutants_of("scores")[:2]))
"""  # from standard input, which these processes look for as a file
    done = subprocess.run([sys.executable, "-"], input=program, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 1 and "BrokenProcessPool" in done.stderr


def test_the_guides_figures_are_of_the_whole_proof():
    text = (BOOK / "guides" / "proven.txt").read_text(encoding="utf-8")
    assert text.startswith("`python -m autograder prove --seed ")
    later = re.search(r"^Not in these figures: (.*)$", text, re.MULTILINE)  # written since, and proven one by one
    missing = set(re.findall(r"`(\w+)`", later[1])) if later else set()
    assert set(shares(text)) == set(MODULES) - missing and min(shares(text).values()) >= prove.MIN_SHARE
    if later:
        return
    wrong = sum(len(one.misconceptions) for one in exercises())
    assert f"| misconceptions fail a visible check and are named | {wrong:,} | all |" in text
    assert f"{len(exercises())} exercises, {prove.FULL.secrets} course secrets" in text


def test_the_figures_are_written_down_when_everything_holds(monkeypatch, tmp_path):
    monkeypatch.setattr(prove, "checks_proven", lambda extent, seed, modules: [prove.Proof("checks", 1234)])
    noted = prove.Proof("mutants of `masks` fail a check", 10, note="90.0%; 3 more change nothing")
    monkeypatch.setattr(prove, "mutants_killed", lambda extent, seed, modules: [noted])
    done = CliRunner().invoke(main, ["prove", "--seed", "7", "--out", str(tmp_path / "figures.md")])
    assert done.exit_code == 0 and "0 of 2 proofs fail" in done.output
    text = (tmp_path / "figures.md").read_text(encoding="utf-8")
    assert text.startswith("`python -m autograder prove --seed 7`: ") and "| checks | 1,234 | all |" in text
    assert shares(text) == {"masks": 0.9}


def test_one_module_is_proven_by_itself(monkeypatch, tmp_path):
    """What somebody runs who has changed one module: its exercises, its pairs, its mutants, and no other's."""
    asked = []
    monkeypatch.setattr(prove, "_proven", lambda what, cases, tasks: asked.append(tasks) or prove.Proof(what, cases))
    monkeypatch.setattr(
        mutation, "judged", lambda chosen: [mutation.Outcome(one.module, one.name, "a check") for one in chosen]
    )
    out = tmp_path / "figures.md"
    done = CliRunner().invoke(main, ["prove", "--quick", "--module", "masks", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert len(asked) == 4 and {task[1].module for tasks in asked for task in tasks} == {"masks"}
    assert set(shares(out.read_text("utf-8"))) == {
        "masks"
    } and "prove --quick --module masks --seed 0`" in out.read_text("utf-8")


def test_a_module_that_is_not_there_is_answered_with_those_that_are():
    done = CliRunner().invoke(main, ["prove", "--module", "mask"])
    assert done.exit_code == 2 and "no module mask; there are" in done.output and "masks" in done.output


def test_where_there_is_no_checkout_the_proof_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "ALTERNATIVES", tmp_path)
    done = CliRunner().invoke(main, ["prove"])
    assert done.exit_code == 1
    assert "right answers in other styles" in done.output and "run this in a checkout" in " ".join(done.output.split())


def test_what_does_not_hold_is_said_and_nothing_is_written(monkeypatch, tmp_path):
    survivor = mutation.mutants_of("scores")[0]
    monkeypatch.setattr(mutation, "modules", lambda: ["scores"])
    monkeypatch.setattr(prove, "checks_proven", lambda extent, seed, modules: [prove.Proof("checks", 1)])
    monkeypatch.setattr(mutation, "judged", lambda chosen: [mutation.Outcome("scores", survivor.name, "")])
    done = CliRunner().invoke(main, ["prove", "--quick", "--out", str(tmp_path / "figures.md")])
    assert done.exit_code == 1 and "scores: no check sees" in " ".join(done.output.split())
    assert not (tmp_path / "figures.md").exists()


def test_a_mutant_that_is_listed_as_unseen_though_a_check_sees_it_is_said(monkeypatch):
    monkeypatch.setattr(mutation, "modules", lambda: ["masks"])
    monkeypatch.setattr(prove, "checks_proven", lambda extent, seed, modules: [prove.Proof("checks", 1)])
    monkeypatch.setattr(mutation, "judged", lambda chosen: [])
    done = CliRunner().invoke(main, ["prove"])
    told = " ".join(done.output.split())
    assert done.exit_code == 1 and told.count("which is listed as unseen") == len(mutation.survivors("masks").unseen)


def test_a_misconception_that_passes_is_a_line_of_the_proof(monkeypatch):
    exercise = next(one for one in exercises() if one.id == "worked_example.softmax")
    right = proofs.reference(exercise.id)
    wrong = proofs.misconceptions_here(exercise)
    name = next(iter(wrong))
    monkeypatch.setattr(proofs, "misconceptions_here", lambda _: wrong | {name: right})
    assert proofs.misconceptions_fail(exercise) == [f"{exercise.id}: {name} passes every visible check"]
    monkeypatch.setattr(proofs, "alternatives_here", lambda _: {"wrong": wrong[name]})
    assert "wrong fails" in proofs.alternatives_pass(exercise, b"a course")[0]


@pytest.mark.proof(depends=parts_of_module("worked_example"), area="exercises/worked_example", ignores=CATALOGUE)
def test_a_mutant_that_a_check_sees_is_told_from_one_that_none_sees():
    inside = next(one for one in mutation.mutants_of("worked_example") if one.where == "dot_scores")
    same = mutation.Mutant(
        "worked_example", "dot_scores", "the same", (ROOT / "solutions/attention/worked_example.py").read_text()
    )
    listed = mutation.survivors("worked_example")
    assert inside.name not in listed.equivalent
    found = {one.name: one.seen_by for one in mutation.judged([inside, same], processes=1)}
    assert found["the same"] == "" and found[inside.name]


def test_mutants_change_one_spot_each_and_leave_texts_alone():
    source = (
        'def f(x, least=1):\n    """Adds."""\n    if x < least:\n        raise ValueError("small")\n    return x + 1\n'
    )
    found = {one.name: one.source for one in mutants("m", source)}
    assert "f: `x + 1` → `x - 1`" in found and "f: `x < least` → `x <= least`" in found
    assert all("Adds." in text and "small" in text for text in found.values())
    assert len(set(found.values())) == len(found)
