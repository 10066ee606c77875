"""What stands on a page of a written answer and of a submitted source: text, and soon."""

import re
import time
from html.parser import HTMLParser

import pytest
from nbconvert.filters.highlight import Highlight2HTML

from autograder.course.paths import REFERENCE
from autograder.gradebook import safe_html

from .output import ANSWERS, HONEST, SLOW, SLOW_SOURCES


class Elements(HTMLParser):
    """The elements of a page, each with its attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


PLAIN = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "em", "strong", "del", "code", "pre", "ul", "ol", "li", "hr", "br")
}
PLAIN |= {*("img", "blockquote", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td")}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_written_answer_becomes_plain_elements(name):
    for tag, attributes in Elements(safe_html.answer_html(ANSWERS[name])).found:
        assert tag in PLAIN
        assert set(attributes) <= {"href", "rel", "src", "alt"}
        assert re.fullmatch(r"(https?://|mailto:|#)\S*", attributes.get("href") or "#")
        assert (attributes.get("src") or "data:image/png;base64,").startswith("data:image/png;base64,")


@pytest.mark.parametrize("text", HONEST, ids=range(len(HONEST)))
def test_an_honest_answer_is_shown_as_it_was_meant(text):
    found = safe_html.answer_html(text)
    assert [part for part in HONEST[text] if part not in found] == []


def test_an_honest_source_is_shown_as_it_is():
    for data in [path.read_bytes() for path in REFERENCE.glob("*.py")]:
        assert safe_html.source_text(data).rstrip() == data.decode().rstrip()


@pytest.mark.parametrize("name", SLOW_SOURCES)
def test_a_long_source_is_cut_where_a_page_would_take_for_ever(name):
    text = safe_html.source_text((SLOW_SOURCES[name] * 2**20).encode()[: 2**20])
    assert len(text) < safe_html.MOST_SOURCE + 200
    assert max(map(len, text.splitlines())) <= safe_html.MOST_LINE + 2
    assert name == "blanks" or "the page ends here" in text
    started = time.thread_time()
    assert len(Highlight2HTML(pygments_lexer="ipython3")(text)) < 3 * 2**20
    assert time.thread_time() - started < 20  # seconds of the processor: one or two, hours for the whole


@pytest.mark.parametrize("name", SLOW)
def test_a_long_answer_takes_no_longer_than_it_may(name):
    started = time.thread_time()
    safe_html.answer_html(SLOW[name])
    safe_html.answer_html(SLOW[name][: safe_html.MOST_ANSWER])
    assert time.thread_time() - started < 40  # seconds of the processor: three


@pytest.mark.parametrize("start", safe_html.FORMULA_STARTS)
def test_formulas_that_end_nowhere_take_as_long_as_their_text(start):
    started = time.thread_time()
    safe_html.answer_html((start * safe_html.MOST_ANSWER)[: safe_html.MOST_ANSWER])
    safe_html.answer_html((start + "x" * 60) * safe_html.MOST_FORMULAS)
    assert time.thread_time() - started < 0.5  # seconds of the processor: a tenth; one, where each looks to the end
    assert "<h1>" in safe_html.answer_html(f"# Formulas\n\n{start}x" * safe_html.MOST_FORMULAS)
