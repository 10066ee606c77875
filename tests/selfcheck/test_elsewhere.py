"""A second device that is played shows whose code stays on the CPU, and nobody else's."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from selfcheck import elsewhere

LENGTHS = torch.tensor([2, 0, 3, 5])


def filled(lengths, columns):
    mask = torch.zeros(len(lengths), columns, dtype=torch.bool, device=lengths.device)
    for row, length in enumerate(lengths.tolist()):
        mask[row, :length] = True
    return mask


def filled_by_positions(lengths, columns):
    mask = torch.zeros(len(lengths), columns, dtype=torch.bool, device=lengths.device)
    mask[[0, 0, 2], [0, 1, 0]] = True
    return mask


def written_out(lengths, columns):
    out = torch.empty(len(lengths), columns, dtype=torch.bool, device=lengths.device)
    return torch.lt(torch.arange(columns, device=lengths.device), lengths[:, None], out=out)


def within_the_device(lengths, columns):
    with lengths.device:
        return torch.arange(columns) < lengths[:, None]


class Mask(torch.Tensor):
    """A tensor of a class of somebody's own."""


def checked(lengths, columns):
    if not isinstance(lengths, torch.Tensor) or lengths.is_floating_point():
        raise TypeError("lengths must be a tensor of whole numbers")
    if (lengths < 0).any() or int(lengths.max()) > columns:
        raise ValueError("a length that cannot be")
    return torch.arange(columns, device=lengths.device) < lengths[:, None]


def strict_about_the_class(lengths, columns):
    assert type(lengths) is torch.Tensor
    return torch.arange(columns, device=lengths.device) < lengths[:, None]


def no_meta(lengths, columns):
    if lengths.is_meta or lengths.device.type == "meta":
        raise ValueError("meta tensors have no numbers")
    return torch.arange(columns, device=lengths.device) < lengths[:, None]


RIGHT = {
    "compared": lambda n, c: torch.arange(c, device=n.device) < n.unsqueeze(-1),
    "moved": lambda n, c: torch.arange(c).to(n.device) < n[:, None],
    "moved as lengths": lambda n, c: torch.arange(c).to(n) < n[:, None],
    "of its type": lambda n, c: torch.arange(c).type_as(n) < n[:, None],
    "moved at the end": lambda n, c: (torch.arange(c) < n.cpu()[:, None]).to(n.device),
    "filled": filled,
    "filled by positions": filled_by_positions,
    "written out": written_out,
    "within the device": within_the_device,
    "stacked": lambda n, c: torch.stack([n > place for place in range(c)], 1),
    "of lists": lambda n, c: torch.tensor([[place < length for place in range(c)] for length in n], device=n.device),
    "new": lambda n, c: n.new_tensor([[place < one for place in range(c)] for one in n.tolist()], dtype=torch.bool),
    "new ones": lambda n, c: n.new_ones(len(n), c).cumsum(1) <= n[:, None],
    "a row of a triangle": lambda n, c: torch.ones(c + 1, c, device=n.device).tril(-1).bool()[n],
    "of NumPy": lambda n, c: torch.from_numpy(np.arange(c)[None] < n.cpu().numpy()[:, None]).to(n.device),
    "of NumPy, forced": lambda n, c: torch.from_numpy(np.arange(c) < n.numpy(force=True)[:, None]).to(n.device),
    "checked": checked,
    "strict about the class": strict_about_the_class,
    "no meta tensors": no_meta,
    "by vmap": lambda n, c: torch.vmap(lambda length: torch.arange(c, device=n.device) < length)(n),
    "of a class": lambda n, c: (torch.arange(c, device=n.device) < n[:, None]).as_subclass(Mask),
}
WRONG = {
    "compared": lambda n, c: torch.arange(c) < n.unsqueeze(-1),
    "of lists": lambda n, c: torch.tensor([[place < length for place in range(c)] for length in n.tolist()]),
    "left there": lambda n, c: torch.arange(c) < n.cpu()[:, None],
    "device named": lambda n, c: torch.arange(c, device="cpu") < n[:, None],
    "a row of a triangle": lambda n, c: torch.ones(c + 1, c).tril(-1).bool()[n],
    "of NumPy": lambda n, c: torch.from_numpy(np.arange(c) < n.numpy()[:, None]).to(n.device),
    "read by NumPy": lambda n, c: torch.from_numpy(np.arange(c) < np.asarray(n)[:, None]).to(n.device),
    "joined": lambda n, c: torch.cat([torch.ones(1, c), n.float()[:, None].expand(-1, c)]),
}


@pytest.mark.parametrize("answer", RIGHT.values(), ids=RIGHT)
def test_who_makes_tensors_where_the_arguments_lie_is_let_through(answer):
    elsewhere.ask(answer, [LENGTHS, 6], {})
    elsewhere.ask(answer, [], {"n" if answer.__name__ == "<lambda>" else "lengths": LENGTHS} | _columns(answer))


def _columns(answer):
    return {"c" if answer.__name__ == "<lambda>" else "columns": 6}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG)
def test_who_stays_on_the_cpu_is_told(answer):
    with pytest.raises(RuntimeError, match="to be on the same device.* CPU$"):
        elsewhere.ask(answer, [LENGTHS, 6], {})


def on_the_cpu_alone(lengths):
    if lengths.device.type != "cpu":
        raise NotImplementedError("no GPU here")


def asserted(lengths):
    assert lengths.device == torch.device("cpu")


@pytest.mark.parametrize("answer, name", [(on_the_cpu_alone, "NotImplementedError"), (asserted, "AssertionError")])
def test_who_refuses_the_second_device_is_told(answer, name):
    with pytest.raises(RuntimeError, match=f"on another device than the CPU, the function raises {name}$"):
        elsewhere.ask(answer, [LENGTHS], {})


@pytest.mark.parametrize("instead, form", [(lambda n: n, r"int64 of shape \(4,\)"), (lambda n: None, "NoneType")])
def test_who_answers_something_else_on_the_second_device_is_told(instead, form):
    def answer(lengths):
        if lengths.device.type != "cpu":
            return instead(lengths)
        return torch.arange(6) < lengths[:, None]

    with pytest.raises(RuntimeError, match=rf"^The answer is bool of shape \(4, 6\); .* it is {form}"):
        elsewhere.ask(answer, [LENGTHS], {})


def test_what_the_second_device_cannot_do_is_left_to_the_plain_call():
    elsewhere.ask(lambda lengths: lengths.data_ptr() + lengths.untyped_storage()[0], [LENGTHS], {})


def test_an_error_of_another_kind_is_left_to_the_plain_call():
    def broken(lengths):
        raise ValueError("something else")

    elsewhere.ask(broken, [LENGTHS], {})


def test_the_arguments_stay_as_they_were():
    lengths = LENGTHS.clone()

    def emptied(lengths):
        lengths.zero_()
        return lengths

    elsewhere.ask(emptied, [lengths], {})
    assert torch.equal(lengths, LENGTHS)


ASKED = "elsewhere.ask(lambda n: torch.arange(3, device=n.device) < n[:, None], [torch.tensor([1, 2])], {})"
COUNTED = (
    "step = {'args': [arrays.pack(5)], 'kwargs': {}, 'memory': True}; "
    "assert steps.carry_out(torch.zeros, step, False)['largest'] == 5"
)


@pytest.mark.parametrize("does", [ASKED, COUNTED])
def test_what_sees_every_operation_imports_no_compiler(does):
    imports = "import sys, torch; from selfcheck import arrays, elsewhere, steps"
    program = f"{imports}; {does}; print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
