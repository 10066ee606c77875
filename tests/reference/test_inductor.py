"""torch.compile's default backend, which writes and compiles C++, on a whole encoder layer.

The other compile tests use `aot_eager`, which captures the same graphs and takes a second instead of half a minute.
"""

import shutil

import pytest
import torch

from attention.encoder import EncoderLayer
from attention.masks import causal_mask, padding_mask

pytestmark = [pytest.mark.proof(), pytest.mark.timeout(900)]


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="inductor needs a C++ compiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # raised inside torch's code generator
def test_a_compiled_layer_answers_as_the_plain_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch._dynamo.reset()
    torch.manual_seed(0)
    layer = EncoderLayer(8, 2, 12, dropout=0.0)
    x, upstream = torch.randn(2, 2, 5, 8).unbind()
    masks = causal_mask(5), padding_mask(torch.tensor([5, 3]))
    found = []
    for one in (layer, torch.compile(layer, fullgraph=True)):
        layer.zero_grad()
        output = one(x, *masks)
        output.backward(upstream)
        found.append([output.detach(), *(parameter.grad for parameter in layer.parameters())])
    for plain, compiled in zip(*found, strict=True):
        torch.testing.assert_close(compiled, plain, atol=1e-5, rtol=1e-5)  # float32, sums in another order
