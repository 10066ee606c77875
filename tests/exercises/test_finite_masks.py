"""Who hides a score behind a large negative number, and not behind -inf, fails a check, whichever number it is.

Such an answer is right as long as no allowed score lies near the number. Each exercise that hides scores has therefore
a check whose allowed scores are no larger than any number that people write for minus infinity. The answers that are
tried here are right in all else: with -inf they pass the same check.
"""

import inspect
import math

import pytest

from autograder.answer_key.checks import hidden_checks, seed_of, visible_checks
from autograder.answer_key.live import answers_of, live_key
from autograder.answer_key.reference_package import reference
from selfcheck.catalogue import exercises
from selfcheck.diagnose import first_difference

from . import finite_masks
from .parts import proof_of_an_exercise

SECRET = b"one course"

#: Arguments that say what is hidden.
HIDING = {"attn_mask", "cache", "is_causal", "key_mask", "mask", "padding_id", "top_k", "top_p", "window"}

#: Exercises that hide something without one of these.
OTHERS = {"decoder.LanguageModel", "efficient.merge_partials", "efficient.online_softmax"}

#: Exercises whose answers are not the reference over another softmax.
OWN = {
    "decoder.next_token_probabilities": finite_masks.cut_over,
    "efficient.blockwise_attention": finite_masks.blockwise_over,
    "efficient.merge_partials": finite_masks.merge_over,
    "efficient.online_softmax": finite_masks.online_over,
    "masks.masked_softmax": finite_masks.masked_softmax_over,
    "masks.to_additive": finite_masks.additive_over,
}

#: Exercises with such an argument that hide no score.
NO_SCORES = {
    "classifier.masked_mean": "the vectors of padding are left out of a sum",
    "decoder.generate": "it leaves top_k and top_p to next_token_probabilities, which has checks of its own",
    "decoder.next_token_loss": "the losses of padding are left out of a sum",
    "masks.sliding_window_mask": "it makes a boolean mask",
}

FREE = "inside the model is free, so that no check can give its scores exactly the smallest number"
POWERS = "answers that take powers of 2, as the reference does, are right for all scores above -2.3e38 only"
START = "no score is below the smallest number, so that a largest score that begins with it is right"
#: Numbers that no check tells from -inf, by exercise, with the reason; None is the smallest number of the dtype.
UNSEEN = {
    "3.5": (finite_masks.NUMBERS, "its checks pass no mask: those that do are of 4.8"),
    "8.2": ((None,), FREE),
    "8.4": ((None,), FREE),
    "10.3": ((None,), FREE),
    "10.7": ((None,), FREE),
    "11.1": ((None,), START),
    "11.2": ((None,), POWERS),
}


def names_of_arguments(exercise):
    """The names of the arguments of a function, or of a class and its forward."""
    answer = reference(exercise.id)
    parts = [answer, answer.forward] if hasattr(answer, "forward") else [answer]
    return {name for part in parts for name in inspect.signature(part).parameters}


def hides(exercise):
    """Whether an exercise hides scores."""
    return (
        exercise.library == "torch"
        and exercise.id not in NO_SCORES
        and (exercise.id in OTHERS or bool(HIDING & names_of_arguments(exercise)))
    )


MASKING = [exercise for exercise in exercises() if hides(exercise)]
each = pytest.mark.parametrize("exercise", MASKING, ids="{0.number}-{0.id}".format)
#: The arguments of all answers tell which exercises hide scores.
chosen_by_arguments = pytest.mark.proof(collects="solutions/attention/*.py")


def trains_long(step):
    """Whether a step trains a model for more than a few steps."""
    return bool(step.get("lessons")) and step["lessons"]["steps"] > 20


def keys_of(exercise):
    """A draw of each check, hidden ones first; of none that trains a model for long or measures memory."""
    for check in hidden_checks(exercise) + visible_checks(exercise):
        seed = seed_of(SECRET, check)
        quick = not check.measured and not any(trains_long(step) for step in check.calls(seed))
        if quick and "error" not in check.compares:
            yield live_key(check, seed, names=False)


def fails(exercise, number, key):
    """Whether the answer that hides scores behind a number fails a draw."""
    answer = OWN.get(exercise.id, finite_masks.reference_over)(exercise, number)
    return first_difference(key, key.expected, answers_of(answer, key)) is not None


def unseen_numbers(exercise):
    """The numbers with which an answer passes every check that it passes with -inf."""
    left = list(finite_masks.NUMBERS)
    for key in keys_of(exercise):
        left = [number for number in left if not fails(exercise, number, key) or fails(exercise, -math.inf, key)]
        if not left:
            break
    return tuple(left)


@proof_of_an_exercise
@chosen_by_arguments
@each
def test_a_large_negative_number_in_place_of_minus_infinity_fails_a_check(exercise):
    assert unseen_numbers(exercise) == UNSEEN.get(exercise.number, ((), ""))[0]


@proof_of_an_exercise
@chosen_by_arguments
@each
def test_the_same_answer_with_minus_infinity_passes(exercise):
    assert not [key.check.name for key in keys_of(exercise) if fails(exercise, -math.inf, key)]


def test_every_exception_is_an_exercise_and_has_a_reason():
    assert UNSEEN.keys() <= {exercise.number for exercise in MASKING}
    assert (OTHERS | OWN.keys()) <= {exercise.id for exercise in MASKING}
    assert NO_SCORES.keys() <= {exercise.id for exercise in exercises()}
    assert all(len(reason) > 20 for reason in (*NO_SCORES.values(), *(reason for _, reason in UNSEEN.values())))
