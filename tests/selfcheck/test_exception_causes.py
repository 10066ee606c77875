"""What an exception in a learner's code is put down to: by its words, and by what its line does."""

import pytest
import torch

from selfcheck.learner import check
from selfcheck.sections import title_of
from selfcheck.slip_sections import section_to_reread
from selfcheck.source_slips import slips_in
from selfcheck.traces import describe

HEAD = """
import torch


def causal_mask(query_length, key_length=None, device=None):
    key_length = query_length if key_length is None else key_length
    i, j = torch.arange(query_length)[:, None], torch.arange(key_length)
    x = torch.ones(2, 3, 4)
"""


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Checks causal_mask with the given lines in its body; the result and the report's text."""

    def read(*lines, below="", module="masks", exercise="4.2", head=HEAD):
        folder = tmp_path / "attention"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        (folder / f"{module}.py").write_text(head + "".join(f"    {line}\n" for line in lines) + below)
        monkeypatch.chdir(tmp_path)
        report = check(exercise)
        return report.results[0], repr(report)

    return read


@pytest.mark.parametrize(
    ("line", "cause", "says"),
    [
        ("return j <= i & j > i - 2", "brackets", "bind more tightly than a comparison"),
        ("return (j <= i | j > 3)", "brackets", "bind more tightly than a comparison"),
        ("return i - 2 < j <= i", "chained", "Python reads a < b < c as `a < b and b < c`"),
        ("if i < j < 3: return i", "chained", "Python reads a < b < c as `a < b and b < c`"),
        ("return (j <= i) and (j > 0)", "truth_value", "want one truth value"),
        ("return torch.trill(torch.ones(3, 3))", "misspelt", "Is tril meant?"),
        ("return torch.ones(3, 3).masked_fil(i > j, 0)", "misspelt", "Is masked_fill meant?"),
        ("return torch.sqrt(query_length)", "plain_number", "those of math want numbers"),
        ("return torch.ones(2, 3) @ torch.ones(2, 3)", "product_sizes", "as long as the last but one of b"),
        ("return x[0] @ x[1]", "matrix_for_row", "one index takes a whole matrix"),
        ("return torch.dot(x[0], x[1])", "matrix_for_row", "one index takes a whole matrix"),
        ("return -(i > j)", "boolean_minus", "A boolean tensor has no minus"),
        ("return (i > j) - (i == j)", "boolean_minus", "A boolean tensor has no minus"),
        ("length, width = x.shape", "fixed_axes", "counts on a fixed number of axes"),
        ("b, heads, length, width = x.shape", "fixed_axes", "counts on a fixed number of axes"),
        ("length, width = x.size()", "fixed_axes", "counts on a fixed number of axes"),
        ("length = x.shape[5]", "fixed_axes", "counts on a fixed number of axes"),
        ("(1, 2)[5]", "index_beyond", "counted from 0"),
        ("first, second = x.unbind(-1)", "unpacked", "More came than there are names"),
        ("first, second = x.tolist() + [1]", "unpacked", "More came than there are names"),
        (
            "return torch.nn.functional.bilinear(x[0], torch.ones(2, 4), torch.ones(1, 4, 4))",
            "row_beside_row",
            "here every pair of rows is due",
        ),
        ("x[(j > 0)] = 0.0; x[torch.ones(3, 1) > 0] = 0.0", "mask_as_index", "exactly the shape of what it indexes"),
        ("return [row.mT for row in x[0]]", "turned_vector", "has no rows to exchange with columns"),
        ("return x.gather(-2, torch.zeros(2, 3, dtype=torch.long))", "gather_axes", "as many axes as the tensor"),
        ("x[0] = torch.ones(3, 3)", "assigned_shape", "the shape of the place"),
        ("return torch.view_as_complex(x.bfloat16())", "no_complex", "float32 or float64"),
        ("import numpy; return numpy.array([x[0].numpy(), x[0, 0].numpy()])", "ragged_array", "parts of one shape"),
        ("import numpy; return numpy.split(x.numpy(), 3)", "unequal_cut", "this cuts into equal parts"),
        ("m = torch.zeros(3, dtype=torch.int64); m += 0.5; return m", "integer_buffer", "keeps no fractions"),
        ("return x[5]", "index_beyond", "the last one is the length less 1"),
        ("return x.sum(dim=3)", "axis_beyond", "Axes are counted from 0"),
        ("return x / x.sum(dim=-1)", "axis_lost", "`x.sum(dim=-1)` has lost the axis"),
        ("return x - torch.mean(x, 2)", "axis_lost", "`torch.mean(x, 2)` has lost the axis"),
        ("n = x[:, 0, 0]; return x.sum(dim=1) / n", "axis_lost", "`n` has fewer axes than `x.sum(dim=1)`"),
        ("n = x[:, 0]; return x.mean() + x / n", "axis_lost", "`n` has fewer axes than `x`"),
        ("m = x[:, :, :2]; return (x * m).sum(1) / m.sum(1)", "shapes_apart", "`x` is (2, 3, 4) and `m` is (2, 3, 2)"),
        ("return x[0] * torch.ones(4, 2)", "entrywise", "is a matrix product meant?"),
        ("first, second, third = torch.cumsum(x, 0)", "taken_apart", "a tensor along its first axis"),
        ("return torch.nn.Linear(5, 2)(x)", "layer_width", "for vectors of width 5"),
        ("return torch.nn.Embedding(2, 2)(j + 2)", "beyond_embedding", "counted from 0"),
        ("return device.type", "none_used", "`device` is None here"),
        ("size = [device, None]; return device + device", "none_used", "`device` is None here"),
    ],
)
def test_an_exception_is_put_down_to_its_cause(attempt, line, cause, says):
    result, text = attempt(line)
    assert result.misconceptions[0] == f"generic.{cause}"
    assert says in text
    section = section_to_reread(f"generic.{cause}", "")
    assert ("Reread" in text) == bool(section) and title_of(section) in text


@pytest.mark.parametrize("line", ["return x / x[0].sum(dim=-1)", "return x / x.sum(dim=-1, keepdim=True)[:, :2]"])
def test_a_sum_of_something_else_has_lost_no_axis(attempt, line):
    assert attempt(line)[0].misconceptions == ["generic.shapes_apart"]


HELPER = """

def refuse(mask):
    if mask.dim() == 2:
        raise ValueError("no mask")


def through(mask):
    refuse(mask)
"""


def test_a_name_that_is_refused_is_not_taken_for_a_misspelt_one():
    refused = AttributeError("not here", name="tril", obj=torch)
    assert "near" not in describe(refused)
    assert describe(AttributeError("not here", name="trill", obj=torch))["near"] == "tril"


def test_of_a_refused_argument_the_line_that_chose_it_is_named(attempt):
    _, text = attempt("mask = j <= i", "through(mask)", below=HELPER)
    assert "raised ValueError: no mask, in line 19 of masks.py: `refuse(mask)`" in text


def test_who_refuses_an_argument_of_the_check_is_named_himself(attempt):
    _, text = attempt('raise ValueError("too short")')
    assert 'ValueError: too short, in line 9 of masks.py: `raise ValueError("too short")`' in text


def test_a_call_outside_any_function_is_blamed_and_not_the_line_it_ends_in(attempt):
    result, text = attempt("return x @ x", below="\n\nprint(causal_mask(3))\n")
    assert "a call outside any function raises: RuntimeError" in text
    assert "in line 12 of masks.py: `print(causal_mask(3))`, which ends in line 9" in text
    assert '`if __name__ == "__main__":`' in text and {one.kind for one in result.checks} <= {"import", ""}


def test_a_call_of_a_stub_outside_any_function_is_no_exercise_that_is_not_started(attempt):
    result, text = attempt('raise NotImplementedError("exercise 4.2: x")', below="\n\ncausal_mask(3)\n")
    assert "in line 12 of masks.py: `causal_mask(3)`" in text and result.started


def test_what_is_raised_at_import_itself_keeps_its_line(attempt):
    _, text = attempt("return 1", below="\n\nx = 1 / 0\n")
    assert "cannot be imported: ZeroDivisionError: division by zero, in line 12 of masks.py: `x = 1 / 0`" in text


@pytest.mark.parametrize(
    ("line", "cause", "says"),
    [
        ("loss.backward", "not_called", "`loss.backward` names a method and does not call it"),
        ("mask[i][j] == True", "compared", "`mask[i][j] == True` compares and changes nothing: = assigns"),
        ("rows = [[0] * d] * n", "shared_rows", "holds one row m times"),
        ("rows = n * [[0.0 for _ in d]]", "shared_rows", "holds one row m times"),
        ("mask.masked_fill(x, 0)", "result_unused", "masked_fill gives a new tensor and changes none"),
    ],
)
def test_a_line_that_does_nothing_is_named(line, cause, says):
    (found,) = slips_in(f"def f(x):\n    {line}\n    return mask\n", "f")
    assert found[:2] == (2, cause) and says in found[2]


@pytest.mark.parametrize(
    "line",
    [
        "rows = [[0] * d for _ in n]",
        "x = [0] * d",
        "loss.backward()",
        "mask.masked_fill_(x, 0)",
        "'a docstring'",
        "x = a == b",
        "x = d ** 0.5 / 2",
        "x = (d ** 2) * 3",
        "x = base ** (-2 * i / d)",
    ],
)
def test_lines_that_do_what_they_say_are_left_alone(line):
    assert list(slips_in(f"def f(x):\n    {line}\n    return mask\n\n\ndef g():\n    x.backward\n", "f")) == []


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("x = q / d ** 1 / 2", "`d ** 1` is taken by itself"),
        ("x = q / (d ** 1 / 2)", "`d ** 1` is taken by itself"),
        ("x = base ** -2 * i / d", "`base ** -2` is taken by itself"),
    ],
)
def test_a_power_that_binds_more_tightly_than_is_meant_is_named(line, says):
    found = next(slips_in(f"def f(x):\n    {line}\n    return x\n", "f"))
    assert found[:2] == (2, "power_first") and says in found[2]


def test_a_line_of_the_text_explains_a_failure_that_nothing_else_does(attempt):
    body = (
        "mask = torch.ones(query_length, key_length, dtype=torch.bool)",
        "mask.tril()",
        "mask[0][0] = x[0][0][0] > 0",
    )
    result, text = attempt(*body, "return mask.logical_and(j % 2 == i % 3)")
    assert result.misconceptions == ["generic.result_unused", "device_ignored"]
    assert text.count("line 10 of masks.py: tril gives a new tensor and changes none") == 1
