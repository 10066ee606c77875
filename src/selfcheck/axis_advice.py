"""What to tell whoever counts on other axes than a tensor has."""

from __future__ import annotations

import ast
import re

from .line_slips import (
    call_taken_apart,
    fewer_axes,
    indexed_row,
    is_indexed_product,
    is_product,
    lost_axis,
    new_axis,
    reduced,
    turned,
)

AXES = "This line counts on a fixed number of axes, and here it is another"
MATRICES = (
    "torch.mm, t() and mv take tensors of two axes, torch.bmm of three, torch.dot of one, and here is another number"
)
SUBSCRIPTS = "These subscripts name a fixed number of axes, and here it is another"
DRAWS = "torch.multinomial takes a row of weights, or a matrix of rows, and here are more axes"
FROM_THE_FRONT = "Axes are counted from 0, and the last of these {} is {}"
NEW_AXIS = "Where unsqueeze({}) puts the new axis depends on how many axes there are"
MATRIX = "With an axis of batches in front, one index takes a whole matrix"
AXIS_LOST = (
    "`{}` has lost the axis that it runs along, so it no longer lies beside the rows that it came from: the last axes "
    "are laid over each other"
)
KEPT = "`{}` has lost the axis that it runs along, so what is left is laid over the last axes"
FEWER_AXES = (
    "`{}` has fewer axes than `{}`, so it is laid over the last axes of that: where is an axis of length 1 missing?"
)
ONE_ROW = "`{}` has lost the axis of the position that it takes: what is left is laid over the last axes"
EXCHANGED = "Which axes {} exchanges depends on how many there are in front"
FIRST_AXIS = "An arange as the first index takes the first axis for the batch, and here are fewer axes or more"
TAKEN_APART = (
    "Names with commas between them take a tuple apart, and a tensor along its first axis: does `{}` give one tensor?"
)
LAYER_WIDTH = (
    "A linear layer was made for vectors of width {} (nn.Linear's first argument), and those that come are {} wide: is "
    "something missing, or joined along another axis?"
)
#: What a message contains that comes of a fixed number of axes, and the sentence on it.
FIXED = {
    "must be a 3D tensor": MATRICES,
    "must be a matrix": MATRICES,
    "expects a tensor with <= 2 dimensions": MATRICES,
    "1D tensors expected": MATRICES,
    "number of subscripts in the equation": SUBSCRIPTS,
    "prob_dist must be 1 or 2 dim": DRAWS,
}
LAYER_TEXT = re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)")
OUT_OF_RANGE = re.compile(r"expected to be in range of \[(-\d+), (\d+)\], but got (\d+)")


def advice_on_axes(
    cause: str, text: str, line: list[ast.AST], source: str, shapes: dict[str, tuple[int, ...]]
) -> tuple[str, str] | None:
    """The cause, an id of generic_slips.py, and the advice, where an exception comes of the axes that a line counts on.

    cause: what the exception's words alone are a sign of; text: these words; line, source: where it arose
    shapes: of the names in the line, as far as they are known
    """
    of_a_shape = ".shape" in source or ".size()" in source
    if of_a_shape and ("values to unpack" in text or "tuple index out of range" in text):
        return "fixed_axes", AXES
    if "values to unpack" in text and (call := call_taken_apart(line)):
        return "taken_apart", TAKEN_APART.format(call)
    if (widths := LAYER_TEXT.search(text)) and not is_product(line):
        return "layer_width", LAYER_WIDTH.format(widths[2], widths[1])
    if (cause == "product_sizes" or "1D tensors expected" in text) and is_indexed_product(line):
        return "matrix_for_row", MATRIX
    fixed = next((advice for part, advice in FIXED.items() if part in text), "")
    if fixed:
        return "fixed_axes", fixed
    if (
        "is out of bounds for" in text or "indexing tensors could not be broadcast" in text
    ) and "[torch.arange(" in source:
        return "fixed_axes", FIRST_AXIS
    if cause == "shapes_apart" and (lost := lost_axis(line)):
        return "axis_lost", AXIS_LOST.format(lost)
    if cause == "shapes_apart" and (apart := fewer_axes(line, shapes)):
        return "axis_lost", FEWER_AXES.format(*apart)
    if cause == "shapes_apart" and (lost := reduced(line)):
        return "axis_lost", KEPT.format(lost)
    if cause == "shapes_apart" and (row := indexed_row(line)):
        return "axis_lost", ONE_ROW.format(row)
    if cause in ("shapes_apart", "product_sizes") and (exchange := turned(line)):
        return "fixed_axes", EXCHANGED.format(exchange)
    if cause == "shapes_apart" and (place := new_axis(line)):
        return "fixed_axes", NEW_AXIS.format(place)
    if match := OUT_OF_RANGE.search(text):
        axes, last, came = (abs(int(number)) for number in match.groups())
        return ("axis_beyond", FROM_THE_FRONT.format(axes, last)) if came > last else None
    return None
