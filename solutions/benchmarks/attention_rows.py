"""Self-attention by every variant: gate, time and memory, one row per variant, shape and pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from . import variants as ways
from .apart import run_apart
from .cost import PASSES, Shape
from .exact import answers_at, answers_of, checked_rows
from .gate import error, pass_gate
from .memory import peak_above
from .timing import Timing, cuda_seconds

FORWARD, BACKWARD, BOTH = PASSES


@dataclass(frozen=True)
class Group:
    """Variants that are timed in turn, at one shape: names, which of them backward too, seconds to spend on rounds."""

    shape: Shape
    causal: bool
    dtype: str
    names: tuple[str, ...]
    backward: tuple[str, ...] = ()
    seconds: float = 3.0
    least: int = 3
    most: int = 15
    device: str = "cpu"


def inputs(group: Group) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Random query, key, value and upstream gradient, the same for every variant."""
    shape = group.shape
    draw = torch.Generator(group.device).manual_seed(0)
    sizes = 4, shape.batch, shape.heads, shape.length, shape.width
    return torch.randn(*sizes, generator=draw, device=group.device).to(getattr(torch, group.dtype)).unbind()


def time_group(group: Group, variants: Mapping[str, ways.Variant] | None = None) -> list[dict[str, Any]]:
    """Every variant through the gate, then all of them in turn.

    variants: others in place of those of the device
    Returns rows without memory. Raises GateError where an answer is wrong; then nothing is timed.
    """
    variants = variants or (ways.on_gpu() if group.device == "cuda" else ways.on_cpu())
    query, key, value, upstream = inputs(group)
    rows_checked = checked_rows(group.shape.length)
    exact, baseline = (
        answers_at(rows_checked, query, key, value, upstream, group.causal, dtype)
        for dtype in (torch.float64, query.dtype)
    )
    functions = {name: variants[name].make(group.causal) for name in group.names}
    errors, refused = {}, {}
    for name in list(functions):
        backward = name in group.backward
        parts = exact if backward else {"output": exact["output"]}
        try:
            answers = answers_of(functions[name], rows_checked, query, key, value, upstream, backward)
        except (torch.OutOfMemoryError, RuntimeError, NotImplementedError) as reason:
            if group.device != "cuda" or not (name.startswith("SDPA ") or isinstance(reason, torch.OutOfMemoryError)):
                raise
            del functions[name]
            short = isinstance(reason, torch.OutOfMemoryError)
            refused[name] = "out of memory" if short else str(reason).splitlines()[0][:200]
            continue
        errors[name] = pass_gate(name, answers, baseline, parts)
    timings = _time_in_turn(functions, group, query, key, value, upstream)
    found = []
    for (name, pass_), timing in timings.items():
        taken = ["output"] if pass_ == FORWARD else list(exact)
        found.append(
            _row(group, name, pass_, _backend(group, variants[name], name, query, key, value))
            | {
                "seconds": {"median": timing.median, "quartiles": timing.quartiles, "rounds": len(timing.seconds)},
                "error": max(errors[name][part] for part in taken),
                "baseline_error": max(error(baseline[part], exact[part]) for part in taken),
                "exact_rows": len(rows_checked),
                "checked": "output" if pass_ == FORWARD else "output, gradients",
            }
        )
    return found + [
        _row(group, name, FORWARD, variants[name].backend) | {"refused": why} for name, why in refused.items()
    ]


def _row(group: Group, name: str, pass_: str, backend: str | None) -> dict[str, Any]:
    row = {"what": "attention", "variant": name, "pass": pass_, "dtype": group.dtype, "causal": group.causal}
    empty = dict.fromkeys(("seconds", "error", "baseline_error", "exact_rows", "checked", "peak_bytes"))
    return row | asdict(group.shape) | {"backend": backend} | empty


def _backend(group: Group, variant: ways.Variant, name: str, *tensors: Tensor) -> str:
    if variant.backend != "compiled":
        return variant.backend or ways.picked(*tensors, group.causal, dense_mask="dense mask" in name)
    from torch._dynamo.utils import counters

    became = name == "compile(naive)" and counters["inductor"]["fuse_attention"]
    return "compiled, became SDPA" if became else "compiled"


def _time_in_turn(
    functions: Mapping[str, ways.Attend], group: Group, *tensors: Tensor
) -> dict[tuple[str, str], Timing]:
    """Rounds until the seconds are spent, but at least and at most so many; every other round in reverse order."""
    query, key, value, upstream = tensors
    clock = cuda_seconds if group.device == "cuda" else _cpu_seconds
    found: dict[tuple[str, str], list[float]] = {}
    spent, number = 0.0, 0
    while number < group.least or (spent < group.seconds and number < group.most):
        began = time.perf_counter()
        for name in list(functions)[:: -1 if number % 2 else 1]:
            with torch.no_grad():
                seconds, _ = clock(lambda attend=functions[name]: attend(query, key, value))
            found.setdefault((name, FORWARD), []).append(seconds)
            if name in group.backward:
                leaves = [x.detach().requires_grad_() for x in (query, key, value)]
                there, output = clock(lambda attend=functions[name], given=leaves: attend(*given))
                back, _ = clock(lambda output=output: output.backward(upstream))
                found.setdefault((name, BACKWARD), []).append(back)
                found.setdefault((name, BOTH), []).append(there + back)
        spent += time.perf_counter() - began
        number += 1
    return {which: Timing(tuple(seconds)) for which, seconds in found.items()}


def _cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = function()
    return time.perf_counter() - start, answer


def memory_of(group: Group, name: str, pass_: str, threads: int = 0) -> int:
    """Bytes above the inputs that one call of a variant takes at most; on a CPU, to be run in a process of its own."""
    torch.set_num_threads(threads or torch.get_num_threads())
    variant = (ways.on_gpu() if group.device == "cuda" else ways.on_cpu())[name]
    attend = variant.make(group.causal)
    query, key, value, upstream = inputs(group)

    def call(length: int | None = None) -> object:
        given = [x[..., :length, :] for x in (query, key, value)]
        if pass_ == FORWARD:
            with torch.no_grad():
                return attend(*given)
        leaves = [x.detach().requires_grad_() for x in given]
        attend(*leaves).backward(upstream[..., :length, :])
        return [x.grad for x in leaves]

    call(None if variant.compiled else 64)  # what a library or a compiler sets up is not counted
    if group.device == "cpu":
        return peak_above(call)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    return torch.cuda.max_memory_allocated() - before


def cpu_groups(quick: bool, halves: bool = True) -> Iterator[Group]:
    """What a CPU run measures, batch 1, d 64: float32 by all variants, bfloat16 by SDPA.

    halves: False leaves bfloat16 out
    """
    all_of_them = ways.on_cpu()
    lengths, heads = ((128, 256), 2) if quick else ((512, 1024, 2048, 4096, 8192), 8)
    rounds = {"seconds": 0.2, "least": 2, "most": 3} if quick else {}
    for length in lengths:
        shape = Shape(1, heads, length, 64)
        names = [name for name, one in all_of_them.items() if one.lengths is None or length in one.lengths]
        if length == 8192:  # naive takes a process of its own: between its rounds of 12 s the others would have few
            names, rounds = ["blockwise 128", "blockwise 256", "SDPA"], {"least": 5}
        for causal in (False, True):
            chosen = tuple(name for name in names if causal or all_of_them[name].only != "causal")
            backward = tuple(name for name in chosen if causal and all_of_them[name].backward)
            yield Group(shape, causal, "float32", chosen, backward, **rounds)
            if length == 8192:
                yield Group(shape, causal, "float32", ("naive",), seconds=1.0, least=2)
            if halves:
                yield Group(shape, causal, "bfloat16", ("SDPA",), ("SDPA",) * causal, **rounds)


def gpu_groups(quick: bool) -> Iterator[Group]:
    """What a GPU run measures: d 64 and 128, 2048 features in all, B·L = 16384."""
    dtype = "bfloat16" if torch.cuda.get_device_capability() >= (8, 0) else "float16"
    all_of_them = ways.on_gpu()
    rounds = {"seconds": 0.2, "least": 3, "most": 5} if quick else {"seconds": 1.0, "least": 10, "most": 40}
    for width in (64, 128):
        for length in (256, 512) if quick else (1024, 2048, 4096, 8192, 16384):
            shape = Shape(2 if quick else 16384 // length, 4 if quick else 2048 // width, length, width)
            names = tuple(n for n in all_of_them if length <= 4096 or n != "SDPA math")
            for causal in (False, True):
                yield Group(shape, causal, dtype, names, names, device="cuda", **rounds)


def run(
    device: str, quick: bool, threads: int, say: Callable[[str], None] = lambda _: None, halves: bool = True
) -> list[dict[str, Any]]:
    """All rows for this device. On a CPU the times of a group and the memory of a call each have their own process.

    halves: see `cpu_groups`
    """
    found = []
    for group in gpu_groups(quick) if device == "cuda" else cpu_groups(quick, halves):
        shape = group.shape
        say(f"attention, {'causal' if group.causal else 'full'}, {group.dtype}, L {shape.length}, d {shape.width}")
        rows = time_group(group) if device == "cuda" else run_apart(_timed, group, threads)
        for row in rows:
            if row["pass"] == BACKWARD or row["seconds"] is None:
                continue
            if device == "cpu":
                row["peak_bytes"] = run_apart(memory_of, group, row["variant"], row["pass"], threads)
            else:
                row["peak_bytes"] = memory_of(group, row["variant"], row["pass"])
        found += rows
    return found


def _timed(group: Group, threads: int) -> list[dict[str, Any]]:
    torch.set_num_threads(threads)
    torch.exp(torch.zeros(1 << 20))  # the first parallel exp of a process can be off by 1e-4 in some entries
    return time_group(group)
