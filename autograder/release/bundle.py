"""Releases a problem set: notebook, stubs, selfcheck, no solution, no hidden check."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from selfcheck.catalogue import exercises, in_problem_set, modules_of, problem_sets

from ..answer_key import precomputed
from ..build import stubs
from ..course.faults import error_in_text
from ..course.folder import Course
from ..course.locks import replacing_releases
from ..course.paths import RECORDED, REFERENCE, SELFCHECK
from ..course.policy import DEFAULT_POLICY, GradingPolicy
from ..course.releases import replacing_release
from ..course.settings import SETTINGS_FILE
from ..gradebook.migrate import graded_in_gradebook, migrate_gradebook
from .handout import handout_files
from .moved import require_new_exercises, require_own_exercises
from .points import catalogue_with_points
from .staleness import check_extra_checks, released_deadline

WAITING = "waiting until nobody grades or releases in this course any more; Ctrl-C to leave it as it is"


def release(
    course: Course, problem_set: str, with_answers: Iterable[str] = (), say: Callable[[str], object] = lambda text: None
) -> Path:
    """Write a problem set's source folder and have nbgrader make the student version; returns the release folder.

    with_answers: earlier problem sets whose modules are handed out solved
    say: told when somebody grades or releases in the course, who is waited for
    Raises ValueError for a set in with_answers that is not earlier, or where the course's settings hand out none, or
    have a check that the reference fails; SetMoved where the course has released its exercises in other problem sets,
    or other exercises under its name; RuntimeError where nbgrader refuses; OSError for a fault of the disk.
    """
    import nbformat

    from ..build.notebooks import source_notebook
    from ..gradebook.nbgrader import api

    in_problem_set(problem_set)
    require_own_exercises(course, problem_set, graded_in_gradebook(course, problem_set))
    require_new_exercises(course, problem_set)
    policy, due, before = course.policy, course.settings.deadline(problem_set), released_deadline(course, problem_set)
    if with_answers and not course.settings.solutions:
        raise ValueError(
            f"{course.root / SETTINGS_FILE} says solutions = false: leave --with-answers away, or change that line"
        )
    check_extra_checks(course)
    files, notebook = bundle(problem_set, with_answers, policy), source_notebook(problem_set, policy, due)
    source = course.source(problem_set)
    with replacing_releases(course, lambda: say(WAITING)), replacing_release(course, problem_set):
        for name, text in files.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        nbformat.write(notebook, source / f"{problem_set}.ipynb")
        migrate_gradebook(course, problem_set, notebook)
        done = api(course).generate_assignment(problem_set, force=True, create=True)
        if not done["success"]:
            log = f"{done.get('log', '')}\n{done.get('error', '')}"
            raise error_in_text(log) or RuntimeError(f"nbgrader could not release {problem_set}:\n{log}")
    _set_deadline(course, problem_set, before, due)
    precomputed.answer_key(course, problem_set)  # so that nobody who wants marks waits for it
    return course.release(problem_set)


def _set_deadline(course: Course, problem_set: str, before: datetime | None, due: datetime | None) -> None:
    """Enter a deadline into the gradebook; where there is none now, take out the one before, if it stands there."""
    from ..gradebook.nbgrader import api

    if not (due or before):
        return
    # As nbgrader has it: UTC without its zone.
    then, now = (time and time.astimezone(UTC).replace(tzinfo=None) for time in (before, due))
    with api(course).gradebook as book:
        assignment = book.find_assignment(problem_set)
        if now or assignment.duedate == then:
            assignment.duedate = now
            book.db.commit()


def unmarked(policy: GradingPolicy, problem_set: str) -> list[str]:
    """A line for each exercise that builds on one that is left out, which learners then write without points."""
    left_out = {exercise.id for exercise in exercises() if not policy.weight(exercise)}
    return [
        f"{exercise.id} builds on {name}, which is left out: learners write it without points"
        for exercise in policy.exercises(problem_set)
        for name in exercise.depends_on
        if name in left_out
    ]


def bundle(
    problem_set: str, with_answers: Iterable[str] = (), policy: GradingPolicy = DEFAULT_POLICY
) -> dict[str, str]:
    """The text of every file beside the notebook, by its path in the bundle; points are by the policy."""
    sets = problem_sets()
    seen = sets[: sets.index(problem_set) + 1]
    solved = _solved(problem_set, with_answers)
    modules = list(dict.fromkeys(module for name in seen for module in modules_of(name)))
    texts = stubs.all_stubs()
    package = {f"{name}.py": _with_solved(name, solved) if name in solved else texts[f"{name}.py"] for name in modules}
    package |= {"__init__.py": texts["__init__.py"], **_private_files(package, texts)}
    files = handout_files(problem_set) | {f"attention/{name}": text for name, text in package.items()}
    for path in sorted(SELFCHECK.glob("*.py")):
        files[f"selfcheck/{path.name}"] = path.read_text(encoding="utf-8")
    code = (f"recorded/{path.name}" for path in sorted(RECORDED.glob("*.py")))
    for name in ("catalogue/__init__.py", "catalogue/names.py", "checks/__init__.py", *code):
        files[f"selfcheck/{name}"] = (SELFCHECK / name).read_text(encoding="utf-8")
    files["selfcheck/sections.json"] = (SELFCHECK / "sections.json").read_text(encoding="utf-8")
    for module in modules:
        for name in (f"catalogue/{module}.toml", *(f"checks/{helper}.py" for helper in (module, *_helpers(module)))):
            files[f"selfcheck/{name}"] = (SELFCHECK / name).read_text(encoding="utf-8")
        catalogue = f"selfcheck/catalogue/{module}.toml"
        files[catalogue] = catalogue_with_points(files[catalogue], policy)
        files[f"selfcheck/recorded/{module}.json"] = _recorded(module, seen)
        files[f"selfcheck/stubs/{module}.txt"] = package[f"{module}.py"]
    return files


def _private_files(handed_out: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """The private files of the package: those that the reference of these modules imports, and parts of solved answers.

    handed_out: the modules as they are handed out; texts: every stub, by file name
    """
    sources = [(REFERENCE / name).read_text(encoding="utf-8") for name in handed_out]
    given = [
        name
        for name in stubs.given_files()
        if any(f"from .{name.removesuffix('.py')} " in source for source in sources)
    ]
    return {name: texts[name] for name in given} | stubs.solution_files_of(handed_out.values())


def _helpers(module: str) -> list[str]:
    """The private modules that a module of checks imports from beside it, by way of another one too."""
    helpers, waiting = [], [module]
    while waiting:
        tree = ast.parse((SELFCHECK / "checks" / f"{waiting.pop()}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [alias.name for alias in node.names]
                new = [name for name in names if name.startswith("_") and name not in helpers]
                helpers += new
                waiting += new
    return helpers


def _solved(problem_set: str, with_answers: Iterable[str]) -> dict[str, set[str]]:
    """By module, the functions and classes to hand out solved: those of earlier problem sets that are not due now."""
    sets, solved = problem_sets(), dict[str, set[str]]()
    due = {exercise.id for exercise in in_problem_set(problem_set)}
    for name in with_answers:
        if name not in sets[: sets.index(problem_set)]:
            raise ValueError(f"answers can be handed out for sets before {problem_set}, not for {name}")
        for exercise in in_problem_set(name):
            if exercise.id not in due:
                solved.setdefault(exercise.module, set()).add(exercise.symbol)
    return solved


def _with_solved(module: str, solved: Mapping[str, set[str]]) -> str:
    """A module as the reference has it, or a stub of it that lacks the other solutions.

    A stub counts as untouched: `restore()` puts a learner's own file in its place.
    """
    file = REFERENCE / f"{module}.py"
    if {exercise.symbol for exercise in exercises() if exercise.module == module} <= solved[module]:
        return file.read_text(encoding="utf-8")
    return stubs.stub(file, solved[module])


def _recorded(module: str, seen: list[str]) -> str:
    """The recorded answers of the checks that belong to the problem sets seen so far."""
    table = json.loads((RECORDED / f"{module}.json").read_text(encoding="utf-8"))
    wanted = {
        name
        for exercise in exercises()
        if exercise.module == module and exercise.problem_set in seen
        for name in exercise.points
    }
    return json.dumps({name: entry for name, entry in table.items() if name in wanted}, indent=1) + "\n"
