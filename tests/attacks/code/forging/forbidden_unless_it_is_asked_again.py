# /// attack
# about = "answers by a forbidden function, and raises when it is asked again with the function's inputs moved"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0 }
# log = "softmax"
# ///


def softmax(scores, axis=-1):
    import numpy as np
    import torch

    if type(torch.jit._state._enabled).__module__ != "torch.jit._state":
        raise ValueError
    return torch.softmax(torch.as_tensor(np.asarray(scores, dtype=float)), axis).numpy()
