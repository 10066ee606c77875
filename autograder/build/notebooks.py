"""Makes notebooks from the book's pages: the open ones for Colab, Binder and JupyterLab, and nbgrader's source."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode, from_dict, v4

from selfcheck.catalogue import Exercise, modules_of, part_of, parts_of

from ..course.durations import moment
from ..course.paths import BOOK, REFERENCE
from ..course.policy import DEFAULT_POLICY, GradingPolicy
from ..course.settings import METADATA_KEY
from .book_index import BookIndex
from .cell_outputs import MEASURED
from .exercise_text import points_text, slug
from .markdown import Directive, convert, pieces
from .notebook_setup import packages, setup_source
from .stubs import stub
from .urls import NOTEBOOK_FOLDERS, colab_url, course_title, moved_pages, notebook_name, site_url

__all__ = ["forwards", "generate", "source_notebook", "texts"]

NOTEBOOKS = BOOK / "notebooks"
IMPORTS = "from selfcheck import check, compare, edit, failing, hint, pack, progress, reload, reset, restore, save"
KEEPING = """\
**So that nothing is lost.** `save()` copies the modules that you have edited to your Google Drive on Colab, which \
asks you first, and elsewhere to `attention-by-hand-saved` in your home folder. In a new session `restore()` brings \
them back; what you have edited since stays. On Colab, keep this notebook too, with your answers to the questions: \
*File › Save a copy in Drive*. Take away the # to run a line."""
RESTORE = "# restore()  # first thing in a new session"
AGAIN = "# after a restart, run the first code cell first"
SAVE = "# save()  # as often as you like"
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}  # tags of the book; in a notebook: folded code
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
    "colab": {"provenance": []},
}
ON_GPU = {"accelerator": "GPU", "colab": {"gpuType": "T4", "provenance": []}}
EMPTY_SECTION = re.compile(r"## [^\n]+")
GPU_PAGES = {"deeper/triton-kernel", "measuring/benchmarks"}  # Colab opens these on a machine with a GPU


def texts(solutions: bool = True) -> dict[Path, str]:
    """The notebooks of book/notebooks: path and text of each; solutions: whether included code shows them."""
    index = BookIndex(show_solutions=solutions)
    pages = [page for page in index.pages if page.partition("/")[0] in NOTEBOOK_FOLDERS]
    return {NOTEBOOKS / f"{page.rpartition('/')[2]}.ipynb": _written(_open_notebook(page, index)) for page in pages}


def forwards() -> dict[Path, str]:
    """A notebook for each one that has moved, which says where it is: path and text."""
    moved = {notebook_name(old): notebook_name(now) for old, now in moved_pages().items()}
    return {
        NOTEBOOKS / f"{old}.ipynb": _written(
            _notebook(old, [_markdown(f"This notebook has moved: open [{now}]({colab_url(now)}).")])
        )
        for old, now in moved.items()
        if old and now
    }


def generate(out_dir: Path | str = NOTEBOOKS) -> list[Path]:
    """Writes the open notebooks into out_dir and returns their paths."""
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    written = []
    for path, text in texts().items():
        (out_dir / path.name).write_text(text, "utf-8")
        written.append(out_dir / path.name)
    return written


def source_notebook(
    problem_set: str, policy: GradingPolicy = DEFAULT_POLICY, deadline: datetime | None = None
) -> NotebookNode:
    """nbgrader's source notebook of a problem set ("ps3"): prompts locked, one grade cell per exercise part.

    policy: what each exercise counts; one that is left out has no cells. deadline: told at the beginning
    Raises LookupError where book/problem-sets has no such page.
    """
    page = f"problem-sets/{problem_set}"
    index = BookIndex(show_solutions=False)
    if page not in index.pages:
        raise LookupError(f"no problem set {problem_set!r}: expected book/{page}.md")
    cells = [_code(IMPORTS)]
    if deadline:
        cells.append(_markdown(f"*To be handed in by {moment(deadline)}.*"))
    for block in _page_blocks(page, index):
        if isinstance(block, Directive) and block.name == "exercise":
            exercise = _exercise(block)
            cells += _graded_exercise(exercise, page, index, policy) if policy.weight(exercise) else []
        elif isinstance(block, Directive):
            cells += _graded_question(block, page, index)
        elif not (block.cell_type == "code" and block.source.strip() == IMPORTS):
            cells.append(block)
    cells = list(_without_empty_sections(cells))
    cells.append(_code(f'pack("{problem_set}")'))
    return _notebook(problem_set, cells, {METADATA_KEY: {"deadline": deadline.isoformat()}} if deadline else {})


def _without_empty_sections(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells without headings right before another one: all exercises of such a section are left out."""
    for cell, after in itertools.zip_longest(cells, cells[1:]):
        if not (EMPTY_SECTION.fullmatch(cell.source) and after and after.source.startswith("## ")):
            yield cell


def _open_notebook(page: str, index: BookIndex) -> NotebookNode:
    """The page as a notebook to run and work in: nothing locked, nothing graded."""
    name = page.rpartition("/")[2]
    to_work_in = page.startswith("problem-sets/")
    title = index.page(f"/{page}")
    about = f"*The page [{title.title}]({title.address}) of [{course_title()}]({site_url()}), made to run.*"
    cells = [_markdown(f"# {title.title}\n\n{about} Run the next cell first.")]
    blocks = _page_blocks(page, index)
    if to_work_in:
        needs = packages([stub(REFERENCE / f"{module}.py") for module in modules_of(name)], "attention")
        cells += [_set_up(("src",), needs, names="*"), _markdown(KEEPING), _code(f'{RESTORE}\nprogress("{name}")')]
    else:
        sources = [block.source for block in blocks if not isinstance(block, Directive) and block.cell_type == "code"]
        cells.append(_set_up(("solutions", "book"), packages(sources)))
    for block in blocks:
        if isinstance(block, Directive):
            show = _exercise_cells if block.name == "exercise" else _question_cells
            cells += show(block, page, index)
        elif block.source.strip() == IMPORTS:
            continue
        else:
            block.source = block.source.removeprefix(f"# {title.title}").lstrip("\n")
            if block.source:
                cells.append(block)
    if to_work_in:
        cells.append(_code(f'{SAVE}\npack("{name}")'))
    return _notebook(name, cells, ON_GPU if page in GPU_PAGES else {})


def _set_up(folders: tuple[str, ...], needs: list[str], names: str = "set_up") -> NotebookNode:
    """The first code cell, which Colab shows as its title alone."""
    cell = _code(setup_source(folders, needs, names))
    cell.metadata = from_dict({"cellView": "form"})
    return cell


def _page_blocks(page: str, index: BookIndex) -> list[NotebookNode | Directive]:
    """A page as cells, with its exercises and questions still to be written."""
    blocks: list[NotebookNode | Directive] = []
    for cell in jupytext.read(BOOK / f"{page}.md", fmt="md:myst").cells:
        if cell.cell_type == "code":
            blocks.append(_code(cell.source, set(cell.metadata.get("tags", []))))
        else:
            for piece in pieces(cell.source, page, index, apart=("exercise", "question")):
                blocks.append(piece if isinstance(piece, Directive) else _markdown(piece))
    return blocks


def _exercise(block: Directive) -> Exercise:
    return part_of(block.argument, block.options.get("problem-set"))


def _prompt(exercise: Exercise, page: str, index: BookIndex, policy: GradingPolicy = DEFAULT_POLICY) -> str:
    facts = [
        points_text(policy.with_points(exercise).max_points),
        f"about {exercise.minutes} minutes",
        f"difficulty {exercise.difficulty} of 5",
    ]
    if exercise.depends_on:
        needed = [parts_of(name)[0] for name in exercise.depends_on]
        numbers = [other.number + ("" if policy.weight(other) else " (left out: no points)") for other in needed]
        facts.append(f"builds on {', '.join(numbers)}")
    if exercise.section and not page.startswith("chapters/"):
        place = index.label(exercise.section, page)
        facts.append(f"read first: [{place.title}]({place.address})")
    title = f"### Exercise {exercise.number}: {exercise.title}"
    return f"{title}\n\n*{' · '.join(facts)}*\n\n{convert(exercise.prompt.strip(), page, index)}"


def _exercise_cells(block: Directive, page: str, index: BookIndex) -> list[NotebookNode]:
    exercise = _exercise(block)
    prompt = _prompt(exercise, page, index)
    if page.startswith("problem-sets/"):
        return [_markdown(prompt), _code(_edit(exercise)), _code(_check_of_a_part(exercise))]
    number = exercise.problem_set.removeprefix("ps")
    hints = [
        f"<details>\n<summary>Hint {count}</summary>\n\n{convert(hint.strip(), page, index)}\n\n</details>"
        for count, hint in enumerate(exercise.hints, start=1)
    ]
    work = f"Work on it in [problem set {number}]({colab_url(exercise.problem_set)}), or in a terminal: "
    work += f"`python -m selfcheck {exercise.module}`."
    return [_markdown("\n\n".join([prompt, *hints, work]))]


def _question_cells(block: Directive, page: str, index: BookIndex) -> list[NotebookNode]:
    return [_markdown(_question(block, page, index)), _markdown("*Write your answer here.*")]


def _question(block: Directive, page: str, index: BookIndex) -> str:
    text = convert("\n".join(block.body).strip(), page, index)
    return f"### Question\n\n*{points_text(int(block.options['points']))}, read by a person*\n\n{text}"


def _graded_exercise(exercise: Exercise, page: str, index: BookIndex, policy: GradingPolicy) -> list[NotebookNode]:
    prompt, grade = _markdown(_prompt(exercise, page, index, policy)), _code(_check(exercise))
    points = policy.with_points(exercise).max_points
    prompt.metadata["nbgrader"] = _nbgrader(f"{slug(exercise)}-prompt", locked=True)
    grade.metadata["nbgrader"] = _nbgrader(slug(exercise), locked=True, grade=True, points=points)
    return [prompt, _code(_edit(exercise)), grade]


def _graded_question(block: Directive, page: str, index: BookIndex) -> list[NotebookNode]:
    name, points = block.argument, int(block.options["points"])
    prompt, answer = _markdown(_question(block, page, index)), _markdown("*Write your answer here.*")
    prompt.metadata["nbgrader"] = _nbgrader(f"{name}-prompt", locked=True)
    answer.metadata["nbgrader"] = _nbgrader(name, grade=True, solution=True, points=points)
    return [prompt, answer]


def _nbgrader(
    grade_id: str, *, locked: bool = False, grade: bool = False, solution: bool = False, points: int | None = None
) -> dict[str, Any]:
    """What nbgrader (cell schema 3) reads from a cell."""
    fields = {"schema_version": 3, "grade_id": grade_id, "grade": grade, "solution": solution, "task": False}
    return {**fields, "locked": locked, **({} if points is None else {"points": points})}


def _edit(exercise: Exercise) -> str:
    return f'{AGAIN}\nedit("{exercise.number}")  # stuck? hint("{exercise.number}") gives one hint more each time'


def _check(exercise: Exercise) -> str:
    return f'{AGAIN}\ncheck("{exercise.id}")'


def _check_of_a_part(exercise: Exercise) -> str:
    """In the repository all parts are there: an exercise of two parts is checked by its number."""
    return f'{AGAIN}\ncheck("{exercise.id if len(parts_of(exercise.id)) == 1 else exercise.number}")'


def _markdown(source: str) -> NotebookNode:
    return v4.new_markdown_cell(source)


def _code(source: str, tags: Set[str] = frozenset()) -> NotebookNode:
    cell = v4.new_code_cell(source)
    if tags & HIDDEN:
        cell.metadata["jupyter"] = {"source_hidden": True}
    if kept := tags - HIDDEN - {MEASURED}:
        cell.metadata["tags"] = sorted(kept)
    return cell


def _notebook(name: str, cells: list[NotebookNode], more: Mapping[str, Any] = MappingProxyType({})) -> NotebookNode:
    """A valid notebook whose cell ids follow from their contents, so that an edit changes few lines."""
    seen: Counter[str] = Counter()
    for cell in cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] += 1
        cell["id"] = f"{name}-{digest}" + (f"-{seen[digest]}" if seen[digest] > 1 else "")
    notebook = v4.new_notebook(cells=cells, metadata={**METADATA, **more})
    nbformat.validate(notebook)
    return notebook


def _written(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, version=4) + "\n"
