"""What other platforms take: Gradescope's autograder, run where its folders are, and GitHub Classroom's template."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from autograder.__main__ import main
from autograder.course.paths import REFERENCE
from autograder.deploy.bundle import NEEDED, bundle
from autograder.version import digest_of, grader_version

from .shared_courses import copy_of, released

#: By gradescope-autograders.readthedocs.io, "Autograder Specifications".
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
TEXTS = {"output": {"type": "string"}, "output_format": FORMAT, "name_format": FORMAT, "visibility": VISIBILITY}
TEST = {
    "score": {"type": "number"},
    "max_score": {"type": "number"},
    "status": {"enum": ["passed", "failed"]},
    "name": {"type": "string"},
    "number": {"type": "string"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "extra_data": {"type": "object"},
    **TEXTS,
}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), FORMAT),
        **dict.fromkeys(("visibility", "stdout_visibility"), VISIBILITY),
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {"type": "object", "additionalProperties": False, "properties": TEST},
        },
    },
}
METADATA = {
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2018-07-31T23:00:00.000000-07:00", "title": "ps1", "total_points": "50.0"},
    "submission_method": "upload",
    "users": [{"email": "ada@example.org", "id": 1234, "name": "Ada Lovelace"}],
    "previous_submissions": [],
}
RIGHT = (REFERENCE / "worked_example.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    with released(tmp_path_factory, "ps1") as bare:
        course = copy_of(bare, tmp_path_factory.mktemp("bundles") / "course")
    (course.root / "course.toml").write_text('[weights]\n"worked_example.project" = 2\n[students]\nada = {}\n')
    done = CliRunner().invoke(main, ["release", "ps1", "--course", str(course.root)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return course


@pytest.fixture(scope="module")
def packed(course):
    words = ["bundle", "ps1", "--for", "gradescope", "--course", str(course.root)]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0 and "Autograder points there: 49" in " ".join(done.output.split()), done.output
    return course.root / "ps1-gradescope.zip"


def at_gradescope(packed, place, files, **environment):
    """Gradescope's folders with a submission, and what run_autograder writes there; None for no results.json."""
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(place / "source")
    for name, text in files.items():
        path = place / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (place / "submission_metadata.json").write_text(json.dumps(METADATA))
    results = place / "results" / "results.json"
    results.parent.mkdir()
    results.write_text('{"score": 1}')  # of an earlier run
    python = place / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -X importtime "$@" 2>{place}/imports.log\n')
    python.chmod(0o755)
    known = {
        "AUTOGRADER_ROOT": str(place),
        "AUTOGRADER_PYTHON": str(python),
        "PATH": os.environ["PATH"],
        "HOME": "/root",
    }
    done = subprocess.run(
        ["bash", place / "source" / "run_autograder"], env=known | environment, capture_output=True, timeout=600
    )
    return done.returncode, json.loads(results.read_text()) if results.exists() else None


def test_gradescope_gets_what_it_documents_with_nothing_hidden_in_sight(course, packed, tmp_path):
    half = RIGHT + "\n\ndef softmax(scores):\n    return scores\n"
    notebook = (course.release("ps1") / "ps1.ipynb").read_text(encoding="utf-8")
    code, results = at_gradescope(
        packed, tmp_path, {"attention/worked_example.py": half, "ps1.ipynb": notebook, "notes.txt": "x"}
    )
    assert code == 0, (tmp_path / "imports.log").read_text()[-2000:]
    jsonschema.validate(results, SCHEMA)
    *shown, staff = results["tests"]
    scores = {test["number"]: (test["score"], test["max_score"]) for test in shown}
    assert scores["2.1"] == (14.0, 14.0) and scores["2.3"][0] < scores["2.3"][1] and "score" not in results
    assert sum(most for _, most in scores.values()) == 49.0
    assert results["extra_data"]["isolation"].startswith("bubblewrap")
    assert {test["visibility"] for test in shown} == {"after_due_date"} == {results["visibility"]}
    assert staff["visibility"] == "hidden" == results["stdout_visibility"] and "max_score" not in staff
    assert "handed in by Ada Lovelace, 2018-07-01" in staff["output"] and "notes.txt is no part" in staff["output"]
    assert "execution_time" not in results and "judged in " in staff["output"], "how long it took is for staff alone"
    hidden = [line for line in staff["output"].splitlines() if "one query, one value, one feature" in line]
    in_sight = json.dumps(shown)
    assert hidden and "one query, one value" not in in_sight and "a check that is not shown" in in_sight
    assert imported(tmp_path / "imports.log") <= {name.casefold() for name in NEEDED}


def imported(log):
    """The distributions of this environment that were imported."""
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in log.read_text().splitlines() if "|" in line}
    known = packages_distributions()
    found = {one.casefold() for name in names for one in known.get(name, ())}
    return found - {"attention-by-hand", "setuptools"}


def test_what_is_no_submission_is_told_and_scores_nothing_yet(packed, tmp_path):
    code, results = at_gradescope(packed, tmp_path, {"attention/scores.py": "x = 1\n"})
    assert code == 0
    jsonschema.validate(results, SCHEMA)
    assert results["score"] == 0 and "Expected: attention/worked_example.py" in results["output"]
    assert results["tests"][0]["max_score"] == 49.0


def test_without_isolation_there_is_no_score_and_no_zero(packed, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "mkdir", "rm", "dirname", "sh"):
        (programs / name).symlink_to(shutil.which(name))
    code, results = at_gradescope(packed, tmp_path, {"attention/worked_example.py": RIGHT}, PATH=str(programs))
    assert code == 1 and results is None
    assert "Nothing was graded" in (tmp_path / "imports.log").read_text()


def test_the_bundle_judges_as_this_grader_does_and_holds_no_names_and_no_model_answers(course, packed, tmp_path):
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path)
        names = archive.namelist()
        assert archive.getinfo("run_autograder").external_attr >> 16 & 0o111
    assert digest_of(tmp_path / "grader") == grader_version(), "else the answer key would be computed anew each time"
    assert "course/answers/ps1.json" in names and "course/release/ps1/ps1.ipynb" in names
    assert not [
        name for name in names if "answer_key/questions" in name or "gradebook.db" in name or "students.csv" in name
    ]
    assert "ada" not in (tmp_path / "course/course.toml").read_text() and (packed.stat().st_mode & 0o077) == 0
    for script in ("setup.sh", "run_autograder"):
        assert subprocess.run(["bash", "-n", tmp_path / script]).returncode == 0


def test_what_cannot_be_bundled_is_refused(course, tmp_path):
    with pytest.raises(FileNotFoundError, match="run release ps2 first"):
        bundle(course, "ps2", "gradescope", tmp_path / "x.zip", "bubblewrap")
    with pytest.raises(ValueError, match="expected one of gradescope"):
        bundle(course, "ps1", "moodle", tmp_path / "x.zip", "bubblewrap")
    assert not (tmp_path / "x.zip").exists()


def test_github_classroom_gets_the_release_and_a_step_for_each_exercise(course, tmp_path):
    target = tmp_path / "ps1.zip"
    assert bundle(course, "ps1", "github-classroom", target, "bubblewrap") == 49
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "repository")
    place = tmp_path / "repository"
    job = yaml.safe_load((place / ".github/workflows/classroom.yml").read_text())["jobs"]["run-autograding-tests"]
    *steps, reporter = job["steps"]
    graders = [step for step in steps if "command-grader" in step.get("uses", "")]
    ids = [step["id"] for step in graders]
    assert len(ids) == 5 and reporter["with"]["runners"] == ",".join(ids)
    assert reporter["env"] == {f"{id.upper()}_RESULTS": f"${{{{ steps.{id}.outputs.result }}}}" for id in ids}
    assert sum(step["with"]["max-score"] for step in graders) < 49, (
        "visible checks alone: the hidden ones are not there"
    )
    assert "@" not in re.sub(r"@v\d", "", json.dumps(job)) and (place / "attention/worked_example.py").is_file()
    texts = [path.read_text(encoding="utf-8") for path in place.rglob("*.py")]
    assert not [text for text in texts if "solution: begin" in text]
    command = next(step["with"]["command"] for step in graders if step["id"].endswith("softmax")).split()
    for text, status in ((None, 1), (RIGHT, 0)):
        if text:
            (place / "attention/worked_example.py").write_text(text)
        done = subprocess.run([sys.executable, *command[1:]], cwd=place, capture_output=True, text=True, timeout=300)
        assert done.returncode == status, done.stdout + done.stderr
