"""Words of exceptions, the cause that they are a sign of, and a sentence on it; its remedy is in slip_remedies.py."""

from __future__ import annotations

LISTS = "The arguments may be plain nested lists, which are no arrays"
TRUTH = "`and`, `or`, `not` and `if` want one truth value, and here are many"
ONE_LETTER = "A letter that stands twice in one operand takes its diagonal"
WALKED = "It can be walked with for, once: it has neither places nor a length"
POWER = "^ is no power but another operator"
WHOLE = "A float came where a whole number is due: / gives one, even 4 / 2"
SUPER = "nn.Module's own __init__ makes room for layers and parameters, and it has not run"
FILES = "Where answers are graded, files can be written in the temporary folder alone, tempfile.gettempdir()"
DTYPE = "Two dtypes meet: a new tensor is float32 unless you say dtype=…, and .float() makes one"
PLAIN = "A plain number came: torch's functions want tensors, those of math want numbers"
BUFFER = "A tensor or array of whole numbers keeps no fractions"
#: The cause (see generic_slips.py), the sentence, and what a message contains that asks for it; the first one counts.
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
        "One letter stands for two axes that differ in length",
        ("does not broadcast with previously seen size",),
    ),
    (
        "joined_unequal",
        "cat joins tensors that are equally long in all other axes, and broadcasts none",
        ("Sizes of tensors must match except in dimension",),
    ),
    (
        "indices_too_many",
        "One index stands for each axis, and here are fewer axes",
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
        "math.sqrt and its like take one number, and here are all lengths of a shape",
        ("must be real number, not torch.Size", "must be real number, not builtin", "must be real number, not tuple"),
    ),
    (
        "compared_with_none",
        "Something is None here, and a comparison with None is one plain True or False",
        ("got (bool, float)",),
    ),
    (
        "values_and_positions",
        "Along an axis max, min, median and sort return values *and* positions",
        ("return_types",),
    ),
    ("iterator_indexed", WALKED, ("'generator' object", "object of type 'generator'")),
    (
        "ragged_array",
        "One array needs parts of one shape, and these differ",
        ("inhomogeneous shape",),
    ),
    ("unequal_cut", "The pieces differ in width, and this cuts into equal parts", ("equal division",)),
    (
        "assigned_shape",
        "What is assigned must have the shape of the place, or broadcast to it",
        ("must match the existing size",),
    ),
    (
        "no_complex",
        "Complex numbers need float32 or float64",
        ("view_as_complex is only supported",),
    ),
    (
        "beyond_embedding",
        "An embedding has as many rows as its first argument says, counted from 0: an id or a position is beyond them",
        ("index out of range in self",),
    ),
    (
        "unpacked",
        "More came than there are names",
        ("too many values to unpack",),
    ),
    ("power", POWER, ("operand type(s) for ^", "bitwise_xor")),
    (
        "plain_loss",
        "backward starts from the loss as a tensor: item() and float() make a plain number of it",
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
        "int(), float(), torch.tensor(…) of a list and the functions of math take single numbers, and here is a tensor "
        "or an array of many",
        ("only one element tensors", "only length-1 arrays", "only 0-dimensional arrays"),
    ),
    (
        "tuple_used",
        "A function that gives several things back gives a tuple, and here it is used as one of them",
        (
            "must be Tensor, not tuple",
            "'Tensor' and 'tuple'",
            "'tuple' and 'Tensor'",
            "'tuple' object has no attribute",
        ),
    ),
    (
        "unequal_pieces",
        "torch.stack joins tensors of one shape alone",
        ("stack expects each tensor to be equal size",),
    ),
    (
        "axes_of_permute",
        "permute names every axis of the tensor once, as many numbers as it has axes",
        ("does not match the length of the desired ordering",),
    ),
    (
        "swapped",
        "Have two arguments changed places, or is one left out?",
        ("not supported between instances of",),
    ),
    (
        "list_assigned",
        "A list is no tensor, and cannot be assigned into one",
        ("can't assign a list to",),
    ),
    (
        "list_not_spread",
        "One list came where several tensors are due, one by one",
        ("as element 0 in argument 0, but got list",),
    ),
    (
        "none_used",
        "Something is None here: an argument that was left out, or the answer of a function without return",
        ("'NoneType'",),
    ),
    (
        "half_overflow",
        "float16 ends at 65504, so -1e9 is no number there",
        ("without overflow",),
    ),
    (
        "numpy_in_between",
        "NumPy keeps no gradients, and detach would cut them off",
        ("Can't call numpy()",),
    ),
    (
        "shapes_apart",
        "From the last axis on, each pair of lengths must be equal, or one of them 1",
        ("must match the size",),
    ),
    (
        "shapes_apart",
        "An operator works entry by entry, an asterisk too: each pair of lengths must be equal, or one of them 1",
        ("operands could not be broadcast together",),
    ),
    (
        "product_sizes",
        "In a @ b the last axis of a must be as long as the last but one of b",
        ("cannot be multiplied", "Expected size for first two dimensions"),
    ),
    (
        "product_sizes",
        "In a matrix product the columns of the first must be as many as the rows of the second",
        ("not aligned", "mismatch in its core dimension"),
    ),
    (
        "signature",
        "The names of the arguments belong to the exercise, and the line that begins with def has others",
        ("unexpected keyword",),
    ),
    (
        "module_unknown",
        "Where answers are graded, of your own code only files right in attention are there, as attention/mine.py, and "
        "no folders or notebooks in it",
        ("No module named 'attention.",),
    ),
    (
        "",
        "Where answers are graded, attention/__init__.py is the course's own: what you wrote in yours belongs in a "
        "file beside it, and is imported as in `from .mine import …`",
        ("from 'attention' (",),
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
    ("whole_input", "Whole numbers came in, and this function wants floats", ("for 'Long'",)),
    ("integer_buffer", BUFFER, ("can't be cast to the desired output type", "Cannot cast ufunc")),
    ("no_super", SUPER, ("before Module.__init__() call", "has no attribute '_parameters'")),
    (
        "reshape_sizes",
        "reshape keeps the number of entries, and these sizes have another",
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
        "A new tensor is made on the CPU unless you say device=…",
        ("to be on the same device",),
    ),
    (
        "view_after_transpose",
        "After a transpose the entries lie out of order in memory, and view cannot read them",
        ("view size is not compatible",),
    ),
    ("two_dtypes", DTYPE, ("to have the same dtype", "must have the same dtype", "expected scalar type")),
    (
        "boolean_minus",
        "A boolean tensor has no minus",
        ("a bool tensor is not supported", "two bool tensors is not supported", "boolean subtract"),
    ),
    (
        "changed_on_the_way",
        "backward needs a tensor that += or a method ending in _ has changed since",
        ("modified by an inplace operation",),
    ),
    (
        "many_losses",
        "backward starts from one number, and here are many",
        ("implicitly created only for scalar outputs",),
    ),
    (
        "leaf_changed",
        "What asks for gradients itself, an argument or a parameter, cannot be changed in place",
        ("leaf Variable that requires grad",),
    ),
    (
        "index_beyond",
        "Positions are counted from 0, so the last one is the length less 1",
        ("out of bounds for", "list index out of range", "tuple index out of range"),
    ),
    (
        "mask_as_index",
        "A mask as an index must have exactly the shape of what it indexes",
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
        "bilinear takes row i of one beside row i of the other, and here every pair of rows is due",
        ("bilinear(): input batch dimensions do not match",),
    ),
    (
        "gather_axes",
        "gather wants an index of as many axes as the tensor, with one entry for each number that comes back",
        ("Index tensor must have the same number of dimensions",),
    ),
    (
        "axis_beyond",
        "Axes are counted from 0, so the last is their number less 1",
        ("Dimension out of range", "is out of bounds"),
    ),
    ("", FILES, ("Permission denied", "Read-only file system")),
    (
        "no_parameter",
        "A plain tensor cannot take the place of a parameter",
        ("as parameter",),
    ),
)
