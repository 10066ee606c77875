"""Every written question has a model answer and a rubric, which graders see and nobody else."""

import os
import re
import subprocess

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader.handlers import template_path

from autograder.build import notebooks
from autograder.course.paths import ROOT
from autograder.course.releases import written_questions
from autograder.gradebook import rubrics
from autograder.gradebook.feedback.writing import write_pages
from autograder.gradebook.formgrader_guide import cleaned, guide_html
from autograder.gradebook.nbgrader import configuration
from autograder.gradebook.rubrics import marking_guides
from autograder.release.bundle import bundle
from selfcheck.catalogue import problem_sets

from .judged_class import enter, judged_course
from .shared_courses import copy_of

FORMGRADER = {"assignment_id": "ps1", "submission_id": "1", "index": 0, "total": 1, "base_url": ""}
SETS = problem_sets()


def sentences(problem_set):
    """Every line of a problem set's guides that is long enough to be nobody else's, without white space."""
    for guide in marking_guides(problem_set).values():
        texts = [*(criterion.text for criterion in guide.rubric), *guide.answer.splitlines()]
        yield from (squeezed(text) for text in texts if len(squeezed(text)) > 40)


def squeezed(text):
    return re.sub(r"\W+", "", text)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    with judged_course(tmp_path_factory) as judged:
        course = copy_of(judged, tmp_path_factory.mktemp("guides") / "course")
    enter(course, ["carla"])
    return course


@pytest.mark.parametrize("problem_set", SETS)
def test_the_rubric_of_every_written_question_adds_up_to_its_points(problem_set):
    cells = written_questions(notebooks.source_notebook(problem_set))
    asked = {cell["metadata"]["nbgrader"]["grade_id"]: cell["metadata"]["nbgrader"]["points"] for cell in cells}
    assert {name: guide.points for name, guide in marking_guides(problem_set).items()} == asked != {}


def test_a_rubric_names_each_part_of_its_question():
    for problem_set in SETS:
        source = {cell.metadata.nbgrader.grade_id: cell.source for cell in graded(problem_set)}
        for name, guide in marking_guides(problem_set).items():
            parts = set(re.findall(r"^\(([a-d])\)", source[f"{name}-prompt"], re.MULTILINE))
            told = "\n".join(criterion.text for criterion in guide.rubric) + guide.answer
            assert not parts - set(re.findall(r"\(([a-d])\)", told)), name


def graded(problem_set):
    return [cell for cell in notebooks.source_notebook(problem_set).cells if "nbgrader" in cell.metadata]


@pytest.mark.parametrize("text", ["## q\n\n- 1: this\n", "## q\n\nThe answer.\n", "## q\n\n- 1: a\n\n- one: b\n"])
def test_a_guide_without_rubric_or_answer_is_refused_with_its_place(text, tmp_path, monkeypatch):
    (tmp_path / "ps1.md").write_text(f"# Problem set 1\n\n{text}")
    monkeypatch.setattr(rubrics, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"ps1\.md, q: expected a list"):
        rubrics.marking_guides.__wrapped__("ps1")


def test_formgrader_shows_rubric_and_model_answer_below_each_answer(course):
    config = configuration(course)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [template_path]
    path = course.root / "autograded/carla/ps1/ps1.ipynb"
    page, _ = HTMLExporter(config=config).from_filename(str(path), resources=dict(FORMGRADER))
    text = squeezed(re.sub(r"<[^>]+>", "", page))
    for guide in marking_guides("ps1").values():
        answer = page.index(f'id="{guide.question}-comment"')
        assert page.index(f"Rubric of {guide.question}") > answer, "below the field for points and comment"
    assert page.count("<summary>Model answer</summary>") == page.count("<table class=") == 2
    criteria = [criterion for guide in marking_guides("ps1").values() for criterion in guide.rubric]
    assert len(criteria) == 8 and all(squeezed(criterion.text) in text for criterion in criteria)
    assert "marking-guide" not in path.read_text()


def test_html_that_is_no_guide_is_cleaned():
    assert cleaned("<details onclick=x><script>1</script></details>").count("<") == 0
    (guide, _) = marking_guides("ps1").values()
    assert cleaned(guide_html(guide)) == guide_html(guide) and "<details" not in cleaned(guide_html(guide) + " ")


def test_no_page_of_feedback_has_them(course):
    (written,) = write_pages(course, "ps1", ["carla"])
    assert not written.trouble
    pages = [path for path in course.feedback("carla", "ps1").rglob("*") if path.is_file()]
    assert any("in two parts" in path.read_text() for path in pages if path.suffix == ".html")
    for path in pages:
        text = squeezed(path.read_text(errors="replace"))
        assert not [one for one in sentences("ps1") if one in text] and "Modelanswer" not in text


def test_no_file_of_a_course_has_them(course):
    texts = {path: squeezed(path.read_text(errors="replace")) for path in course.root.rglob("*") if path.is_file()}
    assert not [path for path, text in texts.items() if any(one in text for one in sentences("ps1"))]


def test_no_bundle_and_no_released_notebook_has_them():
    *earlier, last = SETS  # the last bundle has every module, solved
    texts = [*bundle(last, earlier).values(), *(nbformat.writes(notebooks.source_notebook(name)) for name in SETS)]
    whole = squeezed("\n".join(texts))
    for name in SETS:
        assert len(list(sentences(name))) > 8
        assert not [one for one in sentences(name) if one in whole]


def test_nothing_that_the_site_or_a_learner_s_notebook_is_made_of_has_them():
    made_of = ("book", "src", "solutions", "README.md")
    listed = subprocess.run(["git", "ls-files", "-z", *made_of], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split("\0") if name.endswith((".md", ".py", ".ipynb", ".toml", ".txt"))]
    assert any(name.startswith("book/notebooks/ps") for name in names) and "book/problem-sets/ps1.md" in names
    wanted = [one for name in SETS for one in sentences(name)]
    for name in names:
        text = squeezed((ROOT / name).read_text(encoding="utf-8")) if os.path.exists(ROOT / name) else ""
        assert not [one for one in wanted if one in text], name
