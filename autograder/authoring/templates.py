"""The texts of a new exercise, tiny but complete; a line with {mark} names what its author has to write there."""

from __future__ import annotations

#: The beginning of each file of a new module; imports follow.
HEADS = {
    "solutions": '"""{title}."""\n\n__all__ = []\n',
    "catalogue": 'module = "{module}"\ntitle = "{title}"\n',
    "checks": '"""Visible checks of {module}."""\n',
    "hidden": '"""Hidden checks of {module}."""\n',
    "misconceptions": '"""Misconceptions about {module}, as runnable wrong answers."""\n',
    "alternatives": '"""Right answers to {module}, in other styles."""\n',
}

#: The names that each file imports, by module; "" for `import torch`.
NEEDS: dict[str, dict[str, tuple[str, ...]]] = {
    "solutions": {"": ("torch",), "torch": ("Tensor", "nn")},
    "checks": {"selfcheck.plan": ("built", "call", "check")},
    "hidden": {"selfcheck.plan": ("built", "call", "check")},
    "misconceptions": {"": ("torch",), "torch": ("nn",), ".": ("misconception",)},
    "alternatives": {"": ("torch",), "torch": ("nn",), ".": ("alternative",)},
}

PAGE = """\
(sec-{slug})=
## {title}

% {mark}: the idea, its shapes, an experiment
Here every number of a tensor is multiplied{by}. Shape and dtype stay as they are.

```{{exercise}} {id}
```
"""

PROBLEM_SET = """\
## {title}

```{{exercise}} {id}
```
"""


def _catalogue(
    minutes: int, difficulty: int, prompt: str, hints: tuple[str, ...], points: str, misconceptions: dict[str, str]
) -> str:
    """An entry of the catalogue; misconceptions: the end of each one's id, and its message."""
    hint_lines = "".join(f'    "{hint}",\n' for hint in hints)
    wrong = "\n".join(
        f'[[exercise.misconception]]\nid = "{{name}}_{end}"\nmessage = "{message}"\nsection = "sec-{{slug}}"\n'
        for end, message in misconceptions.items()
    )
    return f"""
[[exercise]]
id = "{{id}}"
number = "{{number}}"
title = "{{title}}"
problem_set = "{{problem_set}}"
section = "sec-{{slug}}"
minutes = {minutes}
difficulty = {difficulty}
depends_on = []
forbidden = []
hidden_points = 1
# {{mark}}: the task, all that a check asks for
prompt = '''
{prompt}'''
# {{mark}}: hints from a nudge to nearly there
hints = [
{hint_lines}]

[exercise.points]
{points}
# {{mark}}: each wrong idea, its cause and the way out
{wrong}"""


FUNCTION = {
    "solutions": '''
def {symbol}(x: Tensor, factor: float) -> Tensor:
    """factor · x.

    x: (..., d); factor: a number
    Returns a tensor of the shape and dtype of x.
    """
    # solution: begin
    # {mark}: the answer, and all around it
    return factor * x
    # solution: end
''',
    "catalogue": _catalogue(
        minutes=5,
        difficulty=1,
        prompt="""\
Given `x` of shape `(..., d)` and a number `factor`, return `x` with every entry multiplied by `factor`.
Shape and dtype stay.
""",
        hints=(
            "What becomes of one entry, by hand? The others have the same thing happen to them.",
            "A number and a tensor can be combined directly: the number meets every entry.",
            "One arithmetic operator between the two arguments is enough, and no axis has to be named.",
        ),
        points="""\
{name}_entries = 2
""",
        misconceptions={
            "added": "Your factor is added to every entry. It should scale them: an entry of zero stays zero.",
            "divided": "You divide by the factor, so entries shrink where they should grow. Which way does a scale go?",
        },
    ),
    "checks": """
# {mark}: one mechanism a check
@check("{id}", sees="every entry is multiplied by the factor")
def {name}_entries(rng):
    rows, width = rng.sample((3, 5, 9), 2)
    return call(rng.tensor(rows, width), rng.integer(3, 9) / 2)
""",
    "hidden": """
# {mark}: edge cases that the prompt promises
@check(
    "{id}",
    sees="{symbol} takes one axis or three, and a factor below zero",
    compares=("values", "unchanged"),
    points=1,
)
def {name}_any_axes(rng):
    one, two, three = rng.sample((4, 7, 10), 3)
    factor = -rng.integer(3, 9) / 2
    sizes = (three,), (one, two, three), (17, two)  # an axis that no visible check makes long is long here
    return [call(rng.tensor(*shape), factor) for shape in sizes]
""",
    "misconceptions": """
# {mark}: wrong answers as somebody would write them
@misconception("{id}")
def {name}_added(x, factor):
    return x + factor


@misconception("{id}")
def {name}_divided(x, factor):
    return x / factor
""",
    "alternatives": """
# {mark}: three right answers in other styles
@alternative("{id}")
def {name}_by_a_function(x, factor):
    return torch.mul(x, factor)


@alternative("{id}")
def {name}_row_by_row(x, factor):
    return torch.stack([row * factor for row in x])


@alternative("{id}")
def {name}_by_einsum(x, factor):
    return torch.einsum("...,->...", x, torch.tensor(factor, dtype=x.dtype))
""",
    "reference": '''\
"""{symbol} against numbers worked by hand."""

import torch

from attention.{module} import {symbol}


# {mark}: a test that is independent
def test_{name}_multiplies_every_entry():
    x = torch.tensor([[1.0, -2.0], [0.5, 4.0]])
    assert {symbol}(x, 3.0).tolist() == [[3.0, -6.0], [1.5, 12.0]]
''',
}

CLASS = {
    "solutions": '''
class {symbol}(nn.Module):
    """weight · x, feature by feature.

    d_model: the number of features
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        # solution: begin
        # {mark}: the answer, and all around it
        self.weight = nn.Parameter(torch.ones(d_model))
        # solution: end

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model); returns the same shape."""
        # solution: begin
        return x * self.weight
        # solution: end
''',
    "catalogue": _catalogue(
        minutes=8,
        difficulty=2,
        prompt="""\
Write a module `{symbol}(d_model)` with one parameter, `weight` `(d_model,)`, which begins with ones.
For `x` of shape `(..., d_model)` it returns `x` with each feature multiplied by its entry of `weight`.
Shape and dtype stay.
""",
        hints=(
            "How many numbers does the module learn, and which axis of x do they belong to?",
            "What is learned must be registered: wrap a tensor in nn.Parameter and make it an attribute of the module.",
            "The last axes meet when tensors of different numbers of axes are combined, so no axis has to be added.",
        ),
        points="""\
{name}_features = 2
{name}_new = 1
""",
        misconceptions={
            "added": "Your weight is added to every token. It should scale the features: where the weight is 1, "
            "nothing changes.",
            "from_zero": "A new module of yours gives nothing but zeros. Begin with a weight that changes nothing.",
        },
    ),
    "checks": """
# {mark}: one mechanism a check
@check("{id}", sees="each feature is multiplied by its weight")
def {name}_features(rng):
    rows, width = rng.sample((3, 5, 9), 2)
    return built(call(width), call(rng.tensor(rows, width)), state=rng.state({{"weight": (width,)}}))


@check("{id}", sees="a new module changes nothing", given=True)
def {name}_new(rng):
    rows, width = rng.sample((3, 5, 9), 2)
    return built(call(width), call(rng.tensor(rows, width, dtype="float32")))
""",
    "hidden": """
# {mark}: edge cases that the prompt promises
@check("{id}", sees="{symbol} takes one axis or three", compares=("values", "unchanged"), points=1)
def {name}_any_axes(rng):
    one, two, width = rng.sample((4, 7, 10), 3)
    shapes = (width,), (one, two, width), (one, two, width)  # no call keeps anything of one before it
    return built(call(width), *(call(rng.tensor(*shape)) for shape in shapes), state=rng.state({{"weight": (width,)}}))
""",
    "misconceptions": """
# {mark}: wrong answers as somebody would write them
@misconception("{id}")
class {name}_added(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x + self.weight


@misconception("{id}")
class {name}_from_zero(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return x * self.weight
""",
    "alternatives": """
class With{symbol}Weight(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))


# {mark}: three right answers in other styles
@alternative("{id}")
class {symbol}ByFunction(With{symbol}Weight):
    def forward(self, x):
        return torch.mul(self.weight, x)


@alternative("{id}")
class {symbol}ByMatrix(With{symbol}Weight):
    def forward(self, x):
        return x @ torch.diag(self.weight)


@alternative("{id}")
class {symbol}ByEinsum(With{symbol}Weight):
    def forward(self, x):
        return torch.einsum("...d,d->...d", x, self.weight)
""",
    "reference": '''\
"""{symbol} against numbers worked by hand."""

import torch

from attention.{module} import {symbol}


# {mark}: a test that is independent
def test_{name}_multiplies_each_feature():
    module = {symbol}(2)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([3.0, -1.0]))
    assert module(torch.tensor([[1.0, -2.0], [0.5, 4.0]])).tolist() == [[3.0, 2.0], [1.5, -4.0]]
''',
}
