"""Carries out the steps of a check: a call of a function, or a class that is built, given its state and used.

It knows the steps and nothing else. What it returns are plain JSON trees.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import Any

from . import elsewhere, held, numpy_forms, objects
from .arrays import pack, revive, unpacked
from .largest import largest_counted
from .module_state import (
    StateMismatch,
    buffers_of,
    learnt_entries,
    made_with_shapes,
    packed_state,
    parameters_of,
    put_back,
    reached,
    set_state,
    shares_memory,
    stir,
    under_two_names,
)
from .printed import Printed, quiet
from .teaching import of_a_try, teach
from .traces import describe

Tell = Callable[[BaseException], dict[str, Any]]


class NotRefused(Exception):
    """A learner's object took what it should have refused."""


def carry_out(
    symbol: Callable[..., Any],
    step: dict[str, Any],
    gradient: bool,
    contained: bool = True,
    memory: Any = None,
    tell: Tell | None = None,
) -> dict[str, Any]:
    """What somebody's function or class answers to one step: value, gradients, what changed, or the error it raised.

    contained: whether what it prints is collected and its warnings are silenced. Both change the whole process: False
        is for our own code, which prints nothing, beside threads that print.
    memory: of the grader's own, for the arguments that the step has there (see held.py)
    tell: makes plain text of an exception; None for `traces.describe`
    """
    objects.seed_torch()
    printed = Printed()
    facts: dict[str, Any] = {}
    given = Given(memory, step.get("held"))
    try:
        with quiet(printed) if contained else contextlib.nullcontext(), objects.usual_settings():
            if "construct" in step:
                returned = _use(symbol, step, given, gradient, facts)
            else:
                args, kwargs = given.take(step)
                given.watch(gradient)
                with largest_counted(step, facts):
                    if step.get("elsewhere"):
                        elsewhere.ask(symbol, args, kwargs)
                    if states := step.get("generators"):
                        made = objects.generators(states)
                        returned = tuple(symbol(*args, generator=generator, **kwargs) for generator in made)
                    elif times := step.get("times"):
                        returned = tuple(symbol(*args, **kwargs) for _ in range(times))
                    else:
                        returned = symbol(*args, **kwargs)
                    returned = objects.quotient(returned) if step.get("quotient") else returned
            returned = unpacked(returned)
            facts["value"] = numpy_forms.packed(returned, step)
            if gradient:
                facts["gradients"] = _gradients(returned, given.floating)
            if given.modules:
                facts["states"] = {name: packed_state(module) for name, module in given.modules.items()}
                facts["lost"] = facts.get("lost", {}) | given.lost()
            if given.generators:
                facts["drawn"] = given.drawn()
    except (Exception, SystemExit) as error:
        facts["error"] = (tell or describe)(error)
    facts["changed"] = given.changed()
    if printed.getvalue():
        facts["printed"] = printed.getvalue()
    return facts


class Given:
    """The values that a step hands to a learner's code, by name, and what they were."""

    def __init__(self, memory: Any = None, places: dict[str, int] | None = None) -> None:
        """memory: for the arguments that have a place there; places: of these, by name"""
        self._memory, self._places = memory, places or {}
        self.trees: dict[str, tuple[dict[str, Any], Any]] = {}
        self.floating: dict[str, Any] = {}
        self.modules: dict[str, Any] = {}
        self.parameters: dict[str, dict[str, Any]] = {}  # of the modules, as they were
        self.generators: dict[str, tuple[Any, Any]] = {}  # with their state, torch's own among them
        self.named: dict[tuple[str, str], Any] = {}  # what several uses share
        self.built: Any = None
        self.seed = objects.torchs_seed()  # as it was before what counts

    def take(self, call: dict[str, Any], prefix: str = "") -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, fresh; they are named by position or keyword behind the prefix."""
        args = [self._one(f"{prefix}{position}", tree) for position, tree in enumerate(call["args"])]
        kwargs = {name: self._one(prefix + name, tree) for name, tree in call["kwargs"].items()}
        return args, kwargs

    def _one(self, name: str, tree: dict[str, Any]) -> Any:
        if tree["kind"] == "module":
            return self._module(name, tree)
        if tree["kind"] in objects.KINDS:
            if tree["kind"] in ("cache", "made"):
                return self._named(tree)
            items = [self._one(f"{name}[{number}]", item) for number, item in enumerate(tree.get("items", []))]
            made = objects.other(tree, items, self.modules)
            if tree["kind"] == "generator":
                torchs = sys.modules["torch"].default_generator
                self.generators = {
                    source_name: (source, source.get_state()) for source_name, source in ((name, made), ("", torchs))
                }
            return made
        value = revive(tree, self._room(name))
        self.trees[name] = (tree, value)
        if tree["kind"] == "tensor" and "float" in tree["dtype"]:
            self.floating[name] = value
        return value

    def _room(self, name: str) -> held.Room | None:
        """The place of an argument in the memory that is given, where it has one there."""
        is_held = self._memory is not None and name in self._places
        return held.Room(self._memory, self._places[name]) if is_held else None

    def _named(self, tree: dict[str, Any]) -> Any:
        """What is made once for all uses that name it."""
        key = tree["kind"], tree["name"]
        if key not in self.named:
            is_made = tree["kind"] == "made"
            self.named[key] = getattr(self.built, tree["method"])() if is_made else objects.other(tree, [], {})
        return self.named[key]

    def _module(self, name: str, tree: dict[str, Any]) -> Any:
        made = objects.module(tree)
        set_state(made, tree["state"])
        for parameter in made.parameters() if tree.get("stale") else ():
            parameter.grad = parameter.detach().clone().fill_(1.0)
        made.train(tree.get("training", True))
        self.modules[name] = made
        self.parameters[name] = parameters_of(made)
        return made

    def drawn(self) -> dict[str, bool]:
        """Which generators gave random numbers: those among the arguments by name, torch's own as ""."""
        return {name: not bool((source.get_state() == was).all()) for name, (source, was) in self.generators.items()}

    def watch(self, gradient: bool) -> None:
        """Record what happens to the floating tensors, where gradients are asked."""
        for value in self.floating.values() if gradient else ():
            value.requires_grad_(True)

    def changed(self) -> list[str]:
        """The names of the values that are no longer what they were, torch's seed among them."""
        names = [name for name, (tree, value) in self.trees.items() if pack(value) != tree]
        return names + ([objects.TORCHS_SEED] if self.seed not in (None, objects.torchs_seed()) else [])

    def lost(self) -> dict[str, dict[str, str]]:
        """For each module, its parameters that are "shared" with another, "replaced" or "frozen" by now."""
        lost: dict[str, dict[str, str]] = {}
        for argument, module in self.modules.items():
            others = [
                parameter for name, held in self.parameters.items() if name != argument for parameter in held.values()
            ]
            now = parameters_of(module)
            lost[argument] = {}
            for name, was in self.parameters[argument].items():
                parameter = now.get(name)
                if parameter is None:
                    continue
                if shares_memory(parameter, others):
                    lost[argument][name] = "shared"
                elif parameter is not was:
                    lost[argument][name] = "replaced"
                elif not parameter.requires_grad:
                    lost[argument][name] = "frozen"
        return lost


def _use(symbol: Callable[..., Any], step: dict[str, Any], given: Given, gradient: bool, facts: dict[str, Any]) -> Any:
    """Build an object of the class, set its state and use it: its result, a tuple of several, or None."""
    built, own = build(symbol, step, given, facts)
    others = [_other(symbol, step, use, given) if "construct" in use else built for use in step["uses"]]
    given.built, given.seed, uses = built, objects.torchs_seed(), []  # whoever builds may begin at a seed
    for position, (used, use) in enumerate(zip(others, step["uses"], strict=True)):
        prefix = f"{position}." if len(step["uses"]) > 1 else ""
        uses.append((used, use, *given.take(use, prefix)))
    given.watch(gradient)
    for name, tree in step["state"].items():
        given.trees[f"state.{name}"] = (tree, own[name])
        if own[name].requires_grad:
            given.floating[f"state.{name}"] = own[name]
    results = []
    is_model = step["training"] and (step.get("lessons") or step.get("stirred"))
    buffers = buffers_of(built) if is_model else {}  # some move in training by themselves, as those of a spectral norm
    with largest_counted(step, facts):
        for number, (used, *use) in enumerate(uses, start=1):
            if buffers:
                put_back(used, buffers)
            results += _used(used, number, *use)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _other(symbol: Callable[..., Any], step: dict[str, Any], use: dict[str, Any], given: Given) -> Any:
    """The object that a use has in the place of the first: made as the use says, from the same seed."""
    objects.seed_torch()
    return build(symbol, step | {"construct": use["construct"]}, given, {})[0]


def build(symbol: Callable[..., Any], step: dict[str, Any], given: Given, facts: dict[str, Any]) -> tuple[Any, Any]:
    """An object of the class as a step describes it, its state set and its lessons taught, and its own parameters."""
    args, kwargs = given.take(step["construct"], "construct.")
    lessons, own = step.get("lessons"), {}
    for number in range(lessons.get("tries", 1) if lessons else 1):
        given_now = of_a_try(lessons, number) if lessons else None
        built = made_with_shapes(functools.partial(symbol, *args, **kwargs), (*args, *kwargs.values()))
        if not hasattr(built, "state_dict"):
            break
        own = set_state(built, step["state"])
        facts["parameters"] = {name: list(value.shape) for name, value in own.items()}
        facts |= under_two_names(own) if step["state"] else {}  # who names the parameters may tie one to another
        if not given_now or teach(built, **given_now):
            break
    if hasattr(built, "state_dict"):
        built.train(step["training"])
    elif step["state"] or lessons:
        raise StateMismatch("what was built is no nn.Module, so it has no parameters")
    if step.get("stirred"):
        stir(built, step["stirred"])
    return built, own


def _used(built: Any, number: int, use: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
    """The result of one use, in a list; nothing where it was to be refused and was."""
    if use["method"] == ":entries":
        return [learnt_entries(built, *([built(*args, **kwargs)] if args else []))]
    if use["method"] == ":gradients":
        logits = built(*args, **kwargs)
        return [reached(built, logits[..., use["tokens"]] if "tokens" in use else logits)]
    if use["method"].startswith("."):
        return [getattr(built, use["method"][1:])]
    function = getattr(built, use["method"]) if use["method"] else built
    if not use.get("refused"):
        return [function(*args, **kwargs)]
    with contextlib.suppress(ValueError):
        function(*args, **kwargs)
        raise NotRefused(f"call {number} cannot be answered and should raise ValueError, but an answer came back")
    return []


def _gradients(returned: Any, floating: dict[str, Any]) -> dict[str, Any]:
    """The gradients of a fixed weighted sum of every floating output; None where none arrives."""
    import torch

    outputs = [out for out in _leaves(returned) if isinstance(out, torch.Tensor)]
    outputs = [out for out in outputs if out.is_floating_point() and out.requires_grad]
    if not outputs:
        return {name: pack(None) for name in floating}
    total = sum((out.double() * _weights(out)).sum() for out in outputs)
    for value in floating.values():
        value.grad = None
    total.backward()  # as in training: a checkpoint of the older kind knows no autograd.grad
    return {name: pack(value.grad) for name, value in floating.items()}


def _leaves(returned: Any) -> list[Any]:
    returned = unpacked(returned)
    return [leaf for part in returned for leaf in _leaves(part)] if isinstance(returned, (tuple, list)) else [returned]


def _weights(out: Any) -> Any:
    """Weights of both signs, no two neighbours alike, so that no gradient cancels by symmetry."""
    import torch

    return ((torch.arange(out.numel()) * 7 + 3) % 11 - 5).double().reshape(out.shape) / 5
