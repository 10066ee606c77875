"""What learners get: everything they need to check their answers, no solution and no hidden check."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.build import stubs
from autograder.build.urls import site_url
from autograder.course.paths import REFERENCE, ROOT
from autograder.course.releases import written_questions
from autograder.release import bundle as releasing
from autograder.release.handout import NEEDED
from selfcheck import saving
from selfcheck.catalogue import exercises, in_problem_set, modules_of, parts_of, problem_sets

from ..records.whole import LINKED
from .released_texts import files_of, hidden_words, solution_lines
from .shared_courses import released

SETS = problem_sets()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Every problem set is released."""
    with released(tmp_path_factory, *SETS) as course:
        yield course


@functools.cache
def bundle(problem_set):
    return releasing.bundle(problem_set)


@pytest.mark.parametrize("problem_set", SETS)
def test_nothing_released_holds_a_solution_or_a_hidden_check(course, problem_set):
    lines, hidden = solution_lines(), hidden_words(tuple(exercises()))
    assert len(lines) > 15
    found = files_of(course.release(problem_set), course.source(problem_set))
    assert len(found) > 20
    for path, text in found.items():
        assert not [line for line in lines if line in text], path
        assert not [word for word in hidden if word in text], path
        assert "autograder" not in text, path


@pytest.mark.parametrize("module", sorted({exercise.module for exercise in exercises()}))
def test_a_solution_that_leaks_would_be_noticed(module):
    lines = solution_lines()
    assert [line for line in lines if line in (REFERENCE / f"{module}.py").read_text()]
    assert hidden_words(tuple(exercise for exercise in exercises() if exercise.module == module))


@pytest.mark.parametrize("problem_set", SETS[1:])
def test_a_later_problem_set_hands_earlier_answers_out_where_asked(problem_set):
    earlier, own = SETS[SETS.index(problem_set) - 1], {exercise.id for exercise in in_problem_set(problem_set)}
    plain, solved = bundle(problem_set), releasing.bundle(problem_set, [earlier])
    given = {exercise.id: exercise for exercise in in_problem_set(earlier) if exercise.id not in own}
    for module in {module for name in SETS for module in modules_of(name)}:
        path = f"attention/{module}.py"
        if module not in {exercise.module for exercise in given.values()}:
            assert plain.get(path) == solved.get(path)
            continue
        for exercise in (one for one in exercises() if one.module == module):
            first = parts_of(exercise.id)[0]
            left = f"exercise {first.number}: {first.title}"
            assert left in plain[path] and (left in solved[path]) == (exercise.id not in given)
    with pytest.raises(ValueError, match=f"before {problem_set}"):
        releasing.bundle(problem_set, [problem_set])


def test_a_learners_own_file_of_two_problem_sets_goes_on_whatever_is_handed_out(tmp_path, monkeypatch):
    """The learner's cache of ps9 comes back into the folder of ps10, also where that hands out the reference's."""
    mine = bundle("ps9")["attention/efficient.py"].replace("class KeyValueCache:", "MINE = 1\n\n\nclass KeyValueCache:")
    for answers in ((), ("ps9",)):
        package = tmp_path / f"ps10{len(answers)}" / "attention"
        package.mkdir(parents=True)
        text = releasing.bundle("ps10", answers)["attention/efficient.py"]
        assert ("exercise 10.1: " in text) == (not answers) and "exercise 11.1: " in text
        (package / "efficient.py").write_text(text)
        (tmp_path / "saved").mkdir(exist_ok=True)
        (tmp_path / "saved" / "efficient.py").write_text(mine)
        monkeypatch.setattr(saving, "package_folder", lambda package=package: package)
        saving.restore(tmp_path / "saved")
        assert (package / "efficient.py").read_text() == mine


def test_an_answer_that_is_handed_out_alone_has_all_that_it_uses(tmp_path):
    for exercise in exercises():
        text = stubs.strip((REFERENCE / f"{exercise.module}.py").read_text(), exercise.module, {exercise.symbol})
        (tmp_path / f"{exercise.module}_{exercise.symbol}.py").write_text(text)
        left = {one.id for one in exercises() if f"exercise {parts_of(one.id)[0].number}: " in text}
        assert left == {one.id for one in exercises() if one.module == exercise.module} - {exercise.id}
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F821", tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("problem_set", SETS)
def test_a_bundle_holds_the_checks_of_its_own_and_earlier_problem_sets_only(problem_set):
    seen = SETS[: SETS.index(problem_set) + 1]
    modules = {module for name in seen for module in modules_of(name)}
    files = {Path(name): text for name, text in bundle(problem_set).items()}
    for folder, suffix in (("attention", ".py"), ("selfcheck/checks", ".py"), ("selfcheck/catalogue", ".toml")):
        found = {path.stem for path in files if path.parent == Path(folder) and path.suffix == suffix}
        assert {name for name in found if not name.startswith("_")} == modules
    for exercise in exercises():
        recorded = json.loads(files.get(Path(f"selfcheck/recorded/{exercise.module}.json"), "{}"))
        if exercise.problem_set in seen:
            assert set(exercise.points) <= set(recorded)
        else:
            assert not set(exercise.points) & set(recorded)


def test_a_bundle_holds_the_helpers_of_its_checks_and_no_others():
    found = {name: {Path(path).name for path in bundle(name) if "checks/_" in path} for name in SETS}
    here = {path.name for path in (ROOT / "src" / "selfcheck" / "checks").glob("_*.py")}
    of_attention = {"_dot_product_inputs.py", "_dot_product_masks.py", "_dtypes.py", "_numbers.py"}
    assert found["ps2"] == found["ps1"] | of_attention
    assert found["ps3"] == found["ps2"] | {"_masks_inputs.py", "_masks_softmax.py"}
    assert found["ps4"] == found["ps3"] | {"_multi_head.py", "_multi_head_attention.py"}
    assert "_encoder_inputs.py" not in found["ps5"] and "_encoder_inputs.py" in found["ps6"]
    assert "_efficient_inputs.py" not in found["ps8"] and "_efficient_inputs.py" in found["ps9"]
    assert found[SETS[-1]] == here


GIVEN_IN_PS9 = {"_altered_scores.py", "_decoder_arguments.py", "_triton_attention.py"}


def test_a_bundle_holds_the_private_files_of_its_package_and_no_others():
    found = {name: {Path(path).name for path in bundle(name) if "attention/_" in path} for name in SETS}
    assert found["ps3"] == {"__init__.py", "_arguments.py"}
    assert found["ps4"] == found["ps7"] == found["ps3"] | {"_rows.py", "_argument_kinds.py"}
    assert found["ps8"] == found["ps7"]
    assert found["ps9"] == found["ps10"] == found["ps8"] | GIVEN_IN_PS9


def test_a_handout_says_how_to_begin_and_pins_what_it_needs():
    files = bundle("ps3")
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    given = files["requirements.txt"].splitlines()
    assert {line.partition("==")[0] for line in given} == set(NEEDED) and set(given) <= set(pins)
    readme = files["README.md"]
    for text in ("ps3.ipynb", "`attention/masks.py`", 'pack("ps3")', "pip install -r requirements.txt", "{"):
        assert (text in readme) == (text != "{")
    assert f"{site_url().rstrip('/')}/guides/learner.html" in readme and (ROOT / "book/guides/learner.md").exists()


#: Whose version is told, and what a released notebook links to.
NOT_DECISIVE = ("autograder", "requirements.txt", "book/_config.yml", LINKED)


@pytest.mark.proof(depends=("src", "solutions/attention", "book/problem-sets"), ignores=NOT_DECISIVE)
@pytest.mark.parametrize("problem_set", SETS)
def test_a_released_folder_checks_right_answers_on_its_own(course, tmp_path, problem_set):
    folder = shutil.copytree(course.release(problem_set), tmp_path / "unpacked")
    handed_out = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert handed_out == {*bundle(problem_set), f"{problem_set}.ipynb"}
    shutil.copytree(REFERENCE, folder / "attention", dirs_exist_ok=True)  # attention of ps2 imports masks of ps3
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder)}
    said = ""
    for module in modules_of(problem_set):
        command = [sys.executable, "-P", "-m", "selfcheck", module]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        said += done.stdout
    for exercise in in_problem_set(problem_set):
        assert re.search(rf"^{exercise.number} .*: passes every visible check", said, flags=re.MULTILINE)


def test_every_problem_set_has_a_question_to_grade_by_hand(course):
    for problem_set in SETS:
        notebook = json.loads((course.release(problem_set) / f"{problem_set}.ipynb").read_text())
        assert written_questions(notebook)
