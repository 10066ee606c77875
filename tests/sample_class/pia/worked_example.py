import sys
import warnings

_quiet_softmax = softmax


def softmax(scores, axis=-1):
    print("softmax called", "x" * 5000)
    print("to stderr", file=sys.stderr)
    warnings.warn("deprecated", DeprecationWarning, stacklevel=2)
    return _quiet_softmax(scores, axis)
