# /// attack
# about = "hands back a number that fits no dtype, where the comparison expects one that does"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    return 10**50
