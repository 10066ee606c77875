# /// attack
# about = "hands back a number whose digits take a minute to write"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    return 1 << 2**33
