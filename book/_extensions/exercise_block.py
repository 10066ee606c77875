"""The `exercise` directive: one exercise of the catalogue, with its hints, stub and solution folded."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from exercises_in_page import place
from folds import fold
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from autograder.build.exercise_text import label, points_text, slug, solution_text, stub_text
from autograder.build.urls import colab_url
from autograder.course.paths import REFERENCE
from selfcheck.catalogue import FOLDER, Exercise, part_of, parts_of

LOG = logging.getLogger(__name__)
HINTS = ("Hint 1: a nudge", "Hint 2: a stronger one", "Hint 3: nearly there")


class exercise_link(nodes.Inline, nodes.TextElement):  # noqa: N801
    """A link to a label that may stand on a page not read yet; resolved when every page is read."""


class ExerciseDirective(SphinxDirective):
    """```{exercise} masks.causal_mask```, with `:problem-set: ps3` where the id has a part in two problem sets."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"problem-set": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        try:
            exercise = part_of(self.arguments[0], self.options.get("problem-set"))
        except LookupError as problem:
            raise self.error(problem.args[0]) from problem
        for file in (REFERENCE / f"{exercise.module}.py", FOLDER / f"{exercise.module}.toml"):
            self.env.note_dependency(str(file))
        return [self._block(exercise)]

    def _block(self, exercise: Exercise) -> nodes.Element:
        name = label(exercise)
        here = name if self.env.docname.startswith("chapters/") else f"{exercise.problem_set}-{slug(exercise)}"
        title = f"Exercise {exercise.number}: {exercise.title}"
        block = nodes.container(classes=["exercise"], ids=[nodes.make_id(here)])
        self.set_source_info(block)
        block += nodes.paragraph("", title, classes=["exercise-title"])
        block += self._facts(exercise)
        block += self.parse_text_to_nodes(exercise.prompt)
        editor = place(exercise, stub_text(exercise))
        if editor is not None:
            block += editor
        block += self._code("Stub", stub_text(exercise), f"Your part of src/attention/{exercise.module}.py")
        for name, hint in zip(HINTS, exercise.hints, strict=False):
            block += fold("", *self.parse_text_to_nodes(hint), summary=name, classes=["hint"])
        if os.environ.get("SOLUTIONS", "yes") != "no":
            block += self._solution(exercise)
        block += self._where_to_work(exercise)
        _places(self.env).setdefault(self.env.docname, []).append((here, name, title))
        return block

    def _facts(self, exercise: Exercise) -> nodes.Element:
        level = f"difficulty {exercise.difficulty} of 5"
        facts = nodes.paragraph(classes=["exercise-facts"])
        facts += nodes.inline("", points_text(exercise.max_points))
        facts += nodes.inline("", f"about {exercise.minutes} minutes")
        facts += nodes.inline("", level)
        if exercise.depends_on:
            builds_on = nodes.inline("", "builds on ")
            for index, needed in enumerate(exercise.depends_on):
                try:
                    first = parts_of(needed)[0]
                except KeyError as problem:
                    raise self.error(f"exercise {exercise.id} depends on {needed}: {problem.args[0]}") from problem
                if index:
                    builds_on += nodes.Text(", ")
                builds_on += exercise_link("", first.number, target=label(first))
            facts += builds_on
        if exercise.section and not self.env.docname.startswith("chapters/"):
            read = nodes.inline("", "read first: ")
            read += exercise_link("", "", target=exercise.section)
            facts += read
        return facts

    def _code(self, kind: str, source: str, summary: str) -> nodes.Element:
        code = nodes.literal_block(source, source, language="python", classes=[f"exercise-{kind.lower()}"])
        self.set_source_info(code)
        return fold("", code, summary=summary, classes=[kind.lower()])

    def _solution(self, exercise: Exercise) -> nodes.Element:
        """The solution, two folds deep: who opens the first reads what to try before, who opens the second insists."""
        before = nodes.paragraph()
        before += nodes.Text("Before you look: does ")
        before += nodes.literal("", f'check("{exercise.number}")')
        before += nodes.Text(" pass? If not, read its first message, then the hints above.")
        inner = self._code("Solution", solution_text(exercise), "Show the solution anyway")
        return fold("", before, inner, summary="Solution", classes=["solution-question"])

    def _where_to_work(self, exercise: Exercise) -> nodes.Element:
        work = nodes.paragraph(classes=["exercise-work"])
        work += nodes.Text("In a notebook: ")
        work += nodes.literal("", f'edit("{exercise.number}")')
        work += nodes.Text(", then ")
        work += nodes.literal("", f'check("{exercise.number}")')
        work += nodes.Text(". In a terminal: ")
        work += nodes.literal("", f"python -m selfcheck {exercise.number}")
        work += nodes.Text(". ")
        work += nodes.reference(
            "",
            f"Open problem set {exercise.problem_set.removeprefix('ps')} on Colab",
            refuri=colab_url(exercise.problem_set),
            internal=False,
        )
        return work


def name_places(app: Sphinx, env: BuildEnvironment) -> None:
    """Makes `{ref}` find every exercise: in its chapter, else in its problem set."""
    standard = env.get_domain("std")
    for docname in sorted(_places(env), key=lambda name: (not name.startswith("chapters/"), name)):
        for here, elsewhere, title in _places(env)[docname]:
            for name in {here.lower(), elsewhere.lower()} - standard.labels.keys():
                standard.labels[name] = (docname, nodes.make_id(here), title.split(":")[0])
                standard.anonlabels[name] = (docname, nodes.make_id(here))


def resolve_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turns each exercise_link into a reference, and warns where its label stands on no page."""
    labels = app.env.get_domain("std").labels
    for node in list(doctree.findall(exercise_link)):
        place = labels.get(node["target"].lower())
        if place is None:
            LOG.warning("an exercise points to %s, a label that no page has", node["target"], location=docname)
            node.replace_self(nodes.Text(node.astext() or node["target"]))
            continue
        page, anchor, title = place
        uri = app.builder.get_relative_uri(docname, page) + f"#{anchor}"
        text = node.astext() or title
        node.replace_self(nodes.reference("", text, refuri=uri, internal=True))


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _places(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    _places(env).update({name: places for name, places in _places(other).items() if name in docnames})


def _places(env: BuildEnvironment) -> dict[str, list[tuple[str, str, str]]]:
    if not hasattr(env, "exercise_places"):
        env.exercise_places = {}
    return env.exercise_places


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("folds")
    app.setup_extension("exercises_in_page")
    app.add_node(exercise_link)
    app.add_directive("exercise", ExerciseDirective)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("env-updated", name_places)
    app.connect("doctree-resolved", resolve_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
