"""Of what torch has under the name of a step that learners are to write, nothing is left out of what is forbidden."""

import importlib
import sys
import types

import pytest
import torch

from selfcheck import named_functions
from selfcheck.catalogue import exercises
from selfcheck.named_functions import defining, functions_in, functions_named, operators_named

#: Modules that `import torch` leaves to whoever wants them.
FURTHER = (
    *("torch._refs", "torch._decomp.decompositions", "torch.onnx.ops", "torch.masked", "torch.sparse"),
    *(
        "torch.nested._internal.ops",
        "torch.ao.nn.quantizable",
        "torch.nn.attention.flex_attention",
        "torch.distributions.transforms",
    ),
)
#: Modules that compile functions of such a name, spread their calls over machines, or test them.
ABOUT_OTHERS = (
    "torch._native",
    "torch.ao.nn.qat",
    "torch.ao.quantization",
    "torch.distributed",
    "torch._dynamo",
    "torch._inductor",
    "torch.testing",
    "torch.fx",
    "torch._export",
)
#: By exercise: words that stand in such names, and which of these compute something else.
NAMED = {
    "efficient.online_softmax": (
        ("softmax", "softmin", "logsumexp", "logcumsumexp", "ctc_loss"),
        {"_get_softmax_dim", "_softmax_unbacked_safe_amax"},
    ),
    "masks.masked_softmax": (("safe_softmax", "masked_softmax"), set()),
    "encoder.layer_norm": (
        ("layer_norm", "layernorm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "batchnorm", "lrn"),
        {
            "_fused_rms_norm_cond",
            "native_layer_norm_fake",
            "_batchnorm_helper",
            "_fused_rms_norm_impl",
            "LayerNormPerSampleGrad",
        },
    ),
    "dot_product.scaled_dot_product_attention": (
        ("dot_product_attention", "multi_head_attention", "multiheadattention", "math_attention", "sdpa_dense"),
        set(),
    ),
}


def callables():
    """Functions and classes of torch that are imported, each with its name."""
    for name, module in list(sys.modules.items()):
        is_looked_at = name.partition(".")[0] == "torch" and not name.startswith(ABOUT_OTHERS)
        if is_looked_at and type(module) is types.ModuleType:
            for word, thing in list(vars(module).items()):
                thing = defining(thing)
                if issubclass(type(thing), (types.FunctionType, type)) and str(thing.__module__).startswith("torch"):
                    yield word, [function for _, function in functions_in(word, thing)]


@pytest.mark.parametrize("name", NAMED)
def test_no_function_of_such_a_name_is_left_out(name):
    for module in FURTHER:
        importlib.import_module(module)
    exercise = next(one for one in exercises() if one.id == name)
    words, others = NAMED[name]
    watched = {id(function) for function in functions_named(exercise.forbidden).values()}
    left = {
        word
        for word, functions in callables()
        if any(part in word.lower() for part in words) and "backward" not in word and not word.startswith("register_")
        if functions and not watched.intersection(map(id, functions))
    }
    assert left <= others
    for known in (named_functions._operators, named_functions._operators_under):
        known.cache_clear()  # other tests may have had torch register more since
    operators = {one for one in torch._C._dispatch_get_all_op_names() if any(part in one.lower() for part in words)}
    left = operators - set(operators_named(exercise.forbidden))
    assert not {one for one in left if "backward" not in one}
