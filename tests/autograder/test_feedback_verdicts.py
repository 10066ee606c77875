"""What a learner's page says of each exercise: the causes, in which order, with a line, an example and a section."""

import dataclasses

import pytest

from autograder.gradebook.feedback.source import Module
from autograder.gradebook.feedback.verdicts import verdict_of
from autograder.judge.result import CheckOutcome, ExerciseOutcome
from selfcheck.sections import title_of


def outcome(message, text="", check="softmax_rows", misconception=None, verdict="failed"):
    checks = (
        CheckOutcome("softmax_axis", "the axis counts", "passed", 1, 1),
        CheckOutcome(check, "rows sum to 1", verdict, 0, 1, message, misconception, "sec-softmax-axis", "untold text"),
    )
    text = (
        text or f"2.3 A stable softmax (worked_example.softmax): 1 of 2 checks pass\n  ✗ rows sum to 1\n      {message}"
    )
    return ExerciseOutcome("worked_example.softmax", "2.3", 1, 2, text, checks)


def test_the_line_that_a_message_names_is_marked_where_the_code_still_stands_there():
    (problem,) = verdict_of(outcome("your code raised KeyError, in line 12: `x = y[0]`")).problems
    assert problem.cause.startswith("Your code raised") and problem.places[0].line == 12
    module = Module("\n".join(["# head", *[""] * 9, "def softmax(scores):", "    x = y[0]", "    return x", "z = 1"]))
    assert module.holds(12, problem.places[0].holds) and not module.holds(11, problem.places[0].holds)
    assert module.definition("softmax") == range(11, 14)
    (forbidden,) = verdict_of(outcome("Line 55 calls torch.softmax: this exercise asks you …")).problems
    assert forbidden.places[0] == dataclasses.replace(forbidden.places[0], line=55, holds="softmax")
    (elsewhere,) = verdict_of(outcome("line 7 of masks.py: it is never called")).problems
    assert (elsewhere.places[0].module, elsewhere.places[0].line) == ("masks", 7)


def test_what_a_learner_can_mend_comes_before_what_waits_for_it():
    checks = (
        CheckOutcome("softmax_axis", "it is refused", "skipped", 0, 1, "counts as soon as another check passes"),
        CheckOutcome("not shown", "a secret", "failed", 0, 2, "this fails for inputs that are not shown"),
        CheckOutcome("softmax_rows", "it sums to one", "failed", 0, 1, "the sum is taken over the queries"),
    )
    outcome = ExerciseOutcome("worked_example.softmax", "2.3", 0, 4, "", checks)
    causes = [problem.cause for problem in verdict_of(outcome).problems]
    assert [cause.split()[0] for cause in causes] == ["The", "This", "Counts"]


def test_an_exercise_that_fails_names_a_section_to_reread_whether_the_cause_is_known_or_not():
    for misconception, label in ((None, "sec-softmax"), ("generic.transposed", "sec-slips-axes")):
        (problem,) = verdict_of(outcome("The values differ", misconception=misconception)).problems
        assert problem.title == title_of(label) and problem.address.endswith(f"#{label}")
    skipped = verdict_of(outcome("Skipped: it builds on worked_example.project, which …", verdict="skipped"))
    assert not skipped.problems[0].title


def test_a_wrong_shape_is_told_once_whatever_the_lengths_and_another_place_apart():
    texts = (
        "expected shape (6, 5), got (5, 6)",
        "expected shape (4, 3, 2), got (4, 2, 3)",
        "expected shape (3, 2) in result 2 of 2, got (2, 3)",
    )
    checks = tuple(
        CheckOutcome(name, name, "failed", 0, 1, text)
        for name, text in zip(("softmax_rows", "softmax_axis", "softmax_numpy"), texts, strict=True)
    )
    problems = verdict_of(ExerciseOutcome("worked_example.softmax", "2.3", 0, 3, "", checks)).problems
    assert [len(problem.sees) for problem in problems] == [2, 1]
    assert [problem.cause for problem in problems] == [f"E{texts[0][1:]}.", f"E{texts[2][1:]}."]


@pytest.mark.parametrize(
    "message",
    ["worked_example.py is missing from the submission", "the module cannot be imported: SyntaxError: …, in line 3"],
)
def test_a_file_that_is_at_fault_sends_nobody_to_a_section(message):
    (problem,) = verdict_of(outcome(message)).problems
    assert problem.cause.casefold().startswith(message.casefold()) and not problem.title


def test_a_hidden_check_says_nothing_but_whether_it_passes():
    verdict = verdict_of(outcome("This fails for inputs that are not shown", check="softmax_extremes"))
    (problem,) = verdict.problems
    assert (problem.sees, problem.hidden, verdict.passed) == ((), 1, ("the axis counts",))
    assert "untold" not in repr(verdict) and "rows sum to 1" not in repr(verdict)


def test_an_example_and_a_note_are_taken_from_what_the_learner_reads():
    text = (
        "Your code for softmax is in the notebook.\n2.3 A stable softmax (worked_example.softmax): 1 of 2 checks pass\n"
        "  ✗ rows sum to 1\n      not so\n      in softmax(list (3, 3))\n  ✓ the axis counts"
    )
    verdict = verdict_of(outcome("not so", text))
    assert verdict.note == "Your code for softmax is in the notebook." and verdict.title == "A stable softmax"
    assert verdict.problems[0].call == "softmax(list (3, 3))"
    untouched = text.replace("1 of 2 checks pass", "not started")
    assert verdict_of(outcome("not so", untouched)).told == "your code is in the notebook"
    skipped = verdict_of(outcome("Skipped: it builds on worked_example.project, which …", verdict="skipped"))
    assert "builds on Exercise 2.1 `project`" in skipped.problems[0].cause and skipped.told.endswith(
        "the rest is skipped"
    )
