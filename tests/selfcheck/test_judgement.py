"""Comparison, diagnosis and verdicts, on exercises made for the purpose."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.build import stubs
from autograder.course.paths import REFERENCE, ROOT
from selfcheck import learner, runner
from selfcheck.arrays import pack
from selfcheck.catalogue import Exercise, Misconception
from selfcheck.compare import compare
from selfcheck.diagnose import Key, diagnose, first_difference
from selfcheck.plan import Check, Draw, built, call, check, tensor
from selfcheck.reach import builds_on, forbidden_call
from selfcheck.show import Report, exercise_text
from selfcheck.trees import close
from selfcheck.verdict import ALL_UNSEEN, UNSEEN, judge, skip_where_dependencies_fail

EXERCISE = Exercise(
    id="toy.double",
    number="99.1",
    title="Doubling",
    problem_set="ps9",
    section="sec-double",
    minutes=1,
    difficulty=1,
    prompt="Double it.",
    hints=("a", "b", "c"),
    points={"double_values": 2, "double_errors": 1},
    hidden_points=1,
    misconceptions=(
        Misconception("squared", "You squared instead of doubling <b>", "sec-square"),
        Misconception("plus_two", "You added two", "sec-plus"),
    ),
)
VALUES = Check("toy.double", "double_values", "values are doubled", lambda rng: call(rng.normal(2, 3)))
ERRORS = Check("toy.double", "double_errors", "text is refused", lambda rng: call("x"), compares=("error",))
HIDDEN = Check("toy.double", "double_hidden", "secret sight", lambda rng: call(rng.normal(1, 5)), points=1)


def refuse_text(function):
    def checked(values):
        if isinstance(values, str):
            raise TypeError("numbers, not text")
        return [[function(x) for x in row] for row in values]

    return checked


right = refuse_text(lambda x: 2 * x)
squared = refuse_text(lambda x: x * x)
plus_two = refuse_text(lambda x: x + 2)


def mixed(values):
    """Squares the visible shape only."""
    return squared(values) if len(values) == 2 else right(values)


def key(chosen, reveal=True):
    calls = chosen.calls(1)
    found = Key(chosen, calls, runner.answer(right, calls), {}, reveal)
    for name, function in (("squared", squared), ("plus_two", plus_two)):
        wrong = runner.answer(function, calls)
        if first_difference(found, found.expected, wrong):
            found.misconceptions[name] = wrong
    return found


KEYS = [key(VALUES), key(ERRORS), key(HIDDEN, reveal=False)]


def verdicts(function, forbidden=None):
    return judge(EXERCISE, KEYS, [runner.answer(function, one.calls) for one in KEYS], forbidden)


def test_a_right_answer_earns_everything():
    result = verdicts(right)
    assert result.passed and (result.points, result.max_points) == (4, 4)


def test_a_wrong_answer_is_named_by_what_it_matches():
    result = verdicts(squared)
    assert result.misconceptions == ["squared"] and result.points == 0
    assert [(one.check, one.section) for one in result.checks if one.misconception] == [("double_values", "sec-square")]


def test_what_matches_nothing_gets_the_general_report_and_hidden_numbers_stay_hidden():
    result = verdicts(refuse_text(lambda x: 2 * x + 1))
    visible, _, hidden = result.checks
    assert "expected" in visible.message and "expected" not in hidden.message
    assert hidden.message == UNSEEN and hidden.shown is None and visible.shown
    assert "differ" in hidden.untold[1] and visible.untold is None and hidden.untold[1] not in exercise_text(result)
    assert "secret sight" not in exercise_text(result)


def test_code_that_was_stopped_for_what_is_not_shown_is_told_that_it_may_have_been_stopped():
    stopped = {"error": {"type": "Stopped", "kinds": [], "text": "your code took longer than 7 seconds"}}
    keys = [*KEYS[:2], *(key(one.check, reveal=False) for one in KEYS)]
    answers = [runner.answer(right, one.calls) if one.reveal else [stopped] for one in keys]
    assert {one.message for one in judge(EXERCISE, keys, answers).checks} == {ALL_UNSEEN}
    answers[-1] = keys[-1].expected
    assert [one.message for one in judge(EXERCISE, keys, answers).checks] == [UNSEEN, UNSEEN, ""]


def test_a_misconception_that_fails_where_the_learner_is_right_is_not_named():
    answers = [runner.answer(mixed, one.calls) for one in KEYS]
    assert diagnose(KEYS, answers) == [None, None, None]


@pytest.mark.parametrize(
    ("parameters", "named"), [({"pe": [1, 7]}, "table_kept"), ({"a": [1], "b": [2]}, "table_kept"), (None, None)]
)
def test_what_should_not_be_in_a_state_dict_is_named_whatever_it_is_called(parameters, named):
    chosen = Check("toy.double", "double_state", "it is empty", lambda rng: built(call()), compares=("parameters",))
    expected, kept, came = ({"value": pack(None), "parameters": one} for one in ({}, {"encoding": [9]}, parameters))
    one = Key(chosen, chosen.calls(1), [expected], {"table_kept": [kept]})
    assert diagnose([one], [[came]]) == [named]


def test_given_argument_checks_earn_nothing_alone():
    def stub(values):
        if isinstance(values, str):
            raise TypeError("numbers, not text")
        raise NotImplementedError("exercise 99.1: Doubling")

    result = verdicts(stub)
    assert result.points == 0 and not result.started
    assert "not started yet" in exercise_text(result)


def test_a_forbidden_call_costs_every_check_and_names_its_line():
    result = verdicts(right, ("numpy.multiply", 7))
    assert result.points == 0
    assert all("Line 7 calls numpy.multiply" in one.message for one in result.checks)


DOUBLED = "def double(x):\n    return x + x\n"


def test_what_a_learners_function_builds_on_is_read_from_its_module(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "package_folder", lambda: tmp_path)
    exercise = Exercise(**(EXERCISE.__dict__ | {"depends_on": ("toy.add",)}))
    for text, found in (("from .toy import add\ndef double(x):\n    return add(x, x)\n", True), (DOUBLED, False)):
        (tmp_path / f"{exercise.module}.py").write_text(text)
        assert learner.Learner()._builds_on(exercise, "toy.add") is found


def test_failures_behind_a_failed_dependency_are_skipped_and_passes_kept():
    exercise = Exercise(**(EXERCISE.__dict__ | {"depends_on": ("toy.add",)}))
    result = judge(exercise, KEYS, [runner.answer(mixed, one.calls) for one in KEYS])
    (skipped,) = skip_where_dependencies_fail([result], lambda name: False, lambda *_: True)
    assert [one.verdict for one in skipped.checks] == ["skipped", "passed", "passed"]
    assert "toy.add" in skipped.checks[0].message
    (kept,) = skip_where_dependencies_fail([result], lambda name: True, lambda *_: True)
    assert kept == result
    (judged,) = skip_where_dependencies_fail([result], lambda name: False, lambda *_: False)
    assert judged == result


def test_the_notebook_form_escapes_what_it_shows():
    page = Report([verdicts(squared)])._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page


def different(expected, got, tolerance=1e-5, **aspects):
    chosen = Check("toy.double", "x", "x", lambda rng: None, tolerance=tolerance, **aspects)
    one = call().packed()
    return compare(chosen, one, {"value": pack(expected), "changed": []}, {"value": pack(got), "changed": []})


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        ([[1.0, 2.0]], [[1.0], [2.0]], "shape"),
        ([[1.0, 2.0]], None, "structure"),
        ([[1.0, 2.0]], [[1.0, float("nan")]], "nan"),
        ([[1.0, 2.0]], [[1.0, 2.1]], "values"),
        (([1.0], [2.0]), [1.0], "structure"),
        (([1.0], [2.0]), ([2.0], [1.0]), "values"),
        ([1.0], {"a": 1}, "structure"),
    ],
)
def test_differences_are_of_a_kind(expected, got, kind):
    assert different(expected, got).kind == kind


def test_tuples_lists_and_stacked_arrays_are_one_form():
    assert different(([1.0], [2.0]), [[1.0], [2.0]]) is None


def test_closeness_knows_infinities_and_nan():
    inf, nan = float("inf"), float("nan")
    assert close(inf, inf, 0) and close(nan, nan, 0) and close(1.0, 1.000001, 1e-5)
    assert not close(inf, -inf, 1) and not close(1.0, nan, 1) and not close(0.0, inf, 1)


def test_draws_are_the_same_for_a_seed_and_sizes_differ():
    assert Draw(3).normal(2, 2) == Draw(3).normal(2, 2) != Draw(4).normal(2, 2)
    assert len(set(Draw(5).sizes(4))) == 4


def test_a_check_of_an_unknown_aspect_is_refused():
    with pytest.raises(ValueError, match="compares must be among"):
        check("toy.double", sees="x", compares="taste")


def test_an_input_that_is_changed_in_place_is_seen():
    def doubles_in_place(x):
        return x.mul_(2)

    (answer,) = runner.answer(doubles_in_place, [call(tensor([[1.0, 2.0]])).packed()])
    assert answer["changed"] == ["0"]


def test_a_gradient_that_never_arrives_is_missing():
    one = call(tensor([[1.0, 2.0]])).packed()
    (cut,) = runner.answer(lambda x: x.detach() * 2, [one], gradient=True)
    (kept,) = runner.answer(lambda x: x * 2, [one], gradient=True)
    assert cut["gradients"]["0"] == {"kind": "none"} and kept["gradients"]["0"]["kind"] == "tensor"


SDPA = ("torch.nn.functional.scaled_dot_product_attention",)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(q):\n    return torch.nn.functional.scaled_dot_product_attention(q, q, q)\n",
        "import torch.nn.functional as F\ndef f(q):\n    return F.scaled_dot_product_attention(q, q, q)\n",
        "from torch.nn import functional\ndef f(q):\n    return functional.scaled_dot_product_attention(q, q, q)\n",
        "from torch.nn.functional import scaled_dot_product_attention as g\ndef f(q):\n    return g(q, q, q)\n",
        "from torch.nn import functional as F\ndef h(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
        "def f(q):\n    return h(q)\n",
        "def f(q):\n    import torch.nn.functional as F\n    return F.scaled_dot_product_attention(q, q, q)\n",
        "\ufeffimport torch.nn.functional as F\ndef f(q):\n    return F.scaled_dot_product_attention(q, q, q)\n",
        "from torch.nn.functional import *\ndef f(q):\n    return scaled_dot_product_attention(q, q, q)\n",
        "import torch\nF = torch.nn.functional\ndef f(q):\n    return F.scaled_dot_product_attention(q, q, q)\n",
        "import torch.nn.functional as F\nif True:\n    def f(q):\n        return F.scaled_dot_product_attention(q)\n",
        "from torch.nn.functional import scaled_dot_product_attention as f\n",
        "import torch.nn.functional as F\nfor f in [F.scaled_dot_product_attention]:\n    pass\n",
        "import torch.nn.functional as F\ndef f(q):\n    return F.scaled_dot_product_attention(q)\n"
        "real = f\ndef f(q):\n    return real(q)\n",
        "import torch.nn.functional as F\ndef f(q):\n    def g(h):\n        return h\n    return h(q)\n"
        "h = F.scaled_dot_product_attention\n",
        "import torch.nn.functional as F\nclass f:\n    pass\n"
        "def forward(self, q):\n    return F.scaled_dot_product_attention(q)\nf.forward = forward\n",
        "import torch.nn.functional as F\nclass f:\n    pass\nsetattr(f, 'forward', F.scaled_dot_product_attention)\n",
    ],
)
def test_a_forbidden_call_is_found_under_any_alias(source):
    assert forbidden_call(source, "f", SDPA)[0] == SDPA[0]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(x):\n    return g(x)\n", True),
        ("from .other import g as h\ndef f(x):\n    return h(x)\n", True),
        ("from . import other\ndef f(x):\n    return other.g(x)\n", True),
        ("quiet = g\ndef f(x):\n    return quiet(x)\n", True),
        ("def f(x):\n    return g(x)\ndef f(x):\n    return x\n", False),
        ("def f(x):\n    return x\ndef other(x):\n    return g(x)\n", False),
        ("def f(:\n", True),
    ],
)
def test_what_a_function_builds_on_is_read_from_its_source(source, found):
    assert builds_on(source, "f", "g") is found


def test_sources_are_read_by_several_threads_at_once():
    """On Python 3.11 this fails without a lock: a collector's callback lets another thread into the parser."""
    text = (REFERENCE / "worked_example.py").read_text()
    usual = gc.get_threshold()

    def yield_to_others(phase, info):
        time.sleep(0.0001)

    gc.callbacks.append(yield_to_others)
    gc.set_threshold(200)
    try:
        with ThreadPoolExecutor(4) as pool:
            # A text of its own each, for the tree of one that was read is kept.
            found = pool.map(lambda one: builds_on(f"{text}# {one}", "self_attention", "softmax"), range(50))
            made = pool.map(lambda one: stubs.strip(f"{text}# {one}", "worked_example"), range(50, 100))
            assert all(found) and all(made)
    finally:
        gc.callbacks.remove(yield_to_others)
        gc.set_threshold(*usual)


@pytest.mark.parametrize(
    "folder", ["src/selfcheck", *(f"autograder/{name}" for name in ("intake", "judge", "sandbox"))]
)
def test_what_threads_of_the_grader_run_makes_trees_behind_the_lock_alone(folder):
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")}
    made = ("ast.parse(", "ast.literal_eval(")
    assert [name for name, text in texts.items() if any(one in text for one in made)] in ([], ["source.py"])


@pytest.mark.parametrize("body", ["x.softmax(-1)", "g(x).softmax(-1)", "torch.cat([x, x]).softmax(-1)"])
def test_a_forbidden_method_is_found_on_any_object(body):
    source = f"import torch\ndef f(x):\n    return {body}\n"
    assert forbidden_call(source, "f", (".softmax",)) == (".softmax", 3)
    assert forbidden_call(source, "f", (".log",)) is None


@pytest.mark.parametrize(
    "source",
    [
        "match F.scaled_dot_product_attention:\n    case f:\n        pass\n",
        "if (f := F.scaled_dot_product_attention):\n    pass\n",
        "def g(x=(f := F.scaled_dot_product_attention)):\n    pass\n",
        "class G:\n    global f\n    f = F.scaled_dot_product_attention\n",
        "def g():\n    global f\n    f = F.scaled_dot_product_attention\ng()\n",
        "try:\n    def f(q):\n        return F.scaled_dot_product_attention(q)\nexcept* ValueError:\n    pass\n",
        "del f\ndef __getattr__(name):\n    return F.scaled_dot_product_attention\n",
    ],
)
def test_a_forbidden_call_is_found_however_its_name_is_given(source):
    before = "import torch.nn.functional as F\ndef f(q):\n    return q\n"
    assert forbidden_call(before + source, "f", SDPA)


@pytest.mark.parametrize(
    "source",
    [
        "from .helpers import g\ndef f(q):\n    return g(q)\n",
        "from . import helpers\ndef f(q):\n    return helpers.g(q)\n",
        "from .helpers import *\ndef f(q):\n    return g(q)\n",
        "from attention import helpers as h\ndef f(q):\n    return h.g(q)\n",
        "import attention.helpers\ndef f(q):\n    return attention.helpers.g(q)\n",
        "def f(q):\n    from attention.helpers import g\n    return g(q)\n",
        "from .between import g\ndef f(q):\n    return g(q)\n",
        "from .star import g\ndef f(q):\n    return g(q)\n",
    ],
)
def test_a_forbidden_call_is_found_in_another_module_of_the_package(source):
    texts = {
        "helpers": "import torch.nn.functional as F\ndef g(q):\n    return F.scaled_dot_product_attention(q, q, q)\n",
        "between": "from .helpers import g\n",
        "star": "from .helpers import *\n",
    }
    found = forbidden_call(source, "f", SDPA, lambda module: texts.get(module, ""))
    assert found == (f"{SDPA[0]} (in helpers.py)", 3)
    assert forbidden_call(source, "other", SDPA, lambda module: texts.get(module, "")) is None


def test_a_family_of_names_can_be_forbidden():
    source = "import torch\ndef f(q):\n    return torch._scaled_dot_product_attention_math(q, q, q)\n"
    assert forbidden_call(source, "f", ("torch.*scaled_dot_product*",))[1] == 3
    own = "from .dot_product import scaled_dot_product_attention as g\ndef f(q):\n    return g(q)\n"
    assert forbidden_call(own, "f", ("torch.*scaled_dot_product*",)) is None


@pytest.mark.parametrize(
    "source",
    [
        "from torch.nn.functional import softmax, scaled_dot_product_attention\ndef f(q):\n    return softmax(q)\n",
        "import torch.nn.functional as F\nq = F.scaled_dot_product_attention(1)\ndef f(q):\n    return q\n",
        "import torch.nn.functional as F\ndef f(q):\n    return q\n"
        "if __name__ == '__main__':\n    g = F.scaled_dot_product_attention(1)\n    f(g)\n",
        "import torch.nn.functional as F\ndef f(q):\n    return F.scaled_dot_product_attention(q)\n"
        "def f(q):\n    return q\n",
    ],
)
def test_a_forbidden_call_that_the_function_cannot_reach_costs_nothing(source):
    assert forbidden_call(source, "f", SDPA) is None


def test_after_a_star_import_a_learners_own_function_is_no_forbidden_call():
    source = (
        "from torch import *\ndef softmax(x):\n    return exp(x)\ndef f(x):\n    x.softmax\n    return softmax(x)\n"
    )
    assert forbidden_call(source, "f", ("torch.*softmax",)) is None
    assert forbidden_call(source, "f", ("torch.exp",)) == ("torch.exp", 3)


def test_a_source_too_deep_to_be_followed_hides_no_call():
    deep = "x = " + "(-" * 90 + "g" + ")" * 90
    source = f"import torch.nn.functional as F\ng = F.scaled_dot_product_attention\n{deep}\ndef f(q):\n    return x\n"
    assert forbidden_call(source, "f", SDPA)


def test_a_forbidden_call_elsewhere_in_the_module_costs_nothing():
    other = "import torch.nn.functional as F\ndef other(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
    source = other + "def f(q):\n    return q\n"
    assert forbidden_call(source, "f", SDPA) is None
    assert forbidden_call("def f(:", "f", SDPA) is None
