# /// attack
# about = "answers with an object that equals everything"
# module = "worked_example"
# deserves = 0
# ///
class Everything(float):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = float.__hash__

    def __sub__(self, other):
        return Everything(0)

    __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __abs__ = lambda self, *_: Everything(0)

    def __array__(self, *arguments, **others):
        import numpy

        return numpy.zeros(())

    def __iter__(self):
        return iter([self])

    def __len__(self):
        return 1


def _everything(*arguments, **others):
    return Everything(0)


project = dot_scores = softmax = weighted_sum = self_attention = _everything
