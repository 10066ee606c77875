"""Inputs of the checks of the masks."""

from selfcheck.plan import Draw


def mixed_rows(rng: Draw, *shape: int):
    """Nested booleans whose rows each hold False, True and, where there is room, True once more; any shape."""
    if len(shape) > 1:
        return [mixed_rows(rng, *shape[1:]) for _ in range(shape[0])]
    sure = [True, False, True][: shape[0]]
    row = sure + rng.booleans(shape[0] - len(sure))
    rng.shuffle(row)
    return row
