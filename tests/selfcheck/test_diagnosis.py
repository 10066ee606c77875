"""Which of several misconceptions is named, and which exceptions are one mistake."""

import pytest

from selfcheck import runner
from selfcheck.arrays import pack
from selfcheck.checks.dot_product import attention_dropout, dropout_words
from selfcheck.compare import compare
from selfcheck.diagnose import Key, diagnose
from selfcheck.exceptions import explained_where_refused
from selfcheck.generic_slips import SLIPS
from selfcheck.plan import Check, Draw, built, call, tensor

FIRST, SECOND, THIRD = (
    Check("toy.double", f"check_{number}", "x", lambda rng: None, compares=("values",)) for number in range(3)
)


def value(number):
    return [{"value": pack([float(number)]), "changed": []}]


def error(text="sizes differ", operation="product", kind="RuntimeError"):
    return [{"error": {"type": kind, "kinds": [kind], "text": text, "operation": operation}, "changed": []}]


def keys(*misconceptions):
    """A key per check, of whose draw 0 is the right answer; each misconception answers as listed, None as is right."""
    found = []
    for place, chosen in enumerate((FIRST, SECOND, THIRD)):
        wrong = {name: answers[place] for name, answers in misconceptions if answers[place] is not None}
        found.append(Key(chosen, [call(1).packed()], value(0), wrong))
    return found


def test_what_explains_every_failure_is_named_rather_than_what_explains_some():
    some = ("some", [value(1), value(2), value(9)])
    every = ("every", [value(1), value(2), value(3)])
    answers = [value(1), value(2), value(3)]
    assert diagnose(keys(some, every), answers) == ["every"] * 3
    assert diagnose(keys(every, some), answers) == ["every"] * 3


def test_of_two_mistakes_at_once_each_check_has_its_own():
    one, two = ("one", [value(1), None, None]), ("two", [None, value(2), value(3)])
    assert diagnose(keys(one, two), [value(1), value(2), value(3)]) == ["one", "two", "two"]


def test_of_those_that_explain_as_many_the_one_with_fewer_other_failures_is_named():
    wide = ("wide", [value(1), value(8), value(9)])
    narrow = ("narrow", [value(1), None, value(9)])
    rest = ("rest", [None, value(2), value(3)])
    answers = [value(1), value(2), value(3)]
    assert diagnose(keys(wide, narrow, rest), answers)[0] == "narrow"
    assert diagnose(keys(narrow, wide, rest), answers)[0] == "narrow"


def test_two_sizes_that_do_not_fit_are_one_mistake_in_either_order():
    text = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension 1"
    wrong = keys(("same", [error(text.format(12, 3)), None, None]))
    right = [value(0), value(0)]
    assert diagnose(wrong, [error(text.format(3, 12)), *right])[0] == "same"
    assert diagnose(wrong, [error(text.format(3, 4)), *right])[0] is None


def test_a_matrix_product_that_does_not_fit_is_one_mistake_however_numpy_words_it():
    kind, dot = "ValueError", "shapes (3,4) and (3,5) not aligned: 4 (dim 1) != 3 (dim 0)"
    matmul = "matmul: Input operand 1 has a mismatch in its core dimension 0, (size {} is different from {})"
    same, other = (error(matmul.format(*sizes), kind=kind) for sizes in ((3, 4), (4, 3)))
    answers = [error(dot, kind=kind), value(0), value(0)]
    assert diagnose(keys(("same", [same, None, None])), answers)[0] == "same"
    assert diagnose(keys(("other", [other, None, None])), answers)[0] is None


def test_what_agrees_in_one_failure_of_many_agrees_by_chance():
    chance, rest = ("chance", [value(1), value(8), value(9)]), ("rest", [None, value(2), value(3)])
    answers = [value(1), value(2), value(3)]
    assert diagnose(keys(chance, rest), answers) == ["chance", "rest", "rest"]  # there may be two mistakes
    assert diagnose(keys(chance), answers) == [None] * 3  # beside numbers that nothing explains


def test_what_explains_the_numbers_of_two_draws_is_named_beside_a_failure_that_nothing_explains():
    sure, answers = ("sure", [value(1), value(2), value(8)]), [value(1), value(2), value(9)]
    assert diagnose(keys(sure), answers) == ["sure", "sure", None]
    # Not where another answers these draws so as well, nor where it explains one draw alone.
    assert diagnose(keys(sure, ("same", [value(1), value(2), value(7)])), answers) == [None] * 3
    assert diagnose(keys(("once", [value(1), None, value(8)])), [value(1), value(0), value(9)]) == [None] * 3


def test_an_exception_that_somebody_raises_himself_may_have_other_words():
    recorded = error("no room left", kind="ValueError")
    del recorded[0]["error"]["operation"]
    mine, library = (error("full", kind="ValueError", operation=operation) for operation in ("raise", "product"))
    wrong = keys(("same", [recorded, None, None]))
    assert diagnose(wrong, [mine, value(0), value(0)])[0] == "same"
    assert diagnose(wrong, [library, value(0), value(0)])[0] is None


def test_two_mistakes_that_act_together_in_one_check_are_named_where_each_acts_alone():
    one, two = ("one", [value(1), None, value(7)]), ("two", [None, value(2), value(8)])
    answers = [value(1), value(2), value(9)]
    assert diagnose(keys(one, two), answers) == ["one", "two", None]
    # One that would be right where both act leaves that failure without an explanation.
    assert diagnose(keys(one, ("two", [None, value(2), None])), answers) == [None, "two", None]
    # What never shows alone may be no more than a part of the other, or chance.
    assert diagnose(keys(one, ("two", [value(5), value(2), value(8)])), answers) == [None] * 3


def test_what_a_view_derives_is_named_only_where_the_numbers_are_explained_or_right():
    def share(one, answer):
        return answer

    seen = Check("toy.double", "seen", "x", lambda rng: None, compares=("values",), view=share)
    derived = Key(seen, [call(1).packed()], value(0), {"shares": value(5)})
    numbers = keys(("other", [value(1)] * 3))[0]
    assert diagnose([derived, numbers], [value(5), value(0)]) == ["shares", None]
    assert diagnose([derived, numbers], [value(5), value(2)]) == [None, None]


def test_forms_of_one_misconception_have_one_name():
    found = keys(("idea", [value(7)] * 3), ("idea/in_other_words", [value(1)] * 3))
    assert diagnose(found, [value(1)] * 3) == ["idea"] * 3


def test_of_those_that_agree_in_all_that_the_first_in_the_catalogue_is_named():
    assert diagnose(keys(("a", [value(1)] * 3), ("b", [value(1)] * 3)), [value(1)] * 3) == ["a"] * 3


def test_exceptions_alone_are_one_mistake_only_where_the_lines_do_the_same():
    raising = ("raising", [error(), None, None])
    right = [value(0)] * 2
    assert diagnose(keys(raising), [error(), *right])[0] == "raising"
    assert diagnose(keys(raising), [error(operation="masking"), *right])[0] is None
    assert diagnose(keys(raising), [error(text="another"), *right])[0] is None
    assert diagnose(keys(raising), [error(kind="ValueError"), *right])[0] is None


def test_with_an_answer_that_agrees_the_line_may_do_something_else():
    raising = ("raising", [error(), value(5), None])
    assert diagnose(keys(raising), [error(operation="masking"), value(5), value(0)]) == ["raising", "raising", None]


@pytest.mark.parametrize("came", [None, 3.0, "text"])
def test_none_and_answers_of_another_kind_are_no_sign_that_the_numbers_are_right(came):
    chosen = Check("toy.double", "x", "x", lambda rng: None, compares=("gradient",))
    right, none = pack(tensor([1.0])), {"kind": "none"}
    expected = [{"value": right, "gradients": {"0": right}, "changed": []}]
    detached = [{"value": right, "gradients": {"0": none}, "changed": []}]
    key = Key(chosen, [call(1).packed()], expected, {"detached": detached})
    assert diagnose([key], [detached]) == ["detached"]
    assert diagnose([key], [[{"value": pack(came), "gradients": {"0": none}, "changed": []}]]) == [None]


def test_an_exception_says_what_its_line_did():
    def product(x):
        return x @ x

    def also(x):
        import torch

        return torch.matmul(x, x)

    def added(x):
        return x + x[:, :1].T

    given = [call(tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])).packed()]
    done = [runner.answer(function, given)[0]["error"]["operation"] for function in (product, also, added)]
    assert done == ["product", "product", "sum of two"]


ERRORS = Check("masks.causal_mask", "x", "x", lambda rng: None, compares=("error",))
REFUSED = {"error": {"type": "RuntimeError", "kinds": ["RuntimeError"], "text": "no"}, "changed": []}


@pytest.mark.parametrize(
    ("came", "says"),
    [
        (None, "got None; is the return statement missing?"),
        ([[True]], "got nested lists of shape (1, 1), where a tensor is due"),
        (3, "got the number 3, where a tensor is due"),
    ],
)
def test_where_none_or_a_list_comes_nobody_is_told_to_raise(came, says):
    step = call(3, device="nowhere").packed()
    found = compare(ERRORS, step, REFUSED, {"value": pack(came), "changed": []})
    assert says in found.text and "raise" not in found.text


def test_a_device_that_is_ignored_is_named():
    step, mask = call(3, device="nowhere").packed(), {"value": pack(tensor([[True]])), "changed": []}
    found = compare(ERRORS, step, REFUSED, mask)
    assert (
        found.cause == "generic.device"
        and "names a device that does not exist" in found.text
        and "raise" not in found.text
    )
    assert "should raise RuntimeError" in compare(ERRORS, call(3).packed(), REFUSED, mask).text


INVALID = {"error": {"type": "ValueError", "kinds": ["ValueError"], "text": "no"}, "changed": []}


def test_where_arguments_are_to_be_refused_nobody_is_told_how_to_make_them_fit():
    def told(came, reveal=True):
        difference = compare(ERRORS, call(3).packed(), INVALID, came, reveal)
        return explained_where_refused(ERRORS.exercise, difference, INVALID, came)

    words = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"
    found = told(error(words)[0])
    assert found.cause == "generic.not_refused" and found.cause in SLIPS
    assert words in found.text and "wrong on purpose" in found.text and "as long as" not in found.text
    hidden = told(error(words)[0], reveal=False)
    assert "wrong on purpose" in hidden.text and words not in hidden.text
    named = told(error("name 'np' is not defined", kind="NameError")[0])
    assert "imports `np`" in named.text and "on purpose" not in named.text


def test_an_object_that_is_made_where_it_should_not_be_is_no_missing_return():
    made = {"value": {"kind": "none"}, "changed": []}
    found = compare(ERRORS, built(call(0)).packed(), INVALID, made)
    assert found.text == "this constructor call should raise ValueError, but an object was made" and not found.cause
    used = compare(ERRORS, built(call(1), call(2)).packed(), INVALID, made)
    assert used.cause == "generic.no_return"


def shares(one, answer):
    """The share of entries that are zero; any other answer is left as it is."""
    return tensor([sum(entry == 0 for entry in answer.values()) / 4])


def test_numbers_that_a_check_derives_are_said_to_be_derived():
    chosen = Check("toy.double", "x", "x", lambda rng: None, view=shares)
    due, came = ({"value": pack(tensor(values)), "changed": []} for values in ([0.0, 1.0, 2.0, 3.0], [0.0] * 3 + [1.0]))
    text = compare(chosen, call(1).packed(), due, came).text
    assert "first at [0]: expected 0.25, got 0.75" in text
    assert text.endswith("Compared is what follows from your answer: the share of entries that are zero")


def counted(step, answer):
    """How many entries there are."""
    return shares(step, answer)


counted.words = lambda step: "of two calls the second" if "times" in step else shares.__doc__


@pytest.mark.parametrize(
    ("more", "words"), [({}, "the share of entries that are zero"), ({"times": 2}, "of two calls")]
)
def test_a_view_of_several_kinds_of_steps_says_what_it_derives_from_each(more, words):
    chosen = Check("toy.double", "x", "x", lambda rng: None, view=counted)
    due, came = ({"value": pack(tensor(values)), "changed": []} for values in ([0.0, 1.0, 2.0, 3.0], [0.0] * 3 + [1.0]))
    assert (
        f"Compared is what follows from your answer: {words}"
        in compare(chosen, call(1).packed() | more, due, came).text
    )


def test_dropout_says_what_its_two_numbers_are():
    one, two_calls, two_sequences = (step.packed() for step in attention_dropout(Draw(0)))
    assert dropout_words(one).startswith("the share of weights dropped, the factor on the others")
    assert dropout_words(two_calls) == "1 where two calls drop different weights"
    assert dropout_words(two_sequences) == "1 where two sequences drop different weights"
