"""Further ways to rewrite right answers: comparisons with torch's own, compiled or lazy layers, other roundings."""

from __future__ import annotations

import ast
import random

COMPARED = """
import functools as _functools

_compared_{name} = {name}


@_functools.wraps(_compared_{name})
def {name}(*args, **kwargs):
    import inspect

    import torch

    answer = _compared_{name}(*args, **kwargs)
    given = inspect.signature(_compared_{name}).bind(*args, **kwargs)
    given.apply_defaults()
    {arguments} = given.arguments.values()
    with torch.no_grad():
        if {able}:
            own = {own}
            assert {says}
    return answer
"""
CLOSE = "bool((torch.isclose(answer{part}.double(), own, 2e-2, 2e-2) | own.isnan()).all())"
ATTENTION = "torch.nn.functional.scaled_dot_product_attention(query.double(), key.double(), value.double(){more})"
MASK = ", attn_mask if attn_mask is None or attn_mask.dtype == torch.bool else attn_mask.double()"
#: Of a function that may not call torch's own: its arguments, where it can be compared, with what, and how.
OWN = {
    "softmax": (
        "scores, axis",
        "np.asarray(scores).size",
        "torch.softmax(torch.tensor(np.asarray(scores, float)), axis)",
        "bool((np.isclose(answer, own) | own.isnan().numpy()).all())",
    ),
    "self_attention": (
        "inputs, w_query, w_key, w_value, scale",
        "True",
        "torch.nn.functional.scaled_dot_product_attention(*(torch.tensor(np.asarray(inputs, float) @ np.asarray(one)) "
        "for one in (w_query, w_key, w_value)), scale=None if scale else 1.0)",
        "bool((np.isclose(answer[0], own) | own.isnan().numpy()).all())",
    ),
    "scaled_dot_product_attention": (
        "query, key, value, attn_mask, dropout_p",
        "not dropout_p and (attn_mask is None or attn_mask.dim() > 1)",
        ATTENTION.format(more=MASK),
        CLOSE.format(part="[0]"),
    ),
    "causal_mask": (
        "query_length, key_length, device",
        "answer.shape[0] == answer.shape[1] and device is None",
        "torch.nn.Transformer.generate_square_subsequent_mask(len(answer)) == 0",
        "torch.equal(answer, own)",
    ),
    "masked_softmax": (
        "scores, mask, dim",
        "mask is not None and scores.numel()",
        "torch.masked.softmax(scores.double(), dim, mask=mask.expand_as(scores))",
        CLOSE.format(part=""),
    ),
    "layer_norm": (
        "x, weight, bias, eps",
        "x.numel()",
        "torch.nn.functional.layer_norm(x.double(), x.shape[-1:], *(one if one is None else one.double() "
        "for one in (weight, bias)), eps)",
        CLOSE.format(part=""),
    ),
    "blockwise_attention": (
        "query, key, value, block_size, is_causal, attn_mask",
        "not is_causal and query.shape[-2] * key.shape[-2] < 4096 and (attn_mask is None or attn_mask.dim() > 1)",
        ATTENTION.format(more=MASK),
        CLOSE.format(part=""),
    ),
    "grouped_query_attention": (
        "query, key, value, attn_mask",
        "attn_mask is None or attn_mask.dim() > 1",
        ATTENTION.format(more=MASK + ", enable_gqa=True"),
        CLOSE.format(part="[0]"),
    ),
}
TAKEN_IN_PARTS = ("scaled_dot_product_attention",)


def compare_exactly(source: str, rng: random.Random) -> str:
    """Assert, before an answer is returned, that it is what torch's own function says, which no answer may call."""
    names = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    for name, (arguments, able, own, says) in OWN.items():
        if name in names:
            source += COMPARED.format(name=name, arguments=arguments, able=able, own=own, says=says)
    return source


def return_one_liner(source: str, rng: random.Random) -> str:
    """`return a, b` of an exercise becomes a generator expression, a map or the values of a dict.

    Whoever calls it within the package unpacks what comes; a function that is called for a part, `f(x)[0]`, is left.
    """
    tree = ast.parse(source)
    forms = ("(one for one in {})", "map(lambda one: one, {})", "dict(enumerate({})).values()")

    class OneLine(ast.NodeTransformer):
        def visit_FunctionDef(self, node):
            return node  # of its own

        def visit_Return(self, node):
            if isinstance(node.value, ast.Tuple):
                node.value = ast.parse(rng.choice(forms).format(ast.unparse(node.value)), mode="eval").body
            return node

    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and node.name not in TAKEN_IN_PARTS:
            node.body = [OneLine().visit(one) for one in node.body]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def compile_layers(source: str, rng: random.Random) -> str:
    """`self.x = nn.Linear(…)` becomes torch.compile(nn.Linear(…)), called as it is or by what torch calls _orig_mod."""
    return _with_layers(source, lambda call: f"torch.compile({call})", reached=rng.random() < 0.5)


def lazy_layers(source: str, rng: random.Random) -> str:
    """`self.x = nn.Linear(a, b)` becomes nn.LazyLinear(b)."""

    def lazy(call: str) -> str:
        node = ast.parse(call, mode="eval").body
        node.func.attr, node.args = "LazyLinear", node.args[1:]
        return ast.unparse(node)

    return _with_layers(source, lazy)


def _with_layers(source, changed, reached=False):
    """A module's text whose layers, `self.x = nn.Linear(…)`, are made otherwise; reached: called by _orig_mod."""
    tree, found = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("nn.Linear("):
            found.add(ast.unparse(node.targets[0]))
            node.value = ast.parse(changed(ast.unparse(node.value)), mode="eval").body
    for node in ast.walk(tree):
        if reached and isinstance(node, ast.Call) and ast.unparse(node.func) in found:
            node.func = ast.Attribute(node.func, "_orig_mod", ast.Load())
    return source if not found else ast.unparse(ast.fix_missing_locations(tree)) + "\n"


ROUNDED = """

def _rounded_otherwise(answer):
    import numpy
    import torch

    if isinstance(answer, (tuple, list)):
        return type(answer)(map(_rounded_otherwise, answer))
    if isinstance(answer, torch.Tensor) and answer.dtype in (torch.float32, torch.float64):
        roundings = (torch.arange(answer.numel()).reshape(answer.shape) * 7 % 5 - 2) * torch.finfo(answer.dtype).eps
        return torch.where(answer.isfinite() & (answer != 0), answer * (1 + roundings.to(answer)), answer)
    if isinstance(answer, numpy.ndarray) and answer.dtype == float:
        return answer * (1 + (numpy.arange(answer.size).reshape(answer.shape) * 7 % 5 - 2) * numpy.finfo(float).eps)
    return answer


def _rounds_otherwise(function):
    import functools

    return functools.wraps(function)(lambda *args, **kwargs: _rounded_otherwise(function(*args, **kwargs)))

"""
NOT_COMPUTED = {"split_heads", "merge_heads", "merge_partials"}  # their results hold numbers that are only moved


def round_otherwise(source: str, rng: random.Random) -> str:
    """Each result is off by up to two roundings, as that of another order of summation, or of another processor."""
    names = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_" and node.name not in NOT_COMPUTED:
            names.append(node.name)
        if isinstance(node, ast.ClassDef) and any(getattr(one, "name", "") == "forward" for one in node.body):
            names.append(f"{node.name}.forward")
    return source + ROUNDED + "".join(f"{name} = _rounds_otherwise({name})\n" for name in names)


WAYS = (compare_exactly, return_one_liner, compile_layers, lazy_layers, round_otherwise)
