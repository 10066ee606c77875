"""What a beginner reads after a typical slip: the cause, where it is, and what to do."""

import builtins
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
import torch

from selfcheck import runner
from selfcheck.arrays import pack
from selfcheck.catalogue import parts_of
from selfcheck.compare import compare
from selfcheck.diagnose import Key, diagnose
from selfcheck.exceptions import explain
from selfcheck.learner import Stopped, check, stoppable
from selfcheck.pictures import pictures
from selfcheck.plan import Check, call
from selfcheck.recorded import visible_keys
from selfcheck.show import _with_code, report_text
from selfcheck.terminal import tell
from selfcheck.verdict import judge

HEAD = {
    "causal_mask": "def causal_mask(query_length, key_length=None, device=None):",
    "padding_mask": "def padding_mask(lengths, max_length=None):",
}


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Checks a package whose `masks` module has the given text; returns what a learner reads."""
    monkeypatch.delattr(builtins, "display", raising=False)  # IPython puts it there, once another test has started it

    def read(text, exercise="masks.causal_mask", **others):
        folder = tmp_path / "attention"
        folder.mkdir(exist_ok=True)
        for name, source in {"__init__": "", "masks": text, **others}.items():
            (folder / f"{name}.py").write_text(source)
        monkeypatch.chdir(tmp_path)
        return repr(check(exercise))

    return read


def body(*lines, name="causal_mask"):
    return "import torch\n\n\n" + HEAD[name] + "\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (body("torch.ones(2)"), "got None; is the return statement missing?"),
        (body("print(torch.ones(2))"), "got None; what your code prints is lost"),
        (body("return np.ones(2)"), "line 5 of masks.py: `return np.ones(2)`. Nothing in this file imports `np`"),
        (body("return torch.ones(query_lenght)"), "name 'query_lenght' is not defined, in line 5 of masks.py"),
        (body("return causal_mask(query_length)"), "your code calls itself without end, in line 5 of masks.py"),
        (body("exit()"), "your code ends Python, in line 5 of masks.py"),
        (body("return torch.ones(2"), "cannot be imported: SyntaxError: '(' was never closed, in line 5 of masks.py"),
        (body("  x = 1", "return x"), "The lines of a function's body begin with the same four spaces"),
        (body("yield 1"), "got a generator; yield makes one"),
        (body("return torch.ones(2).tril"), "got a function; are the brackets () of a call missing?"),
        (body("return torch.ones(2),"), "got a tuple of 1; is there a comma after the value"),
        (body("return [[True], [1, 2]]"), "are its rows of one length, and its entries numbers?"),
        (body("return 'mask'"), "got a text"),
        (body("return torch.ones(2) and torch.ones(2)"), "`if` want one truth value, and here are many"),
        (body("raise EOFError('EOF when reading a line')"), "nothing is to be typed in"),
        (body("from mask import x"), "your own files are imported as in `from .masks import …`"),
        (body("return torch.ones(2, 2, dtype=torch.int64)[:1]"), "expected dtype bool, got int64"),
        (body("return torch.tensor([1])", "").replace("causal", "casual"), "is casual_mask meant to be it?"),
        (body("return 1").replace("query_length", "n"), "The names of the arguments belong to the exercise"),
        (body("import einops"), "NumPy and torch are all you need"),
        (
            "import einops\n" + body("return 1"),
            "No module named 'einops', in line 1 of masks.py: `import einops`. NumPy",
        ),
        (
            "from .helpers.rows import x\n" + body("return 1"),
            "of your own code only files right in attention are there",
        ),
        ("from . import x\n" + body("return 1"), "what you wrote in yours belongs in a file beside it"),
        (body("display(1)"), "A notebook has display, and a module that is graded without one has not"),
        (body("return masked_softmax(1)"), "Nothing in this file imports `masked_softmax`"),
        (body("return scaled_dot_product_attention()"), "Nothing in this file imports `scaled_dot_product_attention`"),
        (body("return math.pi"), "Nothing in this file imports `math`"),
        (body("return torch.ones(query_length / 1)"), "A float came where a whole number is due"),
        (body("return torch.ones(4).reshape(2, query_length / 1, -1)"), "A float came where a whole number is due"),
        (body("return torch.ones(4).view(query_length / 1, -1)"), "A float came where a whole number is due"),
        (body("return range(query_length / 1)"), "A float came where a whole number is due"),
        (body("return torch.sin(0.5)"), "torch's functions want tensors, those of math want numbers"),
        (body("x = torch.ones(2)", "x[:] = [1.0, 2.0]"), "A list is no tensor"),
        (body("return torch.block_diag([torch.ones(1)])"), "One list came where several tensors are due"),
        (body("return device.index or None.chunk(3)").replace("device.index or ", ""), "Something is None here"),
        (body("return torch.ones(2).half().masked_fill(torch.ones(2) > 0, -1e9)"), "float16 ends at 65504"),
        (body("if torch.ones(2): return 1"), "want one truth value"),
        (
            body("return torch.ones(1).masked_fill(None != None, 0.0)"),
            "a comparison with None is one plain True or False",
        ),
        (body("return torch.ones(2, 2).max(dim=-1) - 1"), "return values *and* positions"),
        (body("return (i for i in range(2))[0]"), "it has neither places nor a length"),
        (body("return len(i for i in range(2))"), "it has neither places nor a length"),
        (body("a, b = [1, 2, 3]", "return a"), "More came than there are names"),
        (body("return torch.ones(2) ^ 2"), "^ is no power but another operator"),
        (body("return 2.0 ^ query_length"), "^ is no power but another operator"),
        (body("torch.ones(2).sum().item().backward()"), "item() and float() make a plain number of it"),
        (body("torch.ones(2).sum().backward()"), "no_grad, detach, argmax or a new tensor has cut it off"),
        (
            body("return math.exp(torch.ones(2))", name="causal_mask").replace(
                "import torch", "import math\nimport torch"
            ),
            "the functions of math take single numbers",
        ),
        (body("total = total + 1", "return total"), "this one has no value before this line"),
    ],
)
def test_a_slip_is_named(attempt, text, says):
    said = attempt(text)
    assert says in said and "not started" not in said and "Traceback" not in said


def test_torchs_list_of_signatures_is_left_out(attempt):
    said = attempt(body("return torch.ones(2).view(query_length, [2], 'x')"))
    assert "but expected one of" not in said and "your code raised TypeError" in said


def test_what_an_exception_says_in_several_lines_is_told_in_one(attempt):
    said = attempt(body("raise ValueError('found:\\n  tensor(1)')"))
    assert "your code raised ValueError: found: tensor(1), in line" in said


def test_the_kind_of_array_is_corrected(attempt):
    said = attempt(body("return [[j <= i for j in range(key_length or 1)] for i in range(query_length)]"))
    assert "got nested lists of shape (5, 2)" in said and "says how to mend it" in said


def test_the_call_that_failed_is_shown(attempt):
    said = attempt(body("return torch.ones(1)"))
    assert "in causal_mask(query_length=" in said and "device='nowhere')" in said


@pytest.mark.parametrize(
    ("code", "remark"),
    [
        ("torch.ones(1, query_length, query_length)", "axes of length 1 differ"),
        ("torch.ones(query_length * query_length)", "all entries in one row"),
        ("torch.ones(1, query_length)", "does the return stand inside the loop?"),
    ],
)
def test_a_typical_wrong_shape_has_its_remark(attempt, code, remark):
    assert remark in attempt(body(f"return {code}"))


def test_an_answer_that_is_nothing_is_not_taken_for_one_on_the_wrong_device(attempt):
    for line in ("return None", "return [[1]]", "return 3"):
        assert "default device" not in attempt(body(line))
    ignored = "return torch.ones(query_length, key_length or query_length, dtype=torch.bool).tril()"
    assert "default device" in attempt(body(ignored))


def test_a_slip_is_told_once(attempt):
    said = attempt(body("return np.ones(2)"))
    assert said.count("np.ones") == 1 and "every check" in said
    broken = attempt(body("return (2"), "masks")
    assert broken.count("cannot be imported") == 1 and "4.1 to 4.7 (masks): no check can run" in broken


def notebook_text():
    return check("masks.causal_mask")._repr_html_()


def test_advice_on_numpy_is_not_given_where_the_courses_own_check_speaks():
    met = {"type": "ValueError", "text": "masks must broadcast together, got shapes [(6, 3), (5, 3)]; add axes?"}
    assert explain("multi_head.MultiHeadAttention", met, True)[1].endswith("add axes?")


def test_nested_lists_are_spoken_of_only_where_arguments_may_be_lists():
    met = {"type": "AttributeError", "text": "'list' object has no attribute 'shape'"}
    assert "may be plain nested lists" in explain("worked_example.project", met, True)[1]
    assert "nested lists" not in explain("multi_head.split_heads", met, True)[1]


def test_a_parameter_with_another_name_is_told_once_for_the_whole_class(attempt):
    source = """
from torch import nn
class Refused(TypeError, ValueError):
    pass
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % num_heads or not 0 <= dropout <= 1:
            raise Refused("as by the lines that are given")
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
    def forward(self, *inputs, **masks):
        raise Refused("as by the lines that are given")
"""
    said = attempt("", "multi_head.MultiHeadAttention", multi_head=source)
    assert said.count("q_proj.weight is missing: torch finds no layer or parameter in self.q_proj") == 1
    assert "every check" in said and "the module has w_q.weight, w_q.bias" in said


def test_a_wrong_shape_of_one_parameter_is_told_once(attempt):
    source = """
from torch import nn
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0, activation="relu"):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_model, d_ff)
"""
    said = attempt("", "encoder.FeedForward", encoder=source)
    assert said.count("the parameter linear2.weight should have shape") == 1
    assert "in FeedForward(" in said and "in FeedForward(" in check("encoder.FeedForward")._repr_html_()


def test_a_form_that_a_view_cannot_take_is_named_as_the_learner_made_it():
    chosen = Check("toy.double", "x", "x", lambda rng: None, view=lambda one, value: value.nested()[0][0][0])
    wanted, came = ({"value": pack(torch.ones(size)), "changed": []} for size in ((2, 2, 2), (2, 2)))
    text = compare(chosen, call().packed(), wanted, came).text
    assert text.startswith("expected shape (2, 2, 2), got (2, 2) (its first axis is missing")


def test_one_result_of_two_that_is_none_is_not_taken_for_a_missing_return():
    chosen = Check("toy.double", "x", "x", lambda rng: None, view=lambda one, value: value[1].nested())
    pair = {"value": pack((torch.ones(2), torch.ones(3))), "changed": []}
    text = compare(chosen, call().packed(), pair, {"value": pack((torch.zeros(2), None)), "changed": []}).text
    assert text == "expected a tensor of shape (3,) in result 2 of 2, got None"


def test_one_tensor_in_place_of_a_pair_is_not_taken_apart():
    chosen = Check("toy.double", "x", "x", lambda rng: None)
    pair = {"value": pack((torch.ones(2, 3), torch.ones(2, 3, 3))), "changed": []}
    text = compare(chosen, call().packed(), pair, {"value": pack(torch.ones(2, 3)), "changed": []}).text
    assert text == "expected 2 results, as a tuple, got a tensor of shape (2, 3) and dtype float32"


def test_heads_joined_along_the_wrong_axis_are_told_so():
    chosen = Check("toy.double", "x", "x", lambda rng: None)
    want, came = ({"value": pack(torch.ones(size)), "changed": []} for size in ((5, 2, 24), (30, 2, 4)))
    assert compare(chosen, call().packed(), want, came).text.endswith("(joined along the first axis)")
    want, came = ({"value": pack(torch.ones(size)), "changed": []} for size in ((2, 4, 6), (2, 4, 3, 2)))
    assert compare(chosen, call().packed(), want, came).text.endswith("(its last two axes are to be one)")


def test_one_line_that_fails_with_other_numbers_is_told_once(attempt):
    said = attempt(body("return torch.ones(query_length) @ torch.ones(query_length + 1)"))
    assert said.count("your code raised RuntimeError: inconsistent tensor size") == 1
    assert ": the same" in said and ": the same" in notebook_text()


CALLS_ANOTHER = """
def masked_softmax(scores, mask=None, dim=-1):
    raise NotImplementedError("exercise 4.7: The masked softmax")
"""
USES_IT = """
from .masks import masked_softmax
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0):
    weights = masked_softmax(query @ key.mT, attn_mask)
    return weights @ value, weights
"""


def test_an_answer_that_calls_an_unwritten_function_has_been_started(attempt):
    said = attempt(CALLS_ANOTHER, "4.8", dot_product=USES_IT)
    assert "Skipped: it builds on masks.masked_softmax" in said and "not started" not in said


def test_a_stub_of_another_exercise_is_told_from_ones_own():
    met = {"type": "NotImplementedError", "text": "exercise 4.7: The masked softmax"}
    assert explain("masks.masked_softmax", met, True)[0] == "not started"
    kind, text = explain("dot_product.scaled_dot_product_attention", met, True)
    assert kind == "raised" and "calls masks.masked_softmax, which is not written yet" in text


def test_what_torch_has_not_implemented_is_no_stub():
    met = {"type": "NotImplementedError", "text": "\"softmax\" not implemented for 'Long'"}
    kind, text = explain("worked_example.softmax", met, True)
    assert kind == "raised" and "this function wants floats" in text


def test_an_error_deep_in_a_library_is_placed_in_the_learners_file(tmp_path):
    # The folder's name holds "attention", as a copy of the repository's does.
    folder = tmp_path / "attention-by-hand" / "attention"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "masks.py").write_text(body("return torch.nn.functional.softmax(query_length)"))
    with runner.fresh_package(str(folder.parent)):
        function = runner.find("masks.causal_mask")
        (answer,) = runner.answer(function, [call(3).packed()])
    assert answer["error"]["file"] == str(folder / "masks.py") and answer["error"]["line"] == 5


def test_the_form_behind_a_view_is_named_as_the_learner_made_it():
    chosen = Check("toy.double", "x", "x", lambda rng: None, view=lambda one, value: [value])
    wanted, came = ({"value": pack(value), "changed": []} for value in (([1.0], [2.0]), [1.0]))
    difference = compare(chosen, call().packed(), wanted, came)
    assert difference.text == "expected 2 results, as a tuple, got nested lists of shape (1,)"


@pytest.fixture
def interrupt():
    """Ctrl-C as a shell leaves it to a program in front; behind `make test &` it may be ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_endless_loop_can_be_stopped_and_leaves_the_notebook_usable(attempt, interrupt):
    learner, left = threading.get_ident(), threading.Event()

    def stop():
        while not left.wait(0.01):
            code = sys._current_frames()[learner].f_code
            if (Path(code.co_filename).name, code.co_name) == ("masks.py", "causal_mask"):
                os.kill(os.getpid(), signal.SIGINT)
                return

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        with pytest.raises(Stopped, match="in line 6 of masks.py: `pass`|in line 5 of masks.py: `while True:`"):
            attempt(body("while True:", "    pass"))
    finally:
        left.set()
        thread.join()
    assert "is the return statement missing" in attempt(body("pass"))


def test_a_stopped_check_is_one_line_in_a_notebook():
    with pytest.raises(Stopped) as caught, stoppable():
        raise KeyboardInterrupt
    assert caught.value._render_traceback_() == ["stopped"]


def test_the_terminal_wraps_under_the_text(capsys):
    from rich.console import Console

    exercise = parts_of("masks.causal_mask")[0]
    keys = visible_keys(exercise)
    wrong = [one.misconceptions.get("aligned_to_start", one.expected) for one in keys]
    result = judge(exercise, keys, wrong)
    console = Console(width=60, force_terminal=True, color_system=None)
    tell(console, [result])
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if "https://" not in line) <= 60  # an address stays whole
    assert lines[0].startswith("4.2 ") and all(line.startswith("  ") for line in lines[1:])
    assert all(line.startswith("    ") for line in lines[2:] if line[2:3] not in "✓✗–")
    assert " ".join("\n".join(lines).split()) == " ".join(report_text([result], in_terminal=True).split())


def test_an_error_check_without_an_error_is_explained_only_by_an_answer_of_the_same_form():
    chosen = Check("toy.double", "x", "x", lambda rng: None, compares=("error",))
    raised = {"error": {"type": "RuntimeError", "kinds": ["RuntimeError"], "text": ""}, "changed": []}
    answer = [{"value": pack([[1.0]]), "changed": []}]
    key = Key(chosen, [call().packed()], [raised], {"ignored": answer})
    assert diagnose([key], [[{"value": pack([[2.0, 1.0]]), "changed": []}]]) == ["ignored"]
    assert diagnose([key], [[{"value": pack(None), "changed": []}]]) == [None]


def test_the_picture_shows_the_first_matrix_that_differs_in_one_scale():
    want = [[[1.0, 2.0]], [[3.0, 4.0]]]
    came = [[[1.0, 2.0]], [[3.0, 9.0]]]
    drawn = pictures("in double(x)", {"value": pack(want)}, {"value": pack(came)})
    assert "yours (2, 1, 2) at [1]" in drawn and ">9<" in drawn and ">2<" not in drawn
    assert drawn.count("2px solid") == 2  # the one entry, in both
    other = pictures("in double(x)", {"value": pack(want)}, {"value": pack([[1.0, 2.0]])})
    assert "yours (1, 2)<" in other and "2px solid" not in other


def test_code_in_a_message_is_code_in_a_notebook(attempt, tmp_path):
    attempt(body("return np.ones(2)"))
    assert "<code>return np.ones(2)</code>" in check("masks.causal_mask")._repr_html_()


def test_stressed_words_of_a_message_are_stressed_in_a_notebook_and_products_are_not():
    said = _with_code("a boolean mask that is *added* to 2 * h * d and x*y*z, `a *b* c`, f(*tensors) and *all of it*")
    assert said == (
        "a boolean mask that is <em>added</em> to 2 * h * d and x*y*z, <code>a *b* c</code>, f(*tensors) and "
        "<em>all of it</em>"
    )
