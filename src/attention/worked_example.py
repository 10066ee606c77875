# Generated: write your answers where it raises NotImplementedError. As it was handed out: e154420d7367
"""Self-attention on arrays small enough to check by hand.

Every argument and every result is array-like: nested lists, tuples or NumPy arrays. Row vectors:
one token is one row. L is the number of queries, S the number of keys.
"""

__all__ = ["EXAMPLE", "dot_scores", "project", "self_attention", "softmax", "weighted_sum"]

#: The running example of the course: three tokens, four features each, two heads three wide, six hidden units.
EXAMPLE = {
    "inputs": [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]],
    "w_query": [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]],
    "w_key": [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]],
    "w_value": [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]],
    "w_query2": [[0, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]],
    "w_key2": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]],
    "w_value2": [[1, 0, 0], [0, 1, 1], [0, 2, 0], [1, 0, 1]],
    "w_output": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]],
    "w_ff1": [[1, 0, -1, 0, 1, 0], [0, 1, 0, -1, 1, 1], [1, 0, 1, 0, 0, -1], [0, 1, 0, 1, 0, -1]],
    "b_ff1": [1, 0, 1, 2, -1, 1],
    "w_ff2": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, -1], [0, -1, 1, 0]],
    "b_ff2": [0, 1, 0, -1],
}


def project(inputs, w_query, w_key, w_value) -> tuple:
    """X W_Q, X W_K and X W_V: what each token asks, offers and carries.

    inputs: (L, d_in); w_query, w_key: (d_in, d); w_value: (d_in, d_v)
    Returns queries (L, d), keys (L, d) and values (L, d_v).
    Raises ValueError where the shapes do not fit.
    Source: Vaswani et al. 2017, section 3.2.2, for one head.
    """
    _, d_in = _matrix_shape("inputs", inputs)
    for name, weight in (("w_query", w_query), ("w_key", w_key), ("w_value", w_value)):
        rows, columns = _matrix_shape(name, weight)
        if rows != d_in:
            raise ValueError(
                f"{name} must have one row per input feature, {d_in}, got shape {(rows, columns)}; transpose it?"
            )
    _check_same_width("w_query", w_query, "w_key", w_key)
    raise NotImplementedError("exercise 2.1: Queries, keys and values")


def dot_scores(queries, keys):
    """Q Kᵀ: how well each query fits each key.

    queries: (L, d); keys: (S, d)
    Returns scores (L, S): entry (i, j) is the dot product of query i with key j.
    Raises ValueError where the last dimensions differ.
    """
    _check_same_width("queries", queries, "keys", keys)
    raise NotImplementedError("exercise 2.2: Dot-product scores by hand")


def softmax(scores, axis=-1):
    """exp(s) / Σ exp(s) along an axis: positive weights that sum to 1.

    scores: an array of any shape; -inf means "no weight here"
    axis: the axis along which the weights sum to 1
    Returns weights of the same shape. Scores of ±1e4 neither overflow nor give NaN; a slice that
    is -inf throughout gives zeros.
    Raises ValueError where scores has no such axis.
    """
    shape = _shape("scores", scores)
    if not shape:
        raise ValueError("scores must have at least one axis, got a single number; put it in a list?")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(
            f"axis must lie between {-len(shape)} and {len(shape) - 1} for scores of shape {shape}, got {axis}"
        )
    raise NotImplementedError("exercise 2.3: A stable softmax")


def weighted_sum(weights, values):
    """A V: for each query, the mean of the values under its weights.

    weights: (L, S); values: (S, d_v)
    Returns outputs (L, d_v): row i is the sum over j of weights[i, j] times value row j.
    Raises ValueError where weights has not one column per value row.
    """
    weights_shape = _matrix_shape("weights", weights)
    values_shape = _matrix_shape("values", values)
    if weights_shape[1] != values_shape[0]:
        raise ValueError(
            f"weights must have one column per value, {values_shape[0]}, got shape {weights_shape}; transpose it?"
        )
    raise NotImplementedError("exercise 2.4: The weighted sum of values")


def self_attention(inputs, w_query, w_key, w_value, scale=False) -> tuple:
    """softmax(Q Kᵀ) V, or softmax(Q Kᵀ / √d) V with scale=True.

    inputs: (L, d_in); w_query, w_key: (d_in, d); w_value: (d_in, d_v)
    scale: divide the scores by the square root of d, the width of a key
    Returns outputs (L, d_v) and weights (L, L), rows summing to 1.
    Raises ValueError where the shapes do not fit.
    Source: Vaswani et al. 2017, eq. 1.
    """
    _check_same_width("w_query", w_query, "w_key", w_key)
    raise NotImplementedError("exercise 2.5: Self-attention")


def _shape(name: str, array) -> tuple[int, ...]:
    """The shape of an array-like, without NumPy; ValueError where its rows differ in length."""
    if hasattr(array, "shape"):
        return tuple(array.shape)
    if not isinstance(array, (list, tuple)):
        if isinstance(array, (str, bytes, dict, set)) or array is None:
            raise TypeError(f"{name} must hold numbers, got {type(array).__name__}")
        return ()
    inner = {_shape(name, row) for row in array}
    if len(inner) > 1:
        raise ValueError(f"{name} must have rows of one length, got rows of shapes {sorted(inner)}")
    return (len(array), *(inner.pop() if inner else ()))


def _matrix_shape(name: str, array) -> tuple[int, int]:
    """The (rows, columns) of a matrix; ValueError for anything else."""
    shape = _shape(name, array)
    if len(shape) != 2:
        raise ValueError(f"{name} must be a matrix (rows, columns), got shape {shape}")
    return shape[0], shape[1]


def _check_same_width(first_name: str, first, second_name: str, second) -> None:
    first_shape, second_shape = _matrix_shape(first_name, first), _matrix_shape(second_name, second)
    if first_shape[1] != second_shape[1]:
        raise ValueError(
            f"{first_name} and {second_name} must have the same number of columns, "
            f"got shapes {first_shape} and {second_shape}; transpose one of them?"
        )
