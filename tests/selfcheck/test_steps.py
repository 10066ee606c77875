"""A class is built, given its state and used by steps that hold no code; what comes back are plain trees."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from selfcheck import module_state
from selfcheck.arrays import array, unpack
from selfcheck.compare import compare
from selfcheck.pictures import call_text
from selfcheck.plan import Check, built, call, linears, method, refused, tensor, torch_attention
from selfcheck.steps import carry_out

X = tensor([[1.0, 2.0]])
STATE = {"weight": tensor([[2.0, 0.0], [0.0, 3.0]]), "bias": tensor([1.0, 1.0])}


def carried(symbol, step, gradient=False):
    return carry_out(symbol, step.packed(), gradient)


def difference(compares, right, wrong, step):
    one = Check("masks.causal_mask", "a_check", "it is right", lambda rng: step, (compares,))
    gradient = compares == "gradient"
    return compare(one, step.packed(), carried(right, step, gradient), carried(wrong, step, gradient))


def test_statements_that_a_view_makes_are_told_as_such_and_numbers_as_numbers():
    one = Check(
        "masks.causal_mask",
        "a_check",
        "no entry is negative",
        lambda rng: None,
        view=lambda call, value: array([entry >= 0 for entry in value.values()]),
    )
    step = call(3)

    def told(check, right, wrong):
        return compare(check, step.packed(), carried(lambda n: right, step), carried(lambda n: wrong, step))

    found = told(one, torch.tensor([0.5, 2.0, 3.0]), torch.tensor([0.5, -2.0, -3.0]))
    assert (found.kind, found.text) == (
        "facts",
        "this does not hold in 2 of 3 cases, first at [1], where 2 is expected and -2 came",
    )
    flags = told(replace(one, view=None), torch.tensor([True, True]), torch.tensor([True, False]))
    assert flags.kind == "values" and "first at [1]: expected True, got False" in flags.text


def test_the_state_is_set_and_its_dtype_becomes_the_modules():
    answer = carried(nn.Linear, built(call(2, 2), call(X), state=STATE))
    value = unpack(answer["value"])
    assert (value.values(), value.dtype) == ([3.0, 7.0], "float64")
    assert answer["parameters"] == {"weight": [2, 2], "bias": [2]}


def test_a_module_is_in_evaluation_mode_unless_training_is_asked():
    class Mode(nn.Module):
        def forward(self):
            return self.training

    assert [carried(Mode, built(call(), call(), training=mode))["value"]["value"] for mode in (False, True)] == [
        "False",
        "True",
    ]


def test_several_uses_of_one_object_give_a_tuple():
    answer = carried(list, built(call((1.0,)), method("append", 2.0), method("copy")))
    nothing, copied = unpack(answer["value"])
    assert nothing is None and copied.values() == [1.0, 2.0]


def test_a_use_that_should_be_refused_adds_nothing_and_the_next_uses_follow():
    class Short(list):
        def append(self, entry):
            if len(self) == 1:
                raise ValueError("full")
            super().append(entry)

    class Odd(list):
        def append(self, entry):
            raise KeyError("full")

    step = built(call(), method("append", 1.0), refused(method("append", 2.0)), method("copy"))
    nothing, copied = unpack(carried(Short, step)["value"])
    assert nothing is None and copied.values() == [1.0]
    found = difference("values", Short, list, step)
    assert found.kind == "no error"
    assert found.text == "call 2 cannot be answered and should raise ValueError, but an answer came back"
    assert "KeyError" in difference("values", Short, Odd, step).text
    assert call_text("Short", step.packed()) == (
        "in short = Short(); short.append(1.0); short.append(2.0) (to be refused); short.copy()"
    )


def test_gradients_reach_arguments_and_parameters_by_name():
    answer = carried(nn.Linear, built(call(2, 2), call(X), state=STATE), gradient=True)
    assert set(answer["gradients"]) == {"0", "state.weight", "state.bias"}

    class Frozen(nn.Linear):
        def forward(self, x):
            return nn.functional.linear(x, self.weight.detach(), self.bias)

    found = difference("gradient", nn.Linear, Frozen, built(call(2, 2), call(X), state=STATE))
    assert found.text.startswith("no gradient arrives at the parameter weight")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"gain": tensor([1.0])}, "gain is missing: torch finds no layer or parameter in self.gain"),
        ({"weight.gain": tensor([1.0])}, "the parameter weight.gain is missing; the module has weight, bias"),
        ({"weight": tensor([[1.0, 2.0]])}, "the parameter weight should have shape (1, 2), got (2, 2)"),
    ],
)
def test_a_module_without_the_parameters_of_the_exercise_is_told_which(state, text):
    step = built(call(2, 2), call(X), state=state)
    answer = carried(nn.Linear, step)
    assert text in answer["error"]["text"]
    one = Check("masks.causal_mask", "a_check", "it is right", lambda rng: step)
    found = compare(one, step.packed(), {"value": {"kind": "none"}}, answer, reveal=False)
    assert found.kind == "parameters" and text in found.text


def test_what_is_no_module_has_no_parameters_to_set():
    answer = carried(lambda *sizes: sizes, built(call(2, 2), call(X), state=STATE))
    assert "no nn.Module" in answer["error"]["text"]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda a, b: nn.Linear(a, b, bias=False), "bias is missing: torch finds no layer or parameter in self.bias"),
        (lambda a, b: nn.ModuleDict({"weight": nn.Linear(a, b)}), "missing: self.weight is a module here"),
        (lambda a, b: nn.Linear(b, a), "the parameter weight should have shape (3, 2), got (2, 3)"),
        (lambda a, b: nn.BatchNorm1d(3), "the parameter weight should have shape (3, 2), got (3,)"),
        (lambda a, b: a, "no nn.Module"),
    ],
)
def test_parameters_are_compared_by_name_and_shape(wrong, text):
    assert text in difference("parameters", nn.Linear, wrong, built(call(2, 3))).text


def test_a_state_dict_that_should_be_empty_says_so():
    class Kept(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.ones(2))

    found = difference("parameters", nn.Identity, Kept, built(call()))
    assert found.text == "the state dict has table beside what is asked for: nothing"


def test_what_becomes_of_a_module_argument_is_compared():
    def copies(target, source):
        with torch.no_grad():
            target["proj"].weight.copy_(source.out_proj.weight)

    source = torch_attention(bias=False, state={"out_proj.weight": STATE["weight"]}, embed_dim=2, num_heads=1)
    target = linears(("proj",), 2, 2, bias=False, state={"proj.weight": tensor([[0.0, 0.0], [0.0, 0.0]])})
    step = call(target, source)
    assert difference("state", copies, copies, step) is None
    found = difference("state", copies, lambda target, source: None, step)
    assert "in proj.weight of argument 1, first at [0, 0]: expected 2, got 0" in found.text


def shares(target, source):
    target["proj"].weight = source.out_proj.weight


def shares_a_view(target, source):
    target["proj"].weight.data = source.out_proj.weight.data[:]


def replaces(target, source):
    target["proj"].weight = nn.Parameter(source.out_proj.weight.clone())


def freezes(target, source):
    target.load_state_dict({"proj.weight": source.out_proj.weight})
    target.requires_grad_(False)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (shares, "proj.weight of argument 1 now shares its memory"),
        (shares_a_view, "proj.weight of argument 1 now shares its memory"),
        (replaces, "proj.weight of argument 1 is another parameter than before"),
        (freezes, "proj.weight of argument 1 no longer has requires_grad"),
    ],
)
def test_a_module_argument_keeps_its_own_parameters(wrong, text):
    def copies(target, source):
        target.load_state_dict({"proj.weight": source.out_proj.weight})

    source = torch_attention(bias=False, state={"out_proj.weight": STATE["weight"]}, embed_dim=2, num_heads=1)
    target = linears(("proj",), 2, 2, bias=False, state={"proj.weight": tensor([[0.0, 0.0], [0.0, 0.0]])})
    step = call(target, source)
    assert difference("state", copies, wrong, step) is None
    assert difference("kept", copies, copies, step) is None
    assert text in difference("kept", copies, wrong, step).text


def test_memory_that_torch_does_not_know_to_be_shared_is_shared_too():
    whole = torch.arange(6.0).view(3, 2)
    part = torch.from_numpy(whole.numpy()[1:])  # as of the keys in in_proj_weight: it begins elsewhere
    assert module_state.shares_memory(part, [torch.ones(3), whole])
    assert not module_state.shares_memory(part.clone(), [torch.ones(3), whole])


def test_a_step_is_shown_as_somebody_would_write_it():
    two = built(call(2, bias=False), call([1.0, 2.0]), method("append", 3), training=True)
    assert (
        call_text("Thing", two.packed()) == "in module = Thing(2, bias=False).train(); module([1, 2]); module.append(3)"
    )
    assert call_text("Thing", built(call(2), call(X)).packed()) == "in Thing(2)([[1, 2]])"
    assert call_text("Thing", built(call(2)).packed()) == "in Thing(2)"


def lazy(inputs, outputs):
    return nn.LazyLinear(outputs)


def test_a_lazy_layer_has_its_shapes_and_takes_what_it_is_given():
    step = built(call(2, 2), call(X), state=STATE)
    assert carried(lazy, step)["value"] == carried(nn.Linear, step)["value"]
    assert difference("parameters", nn.Linear, lazy, built(call(2, 3))) is None


class Seeds(nn.Linear):
    """Begins at a seed where it is told so."""

    def __init__(self, width, at_first=False, at_work=False):
        if at_first:
            torch.manual_seed(0)
        super().__init__(width, width)
        self.at_work = at_work

    def forward(self, x):
        if self.at_work:
            torch.manual_seed(0)
        return super().forward(x)


@pytest.mark.parametrize(
    ("settings", "changed"), [({}, []), ({"at_first": True}, []), ({"at_work": True}, ["torch's seed"])]
)
def test_whoever_sets_torchs_seed_at_work_is_told_and_whoever_builds_may(settings, changed):
    answer = carried(Seeds, built(call(2, **settings), call(X), state=STATE))
    assert answer["changed"] == changed


def test_a_seed_that_is_put_back_is_not_told():
    def forked(x):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return x + torch.rand_like(x)

    assert carried(forked, call(X))["changed"] == []


def test_a_function_asked_several_times_answers_anew_and_a_seed_within_it_is_told():
    step = replace(call(X), times=2)
    first, again = unpack(carried(lambda x: torch.rand(3), step)["value"])
    assert first != again

    def seeded(x):
        torch.manual_seed(0)
        return torch.rand(3)

    first, again = unpack(carried(seeded, step)["value"])
    assert first == again
    found = difference("unchanged", lambda x: torch.rand(3), seeded, step)
    assert found.text == "your code sets torch's seed: what is drawn after it is the same each time"


@pytest.fixture
def double_precision_without_gradients():
    """What a module may set for the whole process while it is imported, and a notebook in any cell."""
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def test_what_is_set_for_the_whole_process_changes_no_answer_and_stays(double_precision_without_gradients):
    made = carried(lambda: (torch.ones(1), nn.Linear(1, 1).weight), call())["value"]
    assert [one["dtype"] for one in made["items"]] == ["float32", "float32"]
    doubled = carried(lambda x: 2 * x, call(X), gradient=True)
    assert unpack(doubled["gradients"]["0"]).shape == (1, 2)
    assert torch.get_default_dtype() == torch.float64


@pytest.mark.parametrize("looks_for_nan", [False, True])
def test_a_search_for_anomalies_that_a_module_began_slows_no_answer_and_goes_on_afterwards(looks_for_nan):
    with torch.autograd.set_detect_anomaly(True, looks_for_nan):
        searched = carried(lambda x: torch.tensor([float(torch.is_anomaly_enabled())]), call(X))["value"]
        assert unpack(searched).values() == [0.0]
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, looks_for_nan)
