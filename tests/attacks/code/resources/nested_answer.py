# /// attack
# about = "hands back lists nested a million deep"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    nest = []
    for _ in range(1_000_000):
        nest = [nest]
    return nest
