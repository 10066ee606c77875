"""An id with two parts in different problem sets: each part shows what it teaches, and mistakes are named in both."""

from autograder.answer_key import checks
from autograder.answer_key.misconceptions import misconceptions_of
from selfcheck import runner
from selfcheck.catalogue import exercises, parts_of
from selfcheck.recorded import visible_keys
from selfcheck.verdict import judge

ATTENTION = "dot_product.scaled_dot_product_attention"
FIRST, SECOND = parts_of(ATTENTION)


def judged(exercise, function):
    keys = visible_keys(exercise)
    return judge(exercise, keys, [runner.answer(function, one.calls, "gradient" in one.check.compares) for one in keys])


def test_attention_has_a_part_before_masks_are_taught_and_one_after():
    assert [exercise.problem_set for exercise in exercises() if exercise.id == ATTENTION] == ["ps2", "ps3"]


def with_mask(check):
    """Of each call of a check, whether it passes a mask."""
    return ["attn_mask" in one["kwargs"] or len(one["args"]) > 3 for one in check.calls(1)]


def test_only_the_second_part_passes_a_mask_and_each_of_its_checks_does():
    first, second = (
        [with_mask(check) for check in checks.visible_checks(part) + checks.hidden_checks(part)]
        for part in (FIRST, SECOND)
    )
    assert not any(map(any, first)) and all(map(any, second))


def test_a_mistake_of_the_first_part_is_named_in_the_second_as_well():
    result = judged(SECOND, misconceptions_of(ATTENTION)["softmax_over_queries"])
    assert result.misconceptions == ["softmax_over_queries"]
    assert any("share out its attention among the keys" in one.remedy for one in result.checks)


def test_an_answer_to_the_first_part_fails_the_second_for_its_mask_alone():
    ignores = misconceptions_of(ATTENTION)["mask_ignored"]
    assert judged(FIRST, ignores).passed
    assert judged(SECOND, ignores).misconceptions == ["mask_ignored"]


def test_a_wrong_scale_costs_the_check_of_the_scale_and_no_other():
    result = judged(FIRST, misconceptions_of(ATTENTION)["no_scale"])
    assert [one.check for one in result.checks if one.verdict == "failed"] == ["attention_scale"]
    assert judged(SECOND, misconceptions_of(ATTENTION)["no_scale"]).passed
