"""The stand-in for NumPy answers as NumPy does, or refuses by name."""

import json
import subprocess
import sys

import numpy
import pytest

from autograder.build.page_archive import IN_PAGE

GIVEN = (
    "x = np.array([[1, 2, 3], [4, 5, 6]]); f = np.array([[0.5, -1.0], [2.0, np.inf], [0.0, 3.25]]); v = np.arange(3)"
)
EXPRESSIONS = """
x @ x.T
x / 3
x // 2 + x % 2
x ** 2 - 2 ** x
-x
x[:, None, :].shape
x[1, -1]
x[::-1, 1:]
x[x > 2]
x[[0, 1], [1, 2]]
x[:, [2, 0]]
x[..., 0]
x.T.reshape(-1)
x.sum(axis=0, keepdims=True)
x.mean(), x.max(axis=1), x.min(), x.argmax(axis=0)
np.float32(1) / 3
np.finfo(float).min, np.finfo(np.float32).max, np.finfo(f.dtype).eps, np.finfo("float32").tiny
np.finfo(np.float64(1)).bits
f.astype(np.float32) * 0.1
np.float32(0.1) + np.array([1.0])
np.exp(f - f.max(axis=1, keepdims=True))
np.where(f == np.inf, 0.0, f)
np.isinf(f).any(), np.isfinite(f).all(axis=0)
np.nan_to_num(np.array([np.nan, np.inf, -np.inf]))
np.einsum("ij,kj->ik", x, x)
np.einsum("...ij->...ji", x)
np.einsum("ii", np.eye(3))
np.tensordot(x, x.T, axes=1), np.tensordot(x, x), np.tensordot(v, v, axes=1)
np.dot(x, v), np.inner(v, v), np.outer(v, v)
np.matmul(np.ones((2, 1, 3)), np.ones((3, 2)))
np.concatenate([x, x], axis=1)
np.stack([v, v], axis=1)
np.split(x, 3, axis=1)
np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
np.expand_dims(v, (0, 2)).shape
np.cumsum(x, axis=1), np.cumsum(x)
np.clip(f, -0.5, 1.0)
np.round(f, 1), np.trunc(f), np.sign(f)
np.maximum(x, 3), np.logaddexp.reduce(f[:, 0])
np.linalg.norm(x, axis=1)
np.tile(v, (2, 2)), np.repeat(v, 2)
np.tri(3), np.eye(2, dtype=int), np.triu(np.ones((3, 3)), 1)
np.full((2, 2), 7), np.zeros_like(f, dtype=int)
np.arange(0, 1, 0.25), np.linspace(0, 1, 5)
np.apply_along_axis(lambda r: r / r.sum(), 1, x)
np.sqrt(np.array([-1.0, 4.0])), np.log(np.array([0.0, 1.0]))
np.array([1.0, 0.0]) / 0
np.allclose(x, x + 1e-9), np.array_equal(x, x.T)
np.sort(np.array([3, 1, 2])), np.argsort(np.array([3, 1, 2]))
np.array([True, False]) & np.array([True, True]), ~np.array([True])
str(f), repr(x / 7), str(np.array([1e-5, 1.0])), repr(np.float64(0.1)), str(np.ones(3, dtype=bool))
repr(np.array([[1.5, np.nan], [-0.25, 100.0]])), repr(np.float32(0.1)), repr(np.int64(3))
np.var(x), np.std(x, axis=0), np.prod(x, axis=1)
[type(one).__name__ for one in (x[0, 0], f[0, 0], x.sum(), (x > 1)[0, 0], f.tolist()[0][0])]
x + np.array([1, 2])
x @ x
np.dot(x, x)
x.reshape(4, 2)
x[5]
x[0, 0, 0]
x.sum(axis=2)
np.array([[1, 2], [3]])
bool(x)
float(x)
np.concatenate([x, x.T])
np.stack([x, x.T])
x.transposed
np.matmull
x.__setitem__(0, [1, 2])
x.__isub__(0.5)
""".strip().split("\n")
CHANGES = """
x[0] = 9
x[:, 1] += 10
x[x > 4] = 0
x[1][2] = 7
x.T[0] = [8, 9]
x *= 2
x.fill(3)
y = x.reshape(-1); y[0] = 5
y = x.copy(); y[0] = 5
y = x[:, ::2]; y[...] = -1
""".strip().split("\n")
EVALUATE = """
import json, sys
import numpy as np
np.seterr(all="ignore")


def shown(value):
    if isinstance(value, (tuple, list)):
        return [shown(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), list(value.shape), [repr(one) for one in np.asarray(value).ravel().tolist()]]
    return repr(value)


def run(given, text, change):
    names = {"np": np}
    exec(given, names)
    try:
        if change:
            exec(text, names)
        return shown(names["x"] if change else eval(text, names))
    except Exception as error:
        return [type(error).__name__, str(error)]


given, expressions, changes = json.load(sys.stdin)
found = [[run(given, one, change) for one in texts] for texts, change in ((expressions, False), (changes, True))]
print(json.dumps([np.__file__, *found]))
"""


def evaluated(folder, expressions, changes):
    """File of the numpy that was imported, values of the expressions, and x after each change."""
    program = f"import sys; sys.path.insert(0, {str(folder)!r})\n{EVALUATE}" if folder else EVALUATE
    given = json.dumps([GIVEN, expressions, changes])
    done = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same(one, other):
    """Whether two values are alike, numbers to twelve digits."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        return float(one) == pytest.approx(float(other), rel=1e-12, nan_ok=True)
    except (TypeError, ValueError):
        return one == other


def test_expressions_and_changes_come_out_as_with_numpy():
    ours, page = evaluated(None, EXPRESSIONS, CHANGES), evaluated(IN_PAGE, EXPRESSIONS, CHANGES)
    assert ours[0] == numpy.__file__ and page[0].startswith(str(IN_PAGE))
    wrong = []
    for texts, there, here in ((EXPRESSIONS, ours[1], page[1]), (CHANGES, ours[2], page[2])):
        wrong += [f"{t}: {a} != {b}" for t, a, b in zip(texts, there, here, strict=True) if not same(a, b)]
    assert wrong == []


def test_what_it_cannot_do_it_refuses_by_name():
    _, values, _ = evaluated(IN_PAGE, ["np.fft", "x.partition(1)", "np.zeros(2, dtype=complex)"], [])
    for name, value in zip(("np.fft", ".partition", "complex"), values, strict=True):
        assert "stand-in for NumPy" in value[1] and name in value[1] and "Colab" in value[1]


def test_the_names_that_it_tells_from_misspelled_ones_are_numpys():
    sys.path.insert(0, str(IN_PAGE / "numpy"))
    try:
        import _names
    finally:
        sys.path.remove(str(IN_PAGE / "numpy"))
    assert {name for name in dir(numpy.ndarray) if name[0] != "_"} == _names.METHODS
    assert {"einsum", "fft", "percentile"} <= _names.NAMES and "matmull" not in _names.NAMES
