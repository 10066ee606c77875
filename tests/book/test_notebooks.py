"""The generated notebooks: valid, without outputs, the same every time, and free of what only the book reads."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.build import notebooks
from autograder.build.book_index import BookIndex
from autograder.build.exercise_text import solution_text
from autograder.build.markdown import convert
from autograder.build.urls import repository
from autograder.course.paths import BOOK
from selfcheck.catalogue import in_problem_set, part_of, problem_sets

from .pages import notebook_texts

TEXTS = notebook_texts()
LEFT_OVER = re.compile(r"^\s*(?:`{3,}|:{3,})\{|\{[a-z:]+\}`|^\([\w-]+\)=\s*$|^:[a-z-]+:", re.MULTILINE)


def _cells(text: str) -> list[nbformat.NotebookNode]:
    return nbformat.reads(text, as_version=4).cells


def test_each_chapter_problem_set_and_page_that_measures_has_one() -> None:
    assert set(notebooks.NOTEBOOKS.glob("*.ipynb")) - TEXTS.keys() == notebooks.forwards().keys()


def test_a_notebook_that_moved_leads_to_where_it_is() -> None:
    forwards = notebooks.forwards()
    assert {path.stem for path in forwards} == {
        "09-efficient",
        "10-sequence-to-sequence",
    } and not forwards.keys() & TEXTS
    for old, text in forwards.items():
        nbformat.validate(json.loads(text))
        (cell,) = _cells(text)
        (address,) = re.findall(r"\((https://colab\S+)\)", cell.source)
        now = old.with_name(address.rpartition("/")[2])
        assert now in TEXTS and now.stem[3:] == old.stem[3:]


@pytest.mark.parametrize("text", TEXTS.values(), ids=[path.stem for path in TEXTS])
def test_notebook_is_valid_and_has_no_outputs(text: str) -> None:
    nbformat.validate(json.loads(text))
    for cell in _cells(text):
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert json.loads(text)["metadata"]["colab"]["provenance"] == []


def test_colab_opens_two_notebooks_on_a_gpu_and_no_other() -> None:
    asked = {path.stem: json.loads(text)["metadata"] for path, text in TEXTS.items()}
    on_gpu = {name for name, metadata in asked.items() if "accelerator" in metadata or "gpuType" in metadata["colab"]}
    assert on_gpu == {"triton-kernel", "benchmarks"}
    for name in on_gpu:
        assert (asked[name]["accelerator"], asked[name]["colab"]["gpuType"]) == ("GPU", "T4")


@pytest.mark.parametrize("text", TEXTS.values(), ids=[path.stem for path in TEXTS])
def test_only_plain_markdown_is_left(text: str) -> None:
    for cell in _cells(text):
        if cell.cell_type == "markdown":
            prose = re.sub(r"```.*?```", "", cell.source, flags=re.DOTALL)
            assert not LEFT_OVER.search(prose), LEFT_OVER.search(prose)[0]


@pytest.mark.parametrize("text", TEXTS.values(), ids=[path.stem for path in TEXTS])
def test_first_code_cell_needs_the_standard_library_only(text: str) -> None:
    first = next(cell for cell in _cells(text) if cell.cell_type == "code").source
    imported = re.findall(r"^(?:from|import) (\w+)", first, re.MULTILINE)
    assert imported == ["importlib", "selfcheck"]  # the first line imports from the standard library alone
    assert set(re.findall(r"\w+", first.splitlines()[1])) - {"import", "util"} <= sys.stdlib_module_names
    assert repository().url in first


def test_notebooks_are_the_same_every_time(tmp_path: Path) -> None:
    written = notebooks.generate(tmp_path)
    assert {path.name: path.read_text("utf-8") for path in written} == {path.name: text for path, text in TEXTS.items()}


@pytest.mark.parametrize("text", TEXTS.values(), ids=[path.stem for path in TEXTS])
def test_code_cells_compile(text: str) -> None:
    for cell in _cells(text):
        if cell.cell_type == "code" and not cell.source.lstrip().startswith("%"):
            compile(cell.source, cell.id, "exec")


@pytest.mark.parametrize("problem_set", problem_sets())
def test_a_problem_sets_notebook_says_how_nothing_is_lost(problem_set: str) -> None:
    cells = _cells(TEXTS[notebooks.NOTEBOOKS / f"{problem_set}.ipynb"])
    assert notebooks.KEEPING in [cell.source for cell in cells]
    assert "# restore()" in cells[3].source and f'progress("{problem_set}")' in cells[3].source
    assert cells[-1].source == f'{notebooks.SAVE}\npack("{problem_set}")'


@pytest.mark.parametrize(("problem_set", "call"), [("ps2", 'check("3.5")'), ("ps3", 'check("4.8")')])
def test_of_an_exercise_in_two_parts_a_notebook_checks_its_own(problem_set: str, call: str) -> None:
    sources = [cell.source for cell in _cells(TEXTS[notebooks.NOTEBOOKS / f"{problem_set}.ipynb"])]
    assert f"{notebooks.AGAIN}\n{call}" in sources and not any(
        'scaled_dot_product_attention")' in source for source in sources
    )


@pytest.mark.parametrize("problem_set", problem_sets())
def test_every_exercise_names_its_section_with_a_link_and_says_what_to_run_after_a_restart(problem_set: str) -> None:
    cells = _cells(TEXTS[notebooks.NOTEBOOKS / f"{problem_set}.ipynb"])
    for exercise in in_problem_set(problem_set):
        prompt = next(cell for cell in cells if cell.source.startswith(f"### Exercise {exercise.number}: "))
        place = cells.index(prompt)
        assert re.search(rf"read first: \[[^]]+\]\(https://\S+#{exercise.section}\)", prompt.source)
        edit, check = (cell.source.splitlines() for cell in cells[place + 1 : place + 3])
        assert edit[0] == check[0] == notebooks.AGAIN  # NameError shows the line above the one that fails
        assert edit[1].startswith(f'edit("{exercise.number}")') and check[1].startswith("check(")


@pytest.mark.parametrize("problem_set", problem_sets())
def test_source_notebook_grades_every_exercise_and_question(problem_set: str) -> None:
    from nbgrader.nbgraderformat import MetadataValidator

    notebook = notebooks.source_notebook(problem_set)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    graded = {
        c.metadata["nbgrader"]["grade_id"]: c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")
    }
    for exercise in in_problem_set(problem_set):
        cell = graded.pop(exercise.id.replace(".", "-"))
        assert cell.source == f'{notebooks.AGAIN}\ncheck("{exercise.id}")'
        settings = cell.metadata["nbgrader"]
        assert settings["points"] == exercise.max_points
        assert settings["locked"] and not settings["solution"]
    page = (BOOK / "problem-sets" / f"{problem_set}.md").read_text("utf-8")
    assert set(graded) == set(re.findall(r"^```\{question\} (\S+)$", page, re.MULTILINE))
    for cell in graded.values():
        assert cell.cell_type == "markdown"
        assert cell.metadata["nbgrader"]["solution"] and not cell.metadata["nbgrader"]["locked"]
    assert notebook.cells[0].source == notebooks.IMPORTS


@pytest.mark.parametrize("problem_set", problem_sets())
def test_source_notebook_holds_no_solution(problem_set: str) -> None:
    text = nbformat.writes(notebooks.source_notebook(problem_set))
    for exercise in in_problem_set(problem_set):
        last_line = solution_text(exercise).strip().splitlines()[-1].strip()
        assert last_line not in text


def _converted(text: str) -> str:
    return convert(text, "chapters/04-masks", BookIndex())


def test_admonitions_become_quotations_and_dropdowns_stay_folded() -> None:
    assert _converted(":::{note}\nA *text*.\n:::") == "> **Note**\n>\n> A *text*."
    folded = _converted("```{admonition} Answer\n:class: dropdown\nYes.\n```")
    assert folded == "<details>\n<summary>Answer</summary>\n\nYes.\n\n</details>"


def test_formulas_keep_their_numbers_and_references_their_targets() -> None:
    index = BookIndex()
    name, place = next(iter(index.formulas.items()))
    assert f"\\tag{{{place.title}}}" in convert(f"$$\nx = y\n$$ ({name})", place.page, index)
    assert convert(f"see {{eq}}`{name}`", place.page, index) == f"see ({place.title})"


def test_citations_name_authors_and_year() -> None:
    assert "[Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)" in _converted("{cite}`vaswani2017attention`")
    assert _converted("{cite:t}`vaswani2017attention`").startswith("[Vaswani et al. (2017)](")


def test_code_and_code_spans_are_left_alone() -> None:
    text = "`{ref}` and\n\n```python\nprint('{ref}`x`')\n```"
    assert _converted(text) == text


def test_included_code_is_the_reference_without_marks() -> None:
    text = "```{literalinclude} ../../solutions/attention/masks.py\n:pyobject: causal_mask\n```"
    shown = _converted(text)
    assert shown.startswith("```python\ndef causal_mask(")
    assert "# solution" not in shown
    hidden = convert(text, "chapters/04-masks", BookIndex(show_solutions=False))
    assert "...  # yours to write" in hidden
    assert "torch.arange" not in hidden
    with pytest.raises(ValueError, match="shows no solution"):
        convert(text, "problem-sets/ps3", BookIndex())


def test_included_code_has_no_comments_for_tools() -> None:
    shown = convert("```{literalinclude} ../studies/small_kernel.py\n```", "deeper/triton-kernel", BookIndex())
    assert "@triton.jit" in shown and not re.search("noqa|fmt: skip", shown)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{ref}`sec-nowhere`", LookupError), ("{cite}`nobody1900nothing`", LookupError), ("{unheard}`of`", ValueError)],
)
def test_a_reference_to_nothing_is_an_error(text: str, problem: type[Exception]) -> None:
    with pytest.raises(problem):
        _converted(text)


def test_an_unknown_exercise_names_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"masks\.causal_mask"):
        part_of("masks.causal")
