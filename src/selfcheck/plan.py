"""The form of a check: seeded inputs, the calls to make, and what of the answer is compared.

A check holds no expected value: the same calls made on the reference give it. For example::

    @check("masks.causal_mask", sees="the future is hidden")
    def causal_square(rng):
        return call(query_length=rng.integer(2, 9))

The function's name is the check's name; its points stand in the catalogue. It returns one step or a
list of steps and draws every input from `rng`. A step is a call of the exercise's own function or,
where the exercise is a class, an object that is built, given its state and used::

    built(call(6, num_heads=2), call(x, x, x), state=rng.state({"q_proj.weight": (6, 6), ...}))
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .arrays import Array, array, pack
from .objects import KINDS, LOSSES

__all__ = [
    "Built",
    "Call",
    "Check",
    "Draw",
    "built",
    "call",
    "check",
    "checks_in",
    "dtype",
    "generator",
    "iterator",
    "lessons",
    "linears",
    "loss",
    "method",
    "ndarray",
    "network",
    "optimizer",
    "refused",
    "score",
    "tensor",
    "torch_attention",
]

ASPECTS = ("values", "dtype", "gradient", "unchanged", "error", "parameters", "state", "kept", "generator", "memory")
Make = TypeVar("Make", bound=Callable[..., Any])


class Draw(random.Random):
    """A seeded source of small, readable inputs: numbers with two decimals, sizes that differ."""

    def integer(self, low: int, high: int) -> int:
        """An int from low to high - 1."""
        return self.randrange(low, high)

    def sizes(self, count: int, low: int = 2, high: int = 9) -> list[int]:
        """Distinct sizes, so that a swapped axis cannot pass unseen."""
        return self.sample(range(low, high), count)

    def normal(self, *shape: int) -> Any:
        """Nested lists of standard normal numbers, rounded to two decimals."""
        return self._nested(shape, lambda: round(self.gauss(0.0, 1.0), 2))

    def integers(self, *shape: int, low: int = 0, high: int = 10) -> Any:
        """Nested lists of ints from low to high - 1."""
        return self._nested(shape, lambda: self.randrange(low, high))

    def booleans(self, *shape: int, share: float = 0.6) -> Any:
        """Nested lists of booleans, each True with probability `share`."""
        return self._nested(shape, lambda: self.random() < share)

    def tensor(self, *shape: int, dtype: str = "float64") -> Array:
        """A tensor of standard normal numbers, rounded to two decimals."""
        return tensor(self.normal(*shape), dtype)

    def state(self, shapes: dict[str, tuple[int, ...]], dtype: str = "float64", scale: float = 1.0) -> dict[str, Array]:
        """Parameters of a module by their names: normal numbers of deviation `scale`, rounded to two decimals."""

        def draw() -> float:
            return round(self.gauss(0.0, scale), 2)

        return {name: tensor(self._nested(shape, draw), dtype) for name, shape in shapes.items()}

    def _nested(self, shape: tuple[int, ...], draw: Callable[[], Any]) -> Any:
        if not shape:
            return draw()
        return [self._nested(shape[1:], draw) for _ in range(shape[0])]


@dataclass(frozen=True)
class Call:
    """One call, of the exercise's function or of an object that was built: arguments by position and by name.

    method: of a built object, the method that is called; "" for the object itself
    refused: of a built object, whether this use should raise ValueError and the object be used further
    """

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    method: str = ""
    refused: bool = False

    def packed(self) -> dict[str, Any]:
        """The call as a JSON tree for the runner."""
        return {
            "args": [_pack_argument(argument) for argument in self.args],
            "kwargs": {name: _pack_argument(argument) for name, argument in self.kwargs.items()},
        }


@dataclass(frozen=True)
class Built:
    """An object of the exercise's class: how it is made, its state, and how it is used."""

    construct: Call
    uses: tuple[Call, ...] = ()
    state: dict[str, Array] = field(default_factory=dict)
    training: bool = False
    lessons: dict[str, Any] = field(default_factory=dict)

    def packed(self) -> dict[str, Any]:
        """The step as a JSON tree for the runner."""
        found = {
            "construct": self.construct.packed(),
            "state": {name: pack(value) for name, value in self.state.items()},
            "training": self.training,
            "uses": [
                {"method": use.method, **use.packed()} | ({"refused": True} if use.refused else {}) for use in self.uses
            ],
        }
        return found | ({"lessons": self.lessons} if self.lessons else {})


@dataclass(frozen=True)
class Check:
    """One mechanism of one exercise."""

    exercise: str
    name: str
    sees: str
    make: Callable[[Draw], Call | Built | list[Call | Built]]
    compares: tuple[str, ...] = ("values",)
    tolerance: float = 1e-5
    view: Callable[[dict[str, Any], Any], Any] | None = None
    points: int = 0  # of a hidden check; a visible one's stand in the catalogue
    problem_set: str | None = None  # of a hidden check of an id that has two parts
    given: bool = False  # whether an answer that does nothing passes: then it counts beside another check alone

    def calls(self, seed: int) -> list[dict[str, Any]]:
        """The packed steps that this check makes for a seed."""
        made = self.make(Draw(seed))
        more = {"memory": True} if "memory" in self.compares else {}
        return [one.packed() | more for one in (made if isinstance(made, list) else [made])]


_found: dict[str, list[Check]] = {}


def check(
    exercise: str,
    sees: str,
    compares: str | tuple[str, ...] = "values",
    tolerance: float = 1e-5,
    view: Callable[[dict[str, Any], Any], Any] | None = None,
    points: int = 0,
    problem_set: str | None = None,
    given: bool = False,
) -> Callable[[Make], Make]:
    """Register a check of an exercise.

    exercise: its id, "module.symbol"; sees: what is right when the check passes, as a short clause
    compares: "values" (structure, shape, finiteness and entries), "dtype", "gradient" (of a fixed weighted sum of all
        outputs, for every floating tensor argument and parameter), "unchanged" (the arguments and parameters), "error"
        (the kind of exception), "parameters" (names and shapes in a built module's state dict), "state" (what became of
        the modules among the arguments), "kept" (whether these still have their own parameters, which learn),
        "generator" (whether random numbers came from the generator among the arguments), "memory" (the largest tensor
        made on the way has at most eight times as many entries as the reference's)
    tolerance: an entry may differ by tolerance · (1 + |expected|); 1e-5 lets float32 arithmetic pass
    view: view(call, value) brings several right answers to one form before they are compared
    points: of a hidden check; problem_set: of a hidden check, where the exercise's id has two parts
    given: whether an answer that does nothing passes, zeros or an argument handed back: such checks earn points only
        where another check of the exercise passes
    """
    aspects = (compares,) if isinstance(compares, str) else compares
    unknown = set(aspects) - set(ASPECTS)
    if unknown:
        raise ValueError(f"compares must be among {ASPECTS}, got {sorted(unknown)}")

    def register(make: Make) -> Make:
        found = Check(exercise, make.__name__, sees, make, aspects, tolerance, view, points, problem_set, given)
        known = _found.setdefault(make.__module__, [])
        if any(other.name == found.name for other in known):
            raise ValueError(f"two checks in {make.__module__} are named {found.name}")
        known.append(found)
        return make

    return register


def checks_in(module: str) -> list[Check]:
    """The checks that a Python module registers, in the order of their definition."""
    importlib.import_module(module)
    return list(_found.get(module, []))


def call(*args: Any, **kwargs: Any) -> Call:
    """A call of the exercise's function; arguments are numbers, None, nested lists, `tensor`, `ndarray` or `dtype`."""
    return Call(args, kwargs)


def built(
    construct: Call,
    *uses: Call,
    state: dict[str, Array] | None = None,
    training: bool = False,
    lessons: dict[str, Any] | None = None,
) -> Built:
    """An object of the exercise's class, made by `construct`, in evaluation mode unless `training`, then used.

    uses: calls of the object, or of a `method`; the answer is the result, or a tuple of several. Without any the
        answer is None: of use where "parameters" are compared, or an "error" is due
    state: every parameter by its name in the state dict; its dtype becomes the module's. Without it the module keeps
        what it began with, and a view has to look at what holds for any parameters
    lessons: what the module is trained on before it is used
    """
    return Built(construct, uses, state or {}, training, lessons or {})


def lessons(*inputs: Array, target: Array, loss: str, steps: int, rate: float, tries: int = 1) -> dict[str, Any]:
    """Training of a built module: that many steps of Adam with learning rate `rate` on one batch (*inputs, target).

    tries: how often it is built anew and trained, until it has learnt every row: parameters are drawn at random, and a
        few draws are stuck for long
    """
    _known("loss", loss, LOSSES)
    packed = [pack(one) for one in inputs]
    found = {"inputs": packed, "target": pack(target), "loss": loss, "steps": steps, "rate": rate}
    return found | ({"tries": tries} if tries > 1 else {})


def method(name: str, *args: Any, **kwargs: Any) -> Call:
    """A call of a method of a built object."""
    return Call(args, kwargs, name)


def refused(use: Call) -> Call:
    """A use of a built object that should raise ValueError; it adds nothing to the answer, and the next uses follow."""
    return replace(use, refused=True)


def linears(names: tuple[str, ...], d_in: int, d_out: int, bias: bool, state: dict[str, Array]) -> dict[str, Any]:
    """A module argument that holds linear layers d_in → d_out under the names, with their parameters."""
    packed = {name: pack(value) for name, value in state.items()}
    return {
        "kind": "module",
        "type": "linears",
        "names": list(names),
        "widths": [d_in, d_out],
        "bias": bias,
        "state": packed,
    }


def torch_attention(bias: bool, state: dict[str, Array], **sizes: int) -> dict[str, Any]:
    """A module argument that is torch's nn.MultiheadAttention; sizes: embed_dim, num_heads, and kdim or vdim."""
    packed = {name: pack(value) for name, value in state.items()}
    return {"kind": "module", "type": "nn.MultiheadAttention", "sizes": sizes, "bias": bias, "state": packed}


def network(
    inputs: tuple[int, ...],
    hidden: int,
    outputs: int,
    state: dict[str, Array],
    dropout: float = 0.0,
    stale: bool = False,
    training: bool = True,
    shows_mode: bool = False,
) -> dict[str, Any]:
    """A module argument that takes as many tensors as `inputs` has widths: output(dropout(tanh(Σ inputs[i](x_i)))).

    state: inputs.0.weight (hidden, inputs[0]), inputs.0.bias, …, output.weight (outputs, hidden), output.bias
    stale: whether its parameters have gradients already, all 1; training: its mode
    shows_mode: whether its state shows the mode as well
    """
    more = {"shows_mode": True} if shows_mode else {}
    return {
        "kind": "module",
        "type": "network",
        "inputs": list(inputs),
        "hidden": hidden,
        "outputs": outputs,
        "dropout": dropout,
        "stale": stale,
        "training": training,
        "state": {name: pack(value) for name, value in state.items()},
        **more,
    }


def optimizer(of: str, rate: float) -> dict[str, Any]:
    """An argument that is torch.optim.SGD for the module argument named `of`: "0" by position, or its keyword."""
    return {"kind": "optimizer", "of": of, "rate": rate}


def loss(name: str) -> dict[str, Any]:
    """An argument that is a loss function of torch.nn.functional."""
    _known("loss", name, LOSSES)
    return {"kind": "loss", "name": name}


def score(name: str, *weights: Array) -> dict[str, Any]:
    """An argument that is a score function: "dot", "scaled", "bilinear" (weight), "additive" (w1, w2)."""
    _known("score", name, ("dot", "scaled", "bilinear", "additive"))
    return {"kind": "score", "name": name, "items": [pack(one) for one in weights]}


def generator(seed: int) -> dict[str, Any]:
    """An argument that is a torch.Generator with this seed."""
    return {"kind": "generator", "seed": seed}


def iterator(*items: Array) -> dict[str, Any]:
    """An argument that gives the tensors one after the other, once."""
    return {"kind": "iterator", "items": [pack(one) for one in items]}


def tensor(values: Any, dtype: str | None = None) -> Array:
    """A torch tensor argument from nested lists."""
    return array(values, "tensor", dtype)


def ndarray(values: Any, dtype: str | None = None) -> Array:
    """A NumPy array argument from nested lists."""
    return array(values, "ndarray", dtype)


def dtype(name: str) -> dict[str, str]:
    """A torch dtype argument, by its name: dtype("float16")."""
    return {"kind": "dtype", "value": name}


def _known(what: str, name: str, names: tuple[str, ...]) -> None:
    if name not in names:
        raise ValueError(f"{what} must be one of {', '.join(names)}, got {name!r}")


def _pack_argument(argument: Any) -> dict[str, Any]:
    if isinstance(argument, dict) and argument.get("kind") in ("dtype", "module", *KINDS):
        return argument
    return pack(argument)
