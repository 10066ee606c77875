"""The `question` directive: a question that a person grades, on the page of its problem set."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.build.exercise_text import points_text


class QuestionDirective(SphinxDirective):
    """```{question} ps3-why-minus-infinity``` with `:points: 4` and the text of the question."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"points": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        if "points" not in self.options:
            raise self.error(f"question {self.arguments[0]} needs :points:")
        self.assert_has_content()
        points = self.options["points"]
        label = f"q-{self.arguments[0]}"
        block = nodes.container(classes=["question"], ids=[nodes.make_id(label)])
        self.set_source_info(block)
        block += nodes.paragraph("", "Question", classes=["exercise-title"])
        facts = nodes.paragraph(classes=["exercise-facts"])
        facts += nodes.inline("", points_text(points))
        facts += nodes.inline("", "read and graded by a person")
        block += facts
        block += self.parse_content_to_nodes()
        standard = self.env.get_domain("std")
        standard.anonlabels[label] = (self.env.docname, nodes.make_id(label))
        standard.labels[label] = (self.env.docname, nodes.make_id(label), "the question")
        return [block]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("question", QuestionDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
