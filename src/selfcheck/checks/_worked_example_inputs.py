"""Inputs of the checks of the worked example."""

from selfcheck.arrays import Array, array

# The numbers of the running example; a test compares them with attention.worked_example.EXAMPLE.
INPUTS = [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
W_QUERY = [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
W_KEY = [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
W_VALUE = [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]
QUERIES = [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
KEYS = [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
VALUES = [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
SCORES = [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
WEIGHTS = [[0.0634, 0.4683, 0.4683], [0.0, 0.982, 0.018], [0.0003, 0.8805, 0.1192]]  # softmax of SCORES, rounded


def small(rng, rows, columns, size=0.3):
    """A matrix of small numbers: products of such matrices stay in the range where a softmax is not one-hot."""
    return [[round(size * number, 2) for number in row] for row in rng.normal(rows, columns)]


def shares(rng, rows, columns):
    """Positive weights whose rows sum to 1, no two alike in a row."""
    drawn = [rng.sample(range(1, max(20, 2 * columns)), columns) for _ in range(rows)]
    return [[number / sum(row) for number in row] for row in drawn]


def rotations(row):
    """A square matrix whose rows and whose columns all hold the same numbers, so that the axis makes no difference."""
    return [row[-shift:] + row[:-shift] for shift in range(len(row))]


def part(positions, count):
    """A view of some of `count` results, so that a check sees them alone; a lone matrix is left as it is."""

    def view(step, value):
        if isinstance(value, Array) and len(value.shape) == 3:
            value = [array(matrix) for matrix in value.nested()]
        return value[positions] if isinstance(value, (tuple, list)) and len(value) == count else value

    return view
