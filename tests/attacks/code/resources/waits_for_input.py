# /// attack
# about = "asks whoever grades to type something in"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///
def softmax(scores, axis=-1):
    return eval(input("points? "))
