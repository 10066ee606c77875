"""What to do about a slip of any code: a learner reads it as the next hint, in graded feedback behind the message."""

from __future__ import annotations

#: By id of generic_slips.py. Where the message leaves nothing to say, there is none.
REMEDIES = {
    "overflow": "Subtract each row's maximum from its scores before exp: the shares stay as they are.",
    # The answer's form
    "printed": "Hand the answer back with return.",
    "ends_python": "Hand the answer back with return.",
    "dict": "Hand the results back in a tuple: `return first, second`.",
    "joined": "Hand the results back apart, in a tuple: `return first, second`.",
    "generator": "Collect the values in a list, or make an array of them, and return that.",
    "several": "Return one of them alone.",
    "no_tensor": "Use torch's functions from the arguments to the result.",
    "ragged_array": "Hand the parts back apart, in a tuple.",
    # Axes
    "flat": "Give each row a list of its own, or reshape what you have.",
    "axes_apart": "flatten(-2) makes one axis of the last two.",
    "joined_in_front": "torch.cat takes dim=…, the axis along which the parts lie one after another.",
    "axis_of_one": "squeeze(dim) removes one axis of length 1, unsqueeze(dim) adds one, and keepdim=True keeps one.",
    "axis_lost": (
        "keepdim=True keeps the axis, with length 1, and unsqueeze brings it back; of one position, i : i + 1 in place "
        "of i does."
    ),
    "axis_beyond": "Count from the end: there the last axis is -1, however many there are.",
    "fixed_axes": (
        "Count from the end, where axes have the same number whatever stands in front: x.shape[-1], dim=-2, "
        "unsqueeze(-2), transpose(-1, -2). @ multiplies the last two axes as matrices, `...` in subscripts stands for "
        "all in front, take_along_dim looks up along one axis; and flatten makes one axis of all in front for a "
        "function that takes no more."
    ),
    "matrix_for_row": "`query[..., i, :]` takes position i of each, however many axes stand in front.",
    "indices_too_many": "[..., None] or unsqueeze(-1) adds a last axis.",
    "diagonal": "Give each of the two axes a letter of its own.",
    "letter_of_two_axes": "Give each axis that means something else a letter of its own.",
    "joined_unequal": "Let dim be the axis that grows; expand lengthens an axis of 1.",
    "unequal_cut": "Cut at each width: torch.split takes a list of them.",
    "unequal_pieces": "Print the shape of each piece.",
    "assigned_shape": "Bring it to that shape first; expand lengthens axes of 1 alone.",
    "shapes_apart": (
        "Write the shapes below each other, last axes in line, and find the pair that differs. Where a matrix product "
        "is meant, it is @."
    ),
    "product_sizes": "Print both shapes; x.mT, of an array x.T, exchanges rows and columns.",
    "entrywise": "A matrix product is @, torch.matmul or numpy.dot.",
    "reshape_sizes": "Multiply the sizes on both sides and compare.",
    "mask_as_index": "masked_fill and torch.where broadcast a mask.",
    "row_beside_row": "For every pair of rows take the products x @ weight @ y.mT.",
    "gather_axes": (
        "take_along_dim broadcasts an index, once it has as many axes as the tensor, of length 1 where it has none."
    ),
    "taken_apart": "Give one tensor one name.",
    "unpacked": "An asterisk before a name collects what is left.",
    # Truth values and None
    "truth_value": ("For each entry use &, | and ~. Whether something was given at all is asked by `is not None`."),
    "brackets": "Put each comparison in brackets.",
    "chained": "Write both comparisons, each in brackets, with & between them.",
    "compared_with_none": "Ask first whether it `is not None`.",
    "boolean_minus": "~ inverts a boolean tensor.",
    # Kinds of values
    "values_and_positions": "Take the first result, `.values`, or use amax and amin.",
    "tuple_used": "Take one of them: `output, weights = …`, or […][0].",
    "list_assigned": "torch.tensor(…) makes a tensor of a list of numbers, torch.stack(…) of a list of tensors.",
    "list_not_spread": "An asterisk hands a list over one by one: f(*tensors).",
    "one_number_due": (
        "For a tensor use torch's functions: torch.exp, x.sqrt(). torch.stack(…) makes one tensor of a list of tensors."
    ),
    "plain_number": "The root of a number is math.sqrt, or ** 0.5.",
    "shape_for_a_number": "One length is x.shape[-1], or x.size(-1).",
    "iterator_indexed": "Walk through it with for, and keep of each part what you need later.",
    "lists": "numpy.asarray(…) makes an array of them.",
    "power": "A power is written **.",
    "whole_number": "// divides whole numbers.",
    # Dtypes and devices
    "dtype_kind": (
        "A comparison gives booleans, and so does .bool(). Make numbers in the dtype of the input: dtype=x.dtype, or "
        "x.new_zeros(…)."
    ),
    "dtype_promoted": "Make new tensors in the dtype of the input, and convert back what was widened.",
    "dtype_lost": "Make new tensors in the dtype of the input, and convert nothing to a narrower one.",
    "two_dtypes": "Make new tensors in the dtype of the input: dtype=x.dtype.",
    "integer_buffer": "Make it in a floating dtype, that of the input.",
    "whole_input": "Turn them into floats first.",
    "no_complex": "Convert first, and the result back to the dtype of the input.",
    "half_overflow": "Minus infinity, float('-inf'), is a number in every floating dtype.",
    "device": (
        "Pass device=… on to what makes the tensor: the device that is asked for, or else that of an argument, such as "
        "lengths.device."
    ),
    # Gradients, parameters, random numbers
    "plain_loss": "Call backward first, and item() or float() last.",
    "many_losses": "mean() or sum() makes one number of a tensor.",
    "numpy_in_between": "Use torch's functions throughout.",
    "changed_on_the_way": "Make a new tensor: `x = x + y` in place of `x += y`, masked_fill in place of masked_fill_.",
    "leaf_changed": (
        "Make a new tensor of it; a parameter's own numbers are overwritten under `with torch.no_grad():`."
    ),
    "changed": "Work on a copy, or with operations that make a new tensor; leave torch's seed to whoever calls.",
    "no_parameter": "Assign an nn.Parameter, or copy the numbers into the one that is there: copy_.",
    "parameter_replaced": "Fill the parameter that is there: copy_, under `with torch.no_grad():`.",
    "parameter_shared": "Copy the numbers: copy_, under `with torch.no_grad():`.",
    "other_module_written": "Copy from it into the other one.",
    "parameters": (
        "Give the layers the names and sizes that the exercise lists; a buffer with persistent=False stays out of the "
        "state dict."
    ),
    "no_super": "Begin __init__ with super().__init__().",
    "generator_ignored": "Pass generator on to what draws: generator=generator.",
    # Names
    "not_imported": (
        "Import it at the top of the file: `import math`, `import numpy as np`, `import torch`, "
        "`import torch.nn.functional as F`, or of your own `from .masks import causal_mask`."
    ),
    "unbound": ("Give it a value before it is read; what an object is to remember between calls belongs to self."),
    "swapped": "Pass the arguments by name.",
    "signature": "Put the line that begins with def back as it was.",
}
REMEDIES = {f"generic.{name}": text for name, text in REMEDIES.items()}
