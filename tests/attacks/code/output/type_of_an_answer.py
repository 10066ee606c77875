# /// attack
# about = "answers whose type has HTML, escapes and line ends for a name, and shapes of a thousand digits"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///


def softmax(scores, axis=-1):
    return type("<script>window.owned = 1</script>\x1b[2J\n82 of 82 points", (), {})()
