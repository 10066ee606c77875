# /// attack
# about = "hands back a list that holds itself"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    nest = [1.0]
    nest.append(nest)
    return nest
