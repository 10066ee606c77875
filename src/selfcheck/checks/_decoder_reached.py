"""Views on which parameters of a model a gradient of its logits reaches."""

import math

from selfcheck.arrays import Array, array, unpack

from ._decoder_inputs import form, logits, reached_in_layers, rows_of


def added_and_normalised(step, answer):
    """As `reached_in_layers`; 2 where it is the norms of layers that a gradient reaches, and no matrix.

    Where all is dropped that layers add, zeros come to the last norm of a pre-norm model, and its bias alone counts. A
    norm on the way makes something else of them.
    """
    found = reached_in_layers(step, answer)
    if not isinstance(answer, Array) or len(answer.shape) != 2 or found.values()[0]:
        return found
    *vocabs, _, _, _, _ = (unpack(tree) for tree in step["construct"]["args"])
    norms = sum(axes == 1 and rows not in vocabs and reached > 0 for axes, rows, reached in answer.nested())
    return array(2 if norms > 1 else 0)


def form_of_words(step, answer):
    """As `form`, with 1 for a token whose logits alone are 0 everywhere: that of a row of zeros in the table."""
    rows = rows_of(answer)
    if not rows:
        return form(step, answer)
    silent = [not any(column) for column in zip(*rows, strict=True)]
    plain = form(step, answer)
    if all(silent):  # a table that begins with zeros
        return plain
    flat = [float(silent[i % len(silent)]) if value == 0 else value for i, value in enumerate(plain.values())]
    return Array(plain.kind, "float64", plain.shape, array(flat, dtype="float64").data)


def no_shares(step, answer):
    """As `logits`, and 1 where no row is made of logarithms of probabilities."""
    found, rows = logits(step, answer), rows_of(answer)
    if rows is None:
        return found
    logarithms = [max(row) < 1e-3 and abs(sum(map(math.exp, row)) - 1) < 1e-3 for row in rows]
    return array([*found.values(), int(not any(logarithms))])
