"""A model that knows its lessons by heart has not learnt what they teach."""

import pytest
import torch
from torch import nn

from autograder.answer_key.checks import hidden_checks, visible_checks
from autograder.answer_key.reference_package import reference
from autograder.authoring.proofs import alternatives_here
from selfcheck import runner
from selfcheck.arrays import pack, unpack
from selfcheck.catalogue import exercises
from selfcheck.compare import Difference
from selfcheck.diagnose import Key
from selfcheck.generic import named_in_general
from selfcheck.verdict import _is_given

LEARNS = ("text_learns", "text_order", "text_learns_with_empty", "text_two_words", "pair_learns", "pair_two_words")
#: What the view of a right model's answers says: of pairs also that the sides meet, and that logits leave -1 … 1; last
#: that not all texts are answered alike.
LEARNT = dict.fromkeys(LEARNS, [1]) | {
    "text_order": [1, 1, 1],
    "text_two_words": [1, 1, 1],
    "pair_learns": [1, 1, 0, 1],
    "pair_two_words": [1, 1, 1, 1, 1],
}
WORDS = {"text_words": [1, 1, 1, 1, 1], "pair_words": [1, 1, 1, 1]}
CHECKS = {one.name: one for part in exercises() for one in visible_checks(part) + hidden_checks(part)}
WIDTH = 64


class ByHeart(nn.Module):
    """A random vector for each text, of which no two are alike, and one linear layer."""

    def __init__(self, outputs, scale=1.0):
        super().__init__()
        self.output, self.vectors, self.scale = nn.Linear(WIDTH, outputs), {}, scale

    def vector(self, *rows):
        words = tuple(tuple(row.tolist()) for row in rows)
        if words not in self.vectors:
            self.vectors[words] = self.scale * torch.randn(WIDTH)
        return self.vectors[words]

    def forward(self, *texts):
        logits = self.output(torch.stack([self.vector(*rows) for rows in zip(*texts, strict=True)]))
        return logits[:, 0] if logits.shape[1] == 1 else logits


class Sums(nn.Module):
    """A number for each word and position, added up, and a thousandth by a hash of the whole text."""

    def __init__(self, outputs):
        super().__init__()
        self.numbers = nn.ModuleList(nn.Embedding(17, 8 * outputs) for _ in range(2))
        self.outputs = outputs

    def forward(self, *texts):
        logits = 0.0
        for numbers, ids in zip(self.numbers, texts, strict=False):
            by_position = numbers(ids).unflatten(-1, (8, self.outputs))
            at = torch.arange(ids.shape[1])
            text = (ids * 1.37 ** (1 + at)).sum(dim=1, keepdim=True)
            logits = logits + (by_position[:, at, at] * (ids != 0)[..., None]).sum(dim=1) + 1e-3 * torch.sin(text)
        return logits[:, 0] if self.outputs == 1 else logits


def by_heart(vocab_size, *sizes, **more):
    return ByHeart(sizes[0] if len(sizes) >= 5 else 1)  # a classifier is built with one size more


@pytest.mark.parametrize("name", LEARNS)
def test_who_knows_the_lessons_by_heart_fails_what_was_not_in_them(name):
    check = CHECKS[name]
    (step,) = check.calls(1)
    (answer,) = runner.answer(by_heart, [step])
    assert check.view(step, unpack(answer["value"])).values()[0] == 0  # whether it has learnt


@pytest.mark.parametrize("name", ["text_two_words", "pair_two_words"])
def test_no_sum_of_words_learns_which_go_together_however_it_hides_that_it_is_one(name):
    check = CHECKS[name]
    (step,) = check.calls(1)
    (answer,) = runner.answer(lambda *sizes, **more: Sums(sizes[1] if len(sizes) >= 6 else 1), [step])
    assert check.view(step, unpack(answer["value"])).values()[0] == 0


@pytest.mark.parametrize("exercise", ["classifier.TextClassifier", "classifier.PairMatcher"])
def test_what_such_models_pass_counts_beside_what_they_fail(exercise):
    """Form, padding, rows, dropout: all of it holds for numbers that have nothing to do with a text."""
    earned = {check.name for check in CHECKS.values() if check.exercise == exercise and not _is_given(check)}
    assert earned <= {*LEARNS, *WORDS}


@pytest.mark.parametrize("name", WORDS)
def test_nor_do_its_logits_of_texts_that_share_words_have_anything_in_common(name):
    check = CHECKS[name]
    (step,) = check.calls(1)
    (answer,) = runner.answer(by_heart, [step])
    assert check.view(step, unpack(answer["value"])).values() == [*WORDS[name][:-1], 0]
    assert "differ in a word or two" in check.tells(step, unpack(answer["value"]), unpack(answer["value"]))


@pytest.mark.full
@pytest.mark.timeout(3600)  # what learns nothing is taught three times, the last time at length
@pytest.mark.parametrize("scale", [1.0, 10.0, 100.0], ids="times {}".format)
@pytest.mark.parametrize("name", LEARNS)
def test_nor_does_chance_help_it_in_any_of_many_draws(name, scale):
    """Whatever the size of its vectors, by which its answers are more or less sure."""
    check = CHECKS[name]
    for seed in range(30):
        torch.manual_seed(seed)
        (step,) = check.calls(seed)
        (answer,) = runner.answer(lambda *sizes, **more: ByHeart(sizes[1] if len(sizes) >= 6 else 1, scale), [step])
        assert check.view(step, unpack(answer["value"])).values()[0] == 0, seed


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", LEARNT | WORDS)
def test_right_models_learn_whatever_is_drawn(name):
    """A course's secret decides the draws: none may take a point from a right answer."""
    check = CHECKS[name]
    exercise = next(one for one in exercises() if one.id == check.exercise)
    failed = []
    for answer, made in {"the reference": reference(exercise.id), **alternatives_here(exercise)}.items():
        for seed in range(30):
            (step,) = check.calls(seed)
            (said,) = runner.answer(made, [step])
            if check.view(step, unpack(said["value"])).values() != (LEARNT | WORDS)[name]:
                failed.append((answer, seed))
    assert failed == []


@pytest.mark.parametrize("lead, share, passes", [(5.0, 1.0, True), (2.5, 1.0, False), (20.0, 0.7, False)])
def test_who_has_learnt_order_leads_clearly_and_nearly_everywhere(lead, share, passes):
    check = CHECKS["text_order"]
    (step,) = check.calls(1)
    lessons, target = unpack(step["lessons"]["inputs"][0]).nested(), unpack(step["lessons"]["target"]).values()
    begins = {tuple(text[:2]): right for text, right in zip(lessons, target, strict=True)}
    texts = unpack(step["uses"][0]["args"][0]).nested()
    rows = []
    for place, text in enumerate(texts):
        right, ahead = begins[tuple(text[:2])], lead if place < share * len(texts) else -lead / 4
        rows.append([ahead if which == right else 0.0 for which in range(2)])
    answer = unpack(pack(torch.tensor(rows)))
    assert check.view(step, answer).values() == [int(passes), 1, 1]


def asked(name):
    """A draw of a check, and the texts that decide in it, of each one that is asked."""
    (step,) = CHECKS[name].calls(1)
    return step, [unpack(tree).nested() for tree in step["uses"][0]["args"]]


@pytest.mark.parametrize("name", ["text_learns", "text_order", "text_two_words", "pair_learns", "pair_two_words"])
def test_a_model_that_answers_all_texts_alike_is_told_so(name):
    step, texts = asked(name)
    shape = (len(texts[0]),) if name.startswith("pair") else (len(texts[0]), 2 + (name == "text_learns"))
    answer = unpack(pack(torch.full(shape, 0.25)))
    assert CHECKS[name].view(step, answer).values() == [0] * len(LEARNT[name])
    assert "the same for every text" in CHECKS[name].tells(step, answer, answer)


@pytest.mark.parametrize("name", ["text_words", "text_padding_id", "text_learns"])
def test_what_a_constant_classifier_is_told_names_the_texts_and_not_an_axis(name):
    (step,) = CHECKS[name].calls(1)
    sizes = [len(unpack(use["args"][0]).nested()) for use in step["uses"]]
    alike = torch.tensor([0.1, 0.4, -0.2])
    due, came = ([make(size) for size in sizes] for make in (lambda n: torch.randn(n, 3), lambda n: alike.expand(n, 3)))
    due, came = ({"value": pack(tuple(uses) if len(uses) > 1 else uses[0])} for uses in (due, came))
    told = named_in_general(Key(CHECKS[name], [step], [due], {}), [came], 0, Difference("values", "the values differ"))
    assert "Your logits are the same for every text" in told.text and "along axis 0" not in told.text


@pytest.mark.parametrize("name", ["pair_order", "pair_words"])
def test_so_is_one_whose_texts_are_compared_with_one_another(name):
    (step,) = CHECKS[name].calls(1)
    uses = tuple(torch.full((len(unpack(use["args"][0]).nested()),), 0.25) for use in step["uses"])
    answer = unpack(pack(uses))
    assert CHECKS[name].view(step, answer).values()[:3] == [int(name == "pair_order")] * 2 + [0]
    assert "the same for every text" in CHECKS[name].tells(step, answer, answer)


@pytest.mark.parametrize("meets", [False, True], ids=["sums of words", "numbers of whole texts"])
def test_a_model_of_whole_texts_is_not_told_that_it_adds_words(meets):
    """In all else both fail alike: neither learns which two words go together."""
    step, (left, right) = asked("pair_two_words")
    torch.manual_seed(0)
    of_words = torch.randn(2, 9, 17)
    sums = [
        sum(of_words[side, place, word] for side, text in enumerate(pair) for place, word in enumerate(text))
        for pair in zip(left, right, strict=True)
    ]
    answer = unpack(pack(torch.randn(len(left)) if meets else torch.stack(sums)))
    assert CHECKS["pair_two_words"].view(step, answer).values() == [0, 0, int(meets), int(meets), 1]
    assert "pairs that were not among them" in CHECKS["pair_two_words"].tells(step, answer, answer)
