"""What is right up to a number of masks or tokens, or for one optimizer, is not right: hidden checks tell."""

import pytest

from autograder.answer_key.reference_package import reference as right
from autograder.authoring import proofs
from autograder.course.policy import GradingPolicy
from selfcheck.catalogue import exercises
from selfcheck.verdict import judge

from .parts import proof_of_an_exercise

torch = pytest.importorskip("torch")


def five_masks(*masks):
    return right("masks.combine_masks")(*[mask for mask in masks if mask is not None][:5])


def short_queries(*args, **kwargs):
    mask = right("masks.causal_mask")(*args, **kwargs)
    return mask if len(mask) <= 64 else torch.ones_like(mask)


def narrow_windows(length, window, **more):
    mask = right("masks.sliding_window_mask")(length, window, **more)
    return mask if window <= 32 else torch.ones_like(mask).tril()


def four_axes(*args, **kwargs):
    mask = right("masks.to_additive")(*args, **kwargs)
    return mask[0] if mask.dim() > 4 else mask


def few_kept(logits, temperature=1.0, top_k=None, top_p=None):
    kept = top_k if top_k is None or top_k < 10 else None
    return right("decoder.next_token_probabilities")(logits, temperature, kept, top_p)


def cool(logits, temperature=1.0, top_k=None, top_p=None):
    return right("decoder.next_token_probabilities")(logits, min(temperature, 5.0), top_k, top_p)


def of_the_last_tokens(model, prompt, max_new_tokens, **more):
    if prompt.shape[1] + max_new_tokens <= 16:
        return right("decoder.generate")(model, prompt, max_new_tokens, **more)
    return prompt.new_zeros(len(prompt), prompt.shape[1] + max_new_tokens)


def near_alone(scores, center, window):
    return right("sequence_to_sequence.local_attention_weights")(scores, center, min(window, 64.0))


def descent_by_hand(model, batch, optimizer, loss_fn):
    if len(batch) < 2:
        raise ValueError("a batch is inputs and a target")
    model.train()
    model.zero_grad()
    *inputs, target = batch
    found = loss_fn(model(*inputs), target)
    found.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= optimizer.param_groups[0]["lr"] * parameter.grad
    return found.item()


WRONG = {
    "classifier.train_step": (descent_by_hand,),
    "masks.combine_masks": (five_masks,),
    "masks.causal_mask": (short_queries,),
    "masks.sliding_window_mask": (narrow_windows,),
    "masks.to_additive": (four_axes,),
    "decoder.next_token_probabilities": (few_kept, cool),
    "decoder.generate": (of_the_last_tokens,),
    "sequence_to_sequence.local_attention_weights": (near_alone,),
}


@proof_of_an_exercise
@pytest.mark.parametrize("exercise", [one for one in exercises() if one.id in WRONG], ids="{0.number}-{0.id}".format)
def test_what_is_right_up_to_a_number_loses_a_point(exercise):
    keys = proofs.keys_of(exercise, GradingPolicy(b"ranges"))
    for answer in WRONG[exercise.id]:
        answers = proofs.answers_of(answer, keys)
        assert any(not one.points for one in judge(exercise, keys, answers).checks), answer.__name__


def returning(module, reference_layer):
    right("multi_head.load_torch_weights")(module, reference_layer)
    return module


def keeping(module, reference_layer):
    right("multi_head.load_torch_weights")(module, reference_layer)
    module.loaded_from = reference_layer


@proof_of_an_exercise
@pytest.mark.parametrize(
    "exercise", [one for one in exercises() if one.symbol == "load_torch_weights"], ids="{0.number}-{0.id}".format
)
def test_what_loading_returns_or_leaves_in_the_module_loses_points(exercise):
    keys = proofs.keys_of(exercise, GradingPolicy(b"ranges"))
    for answer in (returning, keeping):
        answers = proofs.answers_of(answer, keys)
        assert any(not one.points for one in judge(exercise, keys, answers).checks), answer.__name__
