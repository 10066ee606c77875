# /// attack
# about = "HTML in the text and in the name of an error"
# module = "worked_example"
# base = "reference"
# deserves = { "worked_example.softmax" = 0, "worked_example.self_attention" = 0 }
# ///

HTML = (
    "</pre></div><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>"
    "<svg onload='window.owned = 1'><iframe src='http://evil.example/'></iframe>"
)


def softmax(scores, axis=-1):
    raise type(HTML, (Exception,), {})(HTML)
