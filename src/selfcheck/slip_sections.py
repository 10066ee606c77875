"""Names the section that treats a slip of any code; of most it stands in the learner's guide."""

from __future__ import annotations

#: A section's label → the slips that it treats, ids of generic_slips.py. What is not here is a matter of the exercise.
TREATS = {
    "sec-slips-loops": (
        "first_wrong last_wrong first_missing last_missing equal_rows rest_zero first_row shared_rows index_beyond"
    ),
    "sec-slips-axes": (
        "transposed transposed_shape first_alone one_alone one_row axis_of_one flat axes_apart axes_order "
        "joined_in_front reduced matrix_for_row unequal_pieces axes_of_permute axis_beyond unpacked another_size "
        "axes_merged axis_lost fixed_axes diagonal one_number taken_apart layer_width"
    ),
    "sec-slips-none": "no_return one_return_missing brackets chained truth_value none_used compared_with_none",
    "sec-slips-results": (
        "printed not_called generator comma no_tensor dict exchanged several joined counted tuple_used list_assigned"
    ),
    "sec-slips-dtype": "dtype_kind dtype_promoted dtype_lost imprecise two_dtypes integer_buffer device",
    "sec-slips-rounding": "truncated rounded whole",
    "sec-slips-in-place": "changed changed_on_the_way leaf_changed",
    "sec-slips-gradient": "no_gradient cut_off plain_loss numpy_in_between",
    "sec-empty-row": "masked_nan nan_gradient",
    "sec-minus-1e9": "masked_uniform half_overflow",
    "sec-mask-polarity": "inverted",
    "sec-softmax-stability": "overflow",
    "sec-sdpa-dropout": "dropped not_dropped",
    "sec-worked-hidden-faults": "coinciding",
    "sec-learner-classes": "parameters parameter_shared parameter_replaced no_parameter",
    "sec-learner-messages": (
        "misspelt not_imported unbound unknown_name endless_calls ends_python module_unknown signature"
    ),
}
COMPLETE = "sec-learner-messages"  # of what this section treats, message and remedy say all
_BY_SLIP = {f"generic.{slip}": label for label, slips in TREATS.items() for slip in slips.split()}


def section_of(slip: str, otherwise: str) -> str:
    """The label of the section that treats a slip, "generic.rounded"; otherwise that of the exercise."""
    return _BY_SLIP.get(slip, otherwise)


def section_to_reread(misconception: str | None, section: str) -> str:
    """The label of the section that a learner is sent to for a named mistake; "" where none treats it.

    misconception: its id; section: its own in the catalogue, which a slip of any code does not have
    """
    if misconception is None or not misconception.startswith("generic."):
        return section if misconception else ""
    label = section_of(misconception, "")
    return "" if label == COMPLETE else label
