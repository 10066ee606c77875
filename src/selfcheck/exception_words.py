"""Words of exceptions, the cause that they are a sign of, and the advice on it."""

from __future__ import annotations

LISTS = "The arguments may be plain nested lists: numpy.asarray(...) turns them into arrays"
TRUTH = (
    "`and`, `or`, `not` and `if` want one truth value; for each entry use &, | and ~. "
    "Whether something was given at all asks `is not None`"
)
ONE_LETTER = "A letter that stands twice in one operand takes its diagonal: two axes want two letters"
WALKED = "It can be walked with for, once: it has neither places nor a length"
POWER = "A power is written **: ^ is another operator"
WHOLE = "/ gives a float, even 4 / 2; // divides whole numbers"
SUPER = "Begin __init__ with super().__init__(): it makes room for layers and parameters"
FILES = (
    "Where answers are graded, files can be written in the temporary folder alone, tempfile.gettempdir(): to look at "
    "numbers, print them"
)
DTYPE = "A new tensor is float32 unless you say dtype=…, and .float() makes one: give it the dtype of the input"
PLAIN = (
    "A plain number came: torch's functions want tensors, those of math want numbers (math.sqrt, or ** 0.5 for a root)"
)
BUFFER = "A tensor or array of whole numbers keeps no fractions: make it with a floating dtype, that of the input"
#: The cause (see generic_slips.py), the advice, and what a message contains that asks for it; the first one counts.
ADVICE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("truth_value", TRUTH, ("Boolean value of Tensor", "truth value of an array")),
    (
        "whole_number",
        WHOLE,
        (
            *("cannot be interpreted as an integer", "tuple of ints,but got float", "must be int, not float"),
            *("tuple of ints, but found element of type float", "tuple of ints, not float"),
            *("got (float, int)", "got (int, float)", "got (float, dim=int)"),
        ),
    ),
    ("diagonal", ONE_LETTER, ("is repeated for operand",)),
    (
        "letter_of_two_axes",
        "One letter stands for two axes that differ in length: give each axis that means something else its own",
        ("does not broadcast with previously seen size",),
    ),
    (
        "joined_unequal",
        "cat joins tensors that are equally long in all other axes, and broadcasts none: is dim the axis that grows?",
        ("Sizes of tensors must match except in dimension",),
    ),
    (
        "indices_too_many",
        "One index stands for each axis, and here are fewer axes: [..., None] or unsqueeze(-1) adds a last one",
        ("too many indices for tensor",),
    ),
    (
        "no_function",
        "What stands before the brackets is no function: was a name, a number or a tensor handed over in its place?",
        ("object is not callable",),
    ),
    (
        "no_probabilities",
        "torch.multinomial wants probabilities, or weights of any sum: nothing negative, as logarithms and scores "
        "may be, and no NaN",
        ("probability tensor contains either",),
    ),
    (
        "shape_for_a_number",
        "math.sqrt and its like take one number, such as one length: x.shape[-1], or x.size(-1)",
        ("must be real number, not torch.Size", "must be real number, not builtin", "must be real number, not tuple"),
    ),
    (
        "compared_with_none",
        "A comparison with None is one plain True or False: ask first whether a mask `is not None`",
        ("got (bool, float)",),
    ),
    (
        "values_and_positions",
        "Along an axis max, min, median and sort return values *and* positions; amax and amin the values",
        ("return_types",),
    ),
    ("iterator_indexed", WALKED, ("'generator' object", "object of type 'generator'")),
    (
        "ragged_array",
        "One array needs parts of one shape, and these differ: hand them back apart, in a tuple",
        ("inhomogeneous shape",),
    ),
    ("unequal_cut", "The pieces differ in width: cut at each width, not into equal parts", ("equal division",)),
    (
        "assigned_shape",
        "What is assigned must have the shape of the place, or broadcast to it; expand lengthens axes of 1 alone",
        ("must match the existing size",),
    ),
    (
        "no_complex",
        "Complex numbers need float32 or float64: convert first, and the result back to the dtype of the input",
        ("view_as_complex is only supported",),
    ),
    (
        "beyond_embedding",
        "An embedding has as many rows as its first argument says, counted from 0: an id or a position is beyond them",
        ("index out of range in self",),
    ),
    (
        "unpacked",
        "More came than there are names: an asterisk before a name collects what is left",
        ("too many values to unpack",),
    ),
    ("power", POWER, ("operand type(s) for ^", "bitwise_xor")),
    (
        "plain_loss",
        "backward starts from the loss as a tensor: item() and float() make a plain number of it, so they come last",
        ("has no attribute 'backward'",),
    ),
    (
        "cut_off",
        "backward finds no way to the parameters: no_grad, detach, argmax or a new tensor has cut it off",
        ("does not have a grad_fn",),
    ),
    ("plain_number", PLAIN, ("must be Tensor, not float", "must be Tensor, not int")),
    (
        "one_number_due",
        "int(), float() and the functions of math take one number, torch's functions whole tensors; and torch.stack(…) "
        "makes one tensor of a list of tensors",
        ("only one element tensors", "only length-1 arrays", "only 0-dimensional arrays"),
    ),
    (
        "tuple_used",
        "A function that gives several things back gives a tuple: take one of them, `output, weights = …` or […][0]",
        (
            "must be Tensor, not tuple",
            "'Tensor' and 'tuple'",
            "'tuple' and 'Tensor'",
            "'tuple' object has no attribute",
        ),
    ),
    (
        "unequal_pieces",
        "torch.stack joins tensors of one shape alone: print the shapes of the pieces",
        ("stack expects each tensor to be equal size",),
    ),
    (
        "axes_of_permute",
        "permute names every axis of the tensor once, as many numbers as it has axes",
        ("does not match the length of the desired ordering",),
    ),
    (
        "swapped",
        "Have two arguments changed places, or is one left out? Pass them by name",
        ("not supported between instances of",),
    ),
    (
        "list_assigned",
        "torch.tensor(…) makes a tensor of a list, torch.stack(…) of a list of tensors",
        ("can't assign a list to",),
    ),
    (
        "list_not_spread",
        "An asterisk hands a list over one by one: f(*tensors)",
        ("as element 0 in argument 0, but got list",),
    ),
    (
        "none_used",
        "Something is None here: an argument that was left out, or the answer of a function without return",
        ("'NoneType'",),
    ),
    (
        "half_overflow",
        "float16 ends at 65504, so -1e9 is no number there: minus infinity is float('-inf')",
        ("without overflow",),
    ),
    (
        "numpy_in_between",
        "NumPy keeps no gradients, and detach would cut them off: use torch's functions throughout",
        ("Can't call numpy()",),
    ),
    (
        "shapes_apart",
        "Write the shapes below each other, last axes in line: the pairs must be equal, or one of them 1",
        ("must match the size",),
    ),
    (
        "shapes_apart",
        "An asterisk works entry by entry; a matrix product is @ or numpy.dot",
        ("operands could not be broadcast together",),
    ),
    (
        "product_sizes",
        "In a @ b the last axis of a must be as long as the last but one of b: transpose one?",
        ("cannot be multiplied", "Expected size for first two dimensions"),
    ),
    (
        "product_sizes",
        "In a matrix product the columns of the first must be as many as the rows of the second: transpose one?",
        ("not aligned", "mismatch in its core dimension"),
    ),
    (
        "signature",
        "The names of the arguments belong to the exercise: leave the line that begins with def as it was",
        ("unexpected keyword",),
    ),
    (
        "module_unknown",
        "NumPy and torch are all you need; your own files are imported as in `from .masks import …`",
        ("No module named",),
    ),
    (
        "typed_in",
        "The checks pass everything as arguments: nothing is to be typed in",
        ("EOF when reading",),
    ),
    ("whole_input", "Whole numbers came in: turn them into floats first", ("for 'Long'",)),
    ("integer_buffer", BUFFER, ("can't be cast to the desired output type", "Cannot cast ufunc")),
    ("no_super", SUPER, ("before Module.__init__() call", "has no attribute '_parameters'")),
    (
        "reshape_sizes",
        "reshape keeps the number of entries: multiply the sizes on both sides and compare",
        ("is invalid for input of size",),
    ),
    (
        "number_walked",
        "One number came where several are due: for, sum and max walk through a list or an array, and your loops "
        "expect one axis more than there is",
        ("'float' object is not iterable", "'int' object is not iterable", "iteration over a 0-d"),
    ),
    (
        "device",
        "A new tensor is made on the CPU unless you say device=…: give it that of an argument, such as lengths.device",
        ("to be on the same device",),
    ),
    (
        "view_after_transpose",
        "After a transpose the entries lie out of order in memory: reshape copies where view cannot",
        ("view size is not compatible",),
    ),
    ("two_dtypes", DTYPE, ("to have the same dtype", "must have the same dtype", "expected scalar type")),
    (
        "boolean_minus",
        "~ inverts a boolean tensor",
        ("a bool tensor is not supported", "two bool tensors is not supported", "boolean subtract"),
    ),
    (
        "changed_on_the_way",
        "backward needs a tensor that += or a method ending in _ has changed since: make a new one instead",
        ("modified by an inplace operation",),
    ),
    (
        "many_losses",
        "backward starts from one number: mean() or sum() makes one of a tensor",
        ("implicitly created only for scalar outputs",),
    ),
    (
        "leaf_changed",
        "Leave arguments as they are and make a new tensor; a parameter's own numbers are overwritten under "
        "`with torch.no_grad():`",
        ("leaf Variable that requires grad",),
    ),
    (
        "index_beyond",
        "Positions are counted from 0, so the last one is the length less 1",
        ("out of bounds for", "list index out of range", "tuple index out of range"),
    ),
    (
        "mask_as_index",
        "A mask as an index must have exactly the shape of what it indexes; masked_fill and where broadcast it",
        ("The shape of the mask",),
    ),
    (
        "turned_vector",
        "A vector has no rows to exchange with columns: with one index or a for loop over the first axis, a matrix "
        "has become one",
        ("tensor.mT is only supported on matrices",),
    ),
    (
        "row_beside_row",
        "bilinear takes row i of one beside row i of the other; for every pair of rows it takes the products "
        "x @ weight @ y.mT",
        ("bilinear(): input batch dimensions do not match",),
    ),
    (
        "gather_axes",
        "gather wants an index of as many axes as the tensor, with one entry for each number that comes back; "
        "take_along_dim broadcasts it, once it has these axes, each of length 1 where it has none",
        ("Index tensor must have the same number of dimensions",),
    ),
    ("axis_beyond", "Axes are counted from 0, or backwards from -1", ("Dimension out of range", "is out of bounds")),
    ("", FILES, ("Permission denied", "Read-only file system")),
    (
        "no_parameter",
        "Assign an nn.Parameter, or copy the numbers into the one that is there with copy_",
        ("as parameter",),
    ),
)
