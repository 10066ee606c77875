"""Makes what another platform takes: an autograder for Gradescope, a template repository for GitHub Classroom."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from selfcheck.atomic_files import write_atomically
from selfcheck.catalogue import in_problem_set

from ..answer_key import precomputed
from ..build.exercise_text import slug
from ..course.folder import Course
from ..course.paths import ROOT
from ..course.releases import release_file
from ..course.settings import SECRET, SETTINGS_FILE, read_checks
from ..release.handout import NEEDED as LEARNERS
from ..release.handout import pinned
from .gradescope import SETTINGS, VISIBILITIES

PLATFORMS = ("gradescope", "github-classroom")
FILES = Path(__file__).parent / "files"
#: What judges a submission. The model answers of written questions are no part of it.
GRADER = ("autograder", "src/selfcheck", "src/attention", "solutions/attention", "pyproject.toml", "LICENSE")
WITHOUT = ("authoring", "bench", "questions", "report", "files", "__pycache__")  # folders of the grader
KINDS = {".py", ".toml", ".json", ".txt"}
#: What of requirements.txt is imported where a submission is judged.
NEEDED = (
    *("numpy", "torch", "filelock", "fsspec", "Jinja2", "MarkupSafe", "mpmath", "networkx", "sympy"),
    *("typing_extensions", "click", "rich", "markdown-it-py", "mdurl", "Pygments", "psutil", "pyseccomp", "PyYAML"),
)
EXECUTABLE = ("setup.sh", "run_autograder")


def bundle(
    course: Course, problem_set: str, platform: str, target: Path, isolation: str, visibility: str = VISIBILITIES[1]
) -> int:
    """Write the zip for one of PLATFORMS; returns the points that it can give.

    isolation, visibility: what Gradescope's autograder asks for, and when learners see its tests
    Raises FileNotFoundError where the problem set is not released, ValueError for another platform or visibility.
    """
    if platform not in PLATFORMS or visibility not in VISIBILITIES:
        raise ValueError(f"expected one of {', '.join(PLATFORMS)} and of {', '.join(VISIBILITIES)}")
    if not release_file(course, problem_set).is_file():
        raise FileNotFoundError(f"{problem_set} is not released in {course.root}: run release {problem_set} first")
    files = (
        dict(_gradescope(course, problem_set, isolation, visibility))
        if platform == "gradescope"
        else dict(_github_classroom(course, problem_set))
    )
    _write_zip(target, files)
    policy = course.policy
    chosen = [policy.with_points(exercise) for exercise in policy.exercises(problem_set)]
    return sum(exercise.max_points for exercise in chosen)


def _gradescope(course: Course, problem_set: str, isolation: str, visibility: str) -> Iterator[tuple[str, bytes]]:
    for name in EXECUTABLE:
        yield name, (FILES / "gradescope" / name).read_bytes()
    yield "requirements.txt", pinned(NEEDED).encode()
    settings = {"problem_set": problem_set, "isolation": isolation, "visibility": visibility}
    yield SETTINGS, json.dumps(settings, indent=1).encode()
    for path in _grader_files():
        yield f"grader/{path.relative_to(ROOT).as_posix()}", path.read_bytes()
    yield from ((f"course/{name}", data) for name, data in _course_files(course, problem_set))


def _grader_files() -> Iterator[Path]:
    for part in GRADER:
        top = ROOT / part
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            inside = path.relative_to(ROOT).parts
            if path.is_file() and not set(WITHOUT) & set(inside) and (path == top or path.suffix in KINDS):
                yield path


def _course_files(course: Course, problem_set: str) -> Iterator[tuple[str, bytes]]:
    """What of a course decides about verdicts: no names, no deadline, no gradebook."""
    settings = course.settings
    weights = [f'"{name}" = {weight}\n' for name, weight in settings.weights]
    lines = ["[weights]\n", *weights] if weights else []
    checks = read_checks(settings)
    yield SETTINGS_FILE, "".join(['hidden_checks = "hidden"\n'] * bool(checks) + lines).encode()
    yield from ((f"hidden/{module}.py", text.encode()) for module, text in checks)
    yield SECRET, course.secret
    precomputed.answer_key(course, problem_set)
    kept = [course.answers_file(problem_set), release_file(course, problem_set)]
    for path in (*kept, *sorted((course.root / "earlier" / problem_set).glob("*.ipynb"))):
        yield path.relative_to(course.root).as_posix(), path.read_bytes()


def _github_classroom(course: Course, problem_set: str) -> Iterator[tuple[str, bytes]]:
    """A template repository: what learners get, and a workflow that runs the visible checks on each push."""
    release = course.release(problem_set)
    for path in sorted(release.rglob("*")):
        inside = path.relative_to(release)
        if path.is_file() and "__pycache__" not in inside.parts and inside.parts[0] != ".ipynb_checkpoints":
            yield inside.as_posix(), path.read_bytes()
    yield "requirements.txt", pinned((*NEEDED, *(name for name in LEARNERS if name not in NEEDED))).encode()
    yield ".gitignore", b"__pycache__/\n.ipynb_checkpoints/\n.venv/\n"
    yield ".github/workflows/classroom.yml", workflow(course, problem_set).encode()


def workflow(course: Course, problem_set: str) -> str:
    """GitHub Classroom's workflow for a problem set: a step for each exercise, by its visible checks."""
    parts = (FILES / "github-classroom" / "classroom.yml").read_text(encoding="utf-8").split("# each exercise\n")
    head, step, between, variable, tail = parts
    policy = course.policy
    rows = [
        {
            "ID": slug(exercise),
            "VARIABLE": slug(exercise).upper(),
            "NUMBER": exercise.number,
            "TITLE": exercise.title.replace('"', "'"),
            "POINTS": str(sum(policy.with_points(exercise).points.values())),
        }
        for exercise in in_problem_set(problem_set)
        if policy.weight(exercise)
    ]
    ids = ",".join(row["ID"] for row in rows)
    steps, variables = ("".join(_filled(text, row) for row in rows) for text in (step, variable))
    return _filled(head + steps + between + variables + tail, {"IDS": ids, "SET": problem_set})


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z]+)@", lambda match: values.get(match[1], match[0]), text)


def _write_zip(target: Path, files: Mapping[str, bytes]) -> None:
    import io

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name in EXECUTABLE else 0o644) << 16
            archive.writestr(info, data)
    write_atomically(target, packed.getvalue(), mode=0o600)
