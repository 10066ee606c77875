"""Facts about a learner's process are established outside it: whoever patches what tells them gains nothing."""

import os

import pytest

from autograder.answer_key.checks import hidden_checks, visible_checks
from autograder.answer_key.keys import live_answer_key
from autograder.course.paths import REFERENCE
from autograder.course.policy import GradingPolicy
from autograder.judge.arguments import BYTES, argument_memory
from autograder.judge.judge import judge_problem_set
from autograder.judge.protocol import Request, ask, ask_together
from autograder.sandbox.bubblewrap import open_sandbox
from selfcheck import held
from selfcheck.catalogue import exercises, in_problem_set
from selfcheck.plan import built, call, iterator, method, ndarray, tensor
from selfcheck.steps import carry_out

from ..attacks.test_workers import GIVEN

PATCHES = {
    "nothing": "",
    "what looks for changes": "steps.Given.changed = lambda self: []",
    "what compares": "steps.pack = lambda value: type('Same', (dict,), {'__ne__': lambda *_: False})(pack(value))",
    "what gives the answers": "runner.carry_out = lambda *a, **k: carry_out(*a, **k) | {'changed': []}",
    "what looks at generators": "steps.Given.drawn = lambda self: {name: name != '' for name in self.generators}",
}
PATCH = """

from selfcheck import runner, steps
pack, carry_out = steps.pack, runner.carry_out
{}
"""


@pytest.fixture(scope="module")
def points_of():
    sandbox, keys = open_sandbox(), {}

    def points_of(exercise, wrong, patch):
        """Of each check of an exercise the points, for the reference with something wrong in it."""
        module = exercise.partition(".")[0]
        problem_set = next(one.problem_set for one in reversed(exercises()) if one.id == exercise)
        if problem_set not in keys:
            keys[problem_set] = live_answer_key(problem_set, GradingPolicy(b"held arguments"))
        files = {path.name: path.read_bytes() for path in REFERENCE.glob("*.py")}
        files[f"{module}.py"] += (wrong + PATCH.format(patch)).encode()
        (result,) = judge_problem_set(files, keys[problem_set], sandbox, only=[exercise])
        return {check.check: (check.points, check.max_points) for check in result.checks}

    return points_of


CHANGES = """

right = masked_softmax

def masked_softmax(scores, mask=None, dim=-1):
    weights = right(scores, mask, dim)
    scores.detach().mul_(2.0)
    return weights
"""
REPLACES = """

def load_torch_weights(module, reference):
    parts = zip(("q_proj", "k_proj", "v_proj"), reference.in_proj_weight.chunk(3))
    for name, weight in (*parts, ("out_proj", reference.out_proj.weight)):
        getattr(module, name).weight = nn.Parameter(weight.detach().clone())
    if reference.in_proj_bias is not None:
        parts = zip(("q_proj", "k_proj", "v_proj"), reference.in_proj_bias.chunk(3))
        for name, bias in (*parts, ("out_proj", reference.out_proj.bias)):
            getattr(module, name).bias = nn.Parameter(bias.detach().clone())
"""
IGNORES = """

right = hard_attention

def hard_attention(scores, values, generator=None):
    return right(scores, values)
"""
RESEEDS = """

right = hard_attention

def hard_attention(scores, values, generator=None):
    if generator is not None:
        torch.manual_seed(generator.initial_seed())
    return right(scores, values)
"""


@pytest.mark.parametrize("patch", ["nothing", "what looks for changes", "what compares", "what gives the answers"])
def test_an_argument_that_was_changed_is_seen_whatever_the_process_says(points_of, patch):
    points = points_of("masks.masked_softmax", CHANGES, PATCHES[patch])
    lost = {name for name, (got, most) in points.items() if got < most}
    assert lost == {"softmax_unchanged"}


def test_a_parameter_that_was_replaced_is_seen(points_of):
    points = points_of("multi_head.load_torch_weights", REPLACES, PATCHES["nothing"])
    # Those of errors expect others of the reference's own lines.
    assert {"load_copies", "load_everything"} <= {name for name, (got, most) in points.items() if got < most}


@pytest.mark.parametrize("patch", ["nothing", "what looks at generators"])
@pytest.mark.parametrize("wrong", [IGNORES, RESEEDS])
def test_random_numbers_from_elsewhere_are_seen_whatever_the_process_says(points_of, patch, wrong):
    points = points_of("sequence_to_sequence.hard_attention", wrong, PATCHES[patch])
    assert {"hard_generator"} == {name for name, (got, most) in points.items() if got < most}


#: Writes over all of the memory that the grader holds, once there are inputs that are hidden.
NOTES = """
import ctypes

def causal_mask(x):
    if x[0] != 1:
        with open("/proc/self/maps") as lines:
            (start,) = (line.partition("-")[0] for line in lines if "memfd:arguments" in line and "rw-s" in line)
        ctypes.memset(int(start, 16), 0xFF, 4096)
    return x[0]
"""


@pytest.mark.parametrize("together", [True, False], ids=["together", "alone"])
def test_what_has_hidden_inputs_changes_no_argument_of_what_is_quoted(together):
    quoted, hidden = (
        Request("masks.causal_mask", {"0": {"calls": [call(ndarray([n])).packed()], "held": True}}, hidden=n > 1)
        for n in (1.0, 2.0)
    )
    files, sandbox = GIVEN | {"masks.py": NOTES.encode()}, open_sandbox()
    if together:
        answers = ask_together(files, [quoted], sandbox, lambda _: [hidden])
    else:
        answers = ask(files, [quoted, hidden], False, sandbox)
    assert [one["0"][0]["changed"] for one in answers] == [[], ["0"]]


def test_both_sides_agree_where_arguments_lie():
    steps = [
        call(tensor([[1.0, 2.0]]), mask=tensor([True, False, True])),
        call((tensor([1.0]), None, ndarray([2.0, 3.0])), iterator(tensor([4.0]), tensor([5.0, 6.0]))),
        built(call(2), call(tensor([1.0])), method("again", tensor([2.0]), more=tensor([3.0]))),
    ]
    for step in steps:
        packed, at, places = step.packed(), 0, {}
        for name, arrays in held.arrays_of(packed).items():
            places[name] = at
            at += sum(held.padded(len(data)) for data in arrays)
        memory = bytearray(at)
        carry_out(_Taker, packed | {"held": places}, False, memory=memory)
        for name, arrays in held.arrays_of(packed).items():
            for data in arrays:
                assert memory[places[name] : places[name] + len(data)] == data, name
                places[name] += held.padded(len(data))
        assert at


class _Taker:
    """Takes whatever comes."""

    def __init__(self, *args, **kwargs):
        for one in args:
            list(one) if hasattr(one, "__next__") else None

    def __call__(self, *args, **kwargs):
        return None

    again = __call__


def test_every_check_that_asks_for_changes_hands_over_arrays_but_for_two_of_lists_and_one_of_parameters():
    without = set()
    for exercise in exercises():
        for check in (*visible_checks(exercise), *hidden_checks(exercise)):
            if {"unchanged", "kept"} & set(check.compares) and not all(map(held.arrays_of, check.calls(1))):
                without.add(exercise.id)
    lists, parameters = {"worked_example.softmax", "worked_example.self_attention"}, {"multi_head.load_torch_weights"}
    assert without == lists | parameters, "as the security page says"


def test_nobody_makes_the_memory_larger_or_smaller():
    with argument_memory() as memory:
        for size in (BYTES + 1, BYTES - 1):
            with pytest.raises(PermissionError):
                os.ftruncate(memory.descriptor, size)
        os.pwrite(memory.descriptor, b"x", BYTES - 1)


def test_arguments_of_all_problem_sets_have_room():
    for problem_set in sorted({one.problem_set for one in exercises()}):
        with argument_memory() as memory:
            for exercise in in_problem_set(problem_set):
                checks = [*visible_checks(exercise), *hidden_checks(exercise)]
                memory.hold(0, {one.name: {"calls": one.calls(1), "held": True} for one in checks})
