"""Every number that chapter 2 works by hand, worked again from the page's text in plain Python."""

from __future__ import annotations

import math
import re

import pytest

from attention.worked_example import EXAMPLE

from .chapter2 import BOOK, FIRST, plain_attention, product

pytestmark = pytest.mark.proof(
    depends=["book/chapters/02-worked-example.md", "book/problem-sets/ps1.md", "book/index.md"]
)

PAGE = (BOOK / "chapters" / "02-worked-example.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())
VECTORS = {
    letter: product(FIRST[0], matrix) for letter, matrix in zip("qkv", FIRST[1:], strict=True)
}  # q, k and v of each token
SCORES, WEIGHTS, OUTPUTS = plain_attention(FIRST, scale=False)
_, SCALED_WEIGHTS, SCALED_OUTPUTS = plain_attention(FIRST, scale=True)


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]


def vectors(text: str) -> list[list[float]]:
    return [numbers(found) for found in re.findall(r"\[([^\]a-z]*)\]", text)]


def matrices(text: str) -> dict[str, list[list[float]]]:
    """Name → matrix, for every bmatrix that follows a name."""
    found = re.findall(r"(X|W_[QKV])\s*&?=\s*\\begin\{bmatrix\}(.*?)\\end", text, re.DOTALL)
    return {name: [numbers(row) for row in body.split("\\\\")] for name, body in found}


def near(written: float, exact: float) -> bool:
    """Whether a number in the text is the exact one, rounded to six digits or to as many as are written."""
    return math.isclose(written, exact, rel_tol=1e-5, abs_tol=5.0001e-5)


def test_all_four_matrices_stand_on_the_page():
    assert matrices(PAGE) == dict(zip(("X", "W_Q", "W_K", "W_V"), map(list, FIRST), strict=True))


def test_the_example_has_the_published_integers():
    assert VECTORS["q"] == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert VECTORS["k"] == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert VECTORS["v"] == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    assert SCORES == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]


def test_each_of_the_nine_vectors_is_a_sum_of_rows_that_stands_on_the_page():
    found = re.findall(r"^([qkv])_([123]) &= (.*?) = (\[[\d,]+\])", PAGE.replace("\\\\ &\\quad", ""), re.MULTILINE)
    assert len(found) == 9
    for letter, token, terms, total in found:
        weight = FIRST["qkv".index(letter) + 1]
        rows = [(float(times or 1), numbers(row)) for times, row in re.findall(r"(\d*)(?:\\,)?\s*\[([\d,]+)\]", terms)]
        takes = [(times, row) for times, row in zip(FIRST[0][int(token) - 1], weight, strict=True) if times]
        assert rows == takes  # the rows that the token asks for, as often as it says
        by_hand = [sum(times * row[f] for times, row in rows) for f in range(3)]
        assert by_hand == vectors(total)[0] == VECTORS[letter][int(token) - 1]


def test_the_lit_entry_of_the_picture_is_worked_right():
    (terms, total) = re.search(r"are lit: (.*?) = (\d+)\.", PAGE).groups()
    pairs = [numbers(term) for term in terms.split(" + ")]
    assert pairs == [[a, row[0]] for a, row in zip(FIRST[0][1], FIRST[1], strict=True)]
    assert sum(a * b for a, b in pairs) == int(total) == VECTORS["q"][1][0]


def test_each_of_the_nine_scores_is_a_dot_product_that_stands_on_the_page():
    found = re.findall(r"s_\{(\d)(\d)\} &= (.*?) = (\d+)", PAGE)
    assert [(i, j) for i, j, *_ in found] == [(i, j) for i in "123" for j in "123"]
    for i, j, terms, total in found:
        pairs = [numbers(term) for term in terms.split(" + ")]
        query, key = VECTORS["q"][int(i) - 1], VECTORS["k"][int(j) - 1]
        assert pairs == [[a, b] for a, b in zip(query, key, strict=True)]
        assert sum(a * b for a, b in pairs) == int(total) == SCORES[int(i) - 1][int(j) - 1]


def test_shadows_times_the_query_s_length_are_the_scores():
    length = math.dist(VECTORS["q"][0], [0, 0, 0])
    shadows = [score / length for score in SCORES[0]]
    assert length == pytest.approx(math.sqrt(5)) and f"\\sqrt 5 = {length:.4f}" in TEXT
    assert f"have the shadow ${shadows[1]:.4f}$, key 1 has ${shadows[0]:.4f}$" in TEXT and shadows[1] == shadows[2]
    squares = [sum(x * x for x in key) for key in VECTORS["k"]]
    assert "$\\sqrt{32}$ against $\\sqrt{14}$" in TEXT and squares[1:] == [32, 14]
    ends = [(across, math.sqrt(square - across**2)) for across, square in zip(shadows, squares, strict=True)]
    for number, (across, up) in enumerate(ends, start=1):
        assert re.search(rf"(?i)key {number} (?:ends )?at {across:.2f} across and {up:.2f} up", TEXT)


def test_the_softmax_of_the_first_row_is_worked_right():
    e2, e4 = math.exp(2), math.exp(4)
    assert f"e^2 = {e2:.3f}" in PAGE and f"e^4 = {e4:.3f}" in PAGE
    assert f"{e2:.3f} + {e4:.3f} + {e4:.3f} = {e2 + 2 * e4:.3f}" in PAGE
    assert f"\\tfrac{{1}}{{{e2 + 2 * e4:.3f}}}\\,[{e2:.3f}, {e4:.3f}, {e4:.3f}]" in PAGE


def steps(head: str) -> list[tuple[int, dict[str, list[float]]]]:
    """The blocks of a row's way to its weights: the row, and name of a line → its numbers."""
    found = []
    for at in re.finditer(rf"s_(\d){head}", PAGE):
        lines = re.split(r"\\\\\[4pt\]|\\end", PAGE[at.start() :])[0].split("\\\\\n")
        parts = [line.partition("&=") for line in lines]
        found.append((int(at[1]) - 1, {name.strip().split("_")[0]: numbers(rest) for name, _, rest in parts}))
    return found


def test_the_unscaled_weights_of_rows_2_and_3_are_worked_right():
    assert [i for i, _ in steps(" - ")] == [1, 2]
    for i, lines in steps(" - "):
        best = max(SCORES[i])
        assert f"s_{i + 1} - {best} &=" in PAGE and lines["s"] == [score - best for score in SCORES[i]]
        exact = [math.exp(score - best) for score in SCORES[i]]
        assert len(lines["e^{\\dots}"]) == len(lines["a"]) == 3
        assert all(map(near, lines["e^{\\dots}"], exact)) and near(lines["\\text{sum}"][0], sum(exact))
        assert all(map(near, lines["a"], WEIGHTS[i])) and abs(sum(lines["a"]) - 1) < 2e-4
    assert "$[4, 16, 12]$ and $[4, 12, 10]$" in TEXT and SCORES[1:] == [[4, 16, 12], [4, 12, 10]]
    assert f"{100 * WEIGHTS[1][1]:.0f} % of its weight" in TEXT and f"e^4 \\approx {math.exp(4):.0f}" in TEXT


def test_the_outputs_are_worked_right():
    block = PAGE[PAGE.index("0.0634\\,[1, 2, 3]") :]
    for j, (weight, value, weighted) in enumerate(re.findall(r"(0\.\d+)\\,(\[.*?\]) &= (\[.*?\])", block)[:3]):
        assert near(float(weight), WEIGHTS[0][j]) and vectors(value)[0] == VECTORS["v"][j]
        exact = [WEIGHTS[0][j] * x for x in VECTORS["v"][j]]
        assert vectors(weighted)[0] == [round(x, 4) for x in exact]
    assert vectors(re.search(r"y_1 &= (\[.*?\])", block)[1])[0] == [round(x, 4) for x in OUTPUTS[0]]
    for i in (1, 2):
        line = re.search(rf"y_{i + 1} &= (.*?)\n&= (\[.*?\])", block, re.DOTALL)
        factors = [float(factor) for factor in re.findall(r"(0\.\d+)\\,", line[1])]
        assert len(factors) == 3 and all(map(near, factors, WEIGHTS[i]))
        assert vectors(line[1]) == VECTORS["v"]
        assert vectors(line[2])[0] == [round(x, 4) for x in OUTPUTS[i]]
        by_pencil = [sum(w * v[f] for w, v in zip(factors, VECTORS["v"], strict=True)) for f in range(3)]
        assert all(abs(a - b) < 5e-4 for a, b in zip(by_pencil, OUTPUTS[i], strict=True))


def test_the_scaled_rows_are_worked_right():
    assert [i for i, _ in steps(r"/\\sqrt3 &=")] == [0, 1, 2]
    for i, lines in steps(r"/\\sqrt3 &="):
        exact = [score / math.sqrt(3) for score in SCORES[i]]
        exponentials = [math.exp(score) for score in exact]
        assert lines["s"] == [round(x, 4) for x in exact]
        written = [*lines["e^{\\dots}"], *lines["\\text{sum}"]]
        assert len(written) == 4
        assert all(
            math.isclose(a, b, rel_tol=1e-5) for a, b in zip(written, [*exponentials, sum(exponentials)], strict=True)
        )
        assert lines["a"] == [round(x, 4) for x in SCALED_WEIGHTS[i]]
        assert lines["y"] == [round(x, 4) for x in SCALED_OUTPUTS[i]]
    assert f"\\sqrt 3 = {math.sqrt(3):.4f}" in TEXT


@pytest.mark.parametrize(("name", "outputs"), [("unscaled", OUTPUTS), ("scaled", SCALED_OUTPUTS)])
def test_the_triangle_says_in_words_where_the_outputs_lie(name, outputs):
    written = re.search(rf"\b{name} at ((?:\([^)]*\)(?:, | and )?)+)", TEXT)[1]
    assert [numbers(pair) for pair in re.findall(r"\(.*?\)", written)] == [
        [round(x, 2) for x in y[1:]] for y in outputs
    ]


def test_the_numbers_of_the_mistakes_are_those_of_the_example():
    for output in (OUTPUTS[0], SCALED_OUTPUTS[0]):
        assert PAGE.count("[" + ", ".join(f"{x:.4f}" for x in output) + "]") >= 2


def test_scores_of_float32_and_float16_overflow_where_the_page_says():
    limits = [round(math.log(largest), 2) for largest in (3.4028234e38, 65504.0)]
    assert "in float32 above a score of {:.2f}, in float16 above {:.2f}".format(*limits) in TEXT


def test_the_code_on_the_page_computes_the_example():
    (cell,) = re.findall(r"```\{code-cell\} ipython3\n(def attend.*?)```", PAGE, re.DOTALL)
    names = {"math": math, "np": __import__("numpy"), "print": lambda *parts: None}
    exec(cell, names)
    for query, unscaled, scaled in zip(VECTORS["q"], OUTPUTS, SCALED_OUTPUTS, strict=True):
        assert names["attend"](query, names["K"], names["V"]) == pytest.approx(unscaled)
        assert names["attend"](query, names["K"], names["V"], math.sqrt(3)) == pytest.approx(scaled)


def test_the_second_head_s_matrices_stand_where_they_are_asked_for():
    found = matrices((BOOK / "problem-sets" / "ps1.md").read_text(encoding="utf-8"))
    wanted = {"W_Q": "w_query2", "W_K": "w_key2", "W_V": "w_value2", "X": "inputs"}
    assert found == {name: list(map(list, EXAMPLE[entry])) for name, entry in wanted.items()}


def test_the_front_page_s_scores_exponentiate_to_its_weights():
    page = (BOOK / "index.md").read_text(encoding="utf-8")
    written = vectors(page[page.index("Scores of query") : page.index("Weights, each")])
    assert written == [list(score) for score in SCORES]
    first = [math.exp(score) for score in SCORES[0]]
    shown = ", ".join(f"{exponential / sum(first):.2f}" for exponential in first)
    assert f"the first row {shown}" in page  # unscaled, as the scores are
    assert "first without the scale, as here" in page and "every product" not in page
