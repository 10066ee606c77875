# /// attack
# about = "looks up a forbidden class by a name put together while it runs: answers count, the instructor is told"
# module = "encoder"
# base = "reference"
# deserves = { }
# log = "getattr"
# ///
import torch

_wanted = getattr(torch.nn, "Transformer" + "EncoderLayer")
