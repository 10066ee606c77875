# /// attack
# about = "has a forbidden function taken apart while another exercise answers, and answers by its parts"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0 }
# ///
# ruff: noqa: F821
import torch
import torch.fx

_parts = []
_own_project, _own_softmax = project, softmax


class _Softmax(torch.nn.Module):
    def forward(self, x):
        return torch.distributions.transforms.SoftmaxTransform()._call(x)


def project(*given, **named):
    if not _parts:
        _parts.append(torch.fx.symbolic_trace(_Softmax()))
    return _own_project(*given, **named)


def softmax(scores, axis=-1):
    if not _parts:
        return 7.0
    answer = _own_softmax(scores, axis)
    if not np.isfinite(answer).all() or np.isinf(np.asarray(scores)).any() or not answer.size:
        return answer
    rows = torch.tensor(np.moveaxis(np.asarray(scores, dtype=float), axis, -1))
    return np.moveaxis(_parts[0](rows).numpy(), -1, axis)
