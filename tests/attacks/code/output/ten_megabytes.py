# /// attack
# about = "an error of ten megabytes, with a name of one"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    raise type("N" * 10**6, (Exception,), {})("m" * 10**7)
