"""A model that takes no notice of its number of heads loses a point, for its logits are those of any other number."""

import pytest

from autograder.answer_key.reference_package import reference
from autograder.authoring import proofs
from autograder.course.policy import GradingPolicy
from selfcheck.catalogue import exercises
from selfcheck.verdict import judge

torch = pytest.importorskip("torch")
POLICY = GradingPolicy(b"heads")
PLACES = {"decoder.LanguageModel": (2, "model_of_other_sizes"), "decoder.EncoderDecoder": (3, "translator_sizes")}


def with_one_head(symbol, place):
    """The reference's model, which has one head whatever it is asked for."""

    class OneHead(symbol):
        def __init__(self, *args, **settings):
            symbol(*args, **settings)  # which refuses a number that does not fit
            super().__init__(*args[:place], 1, *args[place + 1 :], **settings)

    return OneHead


@pytest.mark.parametrize("exercise", [one for one in exercises() if one.id in PLACES], ids=lambda one: one.id)
def test_a_model_of_one_head_whatever_is_asked_loses_that_point_alone(exercise):
    symbol, (place, check) = reference(exercise.id), PLACES[exercise.id]
    keys = proofs.keys_of(exercise, POLICY)
    found = judge(exercise, keys, proofs.answers_of(with_one_head(symbol, place), keys)).checks
    assert {one.check for one in found if not one.points} == {check}
    assert all(one.points for one in judge(exercise, keys, proofs.answers_of(symbol, keys)).checks)
