"""A message leads to a section that treats its mistake, as far as a word can tell."""

import re

import pytest

from autograder.course.paths import BOOK
from selfcheck.catalogue import exercises
from selfcheck.generic_slips import SLIPS
from selfcheck.slip_sections import TREATS

#: What a message speaks of → what its section must speak of.
TREATED = {
    r"\bin place\b": r"in place",
    r"detach|no_grad|no gradient passes": r"gradient|derivative",
    r"(float32|float64|float16) comes out|default dtype": r"float32|dtype",
    r"\bdropout\b": r"dropout|training mode",
    r"\bend_id\b": r"end_id",
    r"range\(|(loop|slice)\b.* (one too early|ends before)|return stands? inside": r"`range|loop",
    r"(loop|sum)\b.* begins with 1\b": r"`range|loop",
    r"\bsqueeze": r"squeeze|broadcast",
    r"joins? along (the first axis|axis 0)|torch\.stack|unpacks the shape": r"torch\.cat|x\.shape",
    r"None was used|returns None|truth value|taken for none": r"\bNone\b|truth value",
    r"\bGPU\b": r"device",
    r"results are .*wrong order": r"first|order",
}
LABELS = re.compile(r"(?m)((?:^\((?:sec-[\w-]+)\)=\n)+)(?:(#+) )?")


def sections():
    """Label → the text from its heading to the next one of the same level or above."""
    found = {}
    for page in [*BOOK.glob("*.md"), *BOOK.glob("*/*.md")]:
        text = page.read_text("utf-8")
        for match in LABELS.finditer(text):
            level = len(match[2] or "") or 6
            end = re.compile(rf"(?m)^#{{1,{level}}} ").search(text, match.end())
            part = text[match.end() : end.start() if end else None]
            found |= dict.fromkeys(re.findall(r"sec-[\w-]+", match[1]), part)
    return found


SECTIONS = sections()


@pytest.mark.parametrize("exercise", exercises(), ids="{0.number}-{0.id}".format)
def test_a_section_speaks_of_what_a_message_speaks_of(exercise):
    astray = [
        f"{one.id}: {one.section} has nothing on {said}"
        for one in exercise.misconceptions
        for said, treated in TREATED.items()
        if re.search(said, one.message, re.IGNORECASE) and not re.search(treated, SECTIONS[one.section], re.IGNORECASE)
    ]
    assert not astray, "\n".join(astray)


def test_slips_of_any_code_lead_to_a_section_that_exists_and_to_one_alone():
    named = [f"generic.{slip}" for slips in TREATS.values() for slip in slips.split()]
    assert set(TREATS) <= set(SECTIONS)
    assert len(named) == len(set(named)) and set(named) <= set(SLIPS)
