"""What the checks of positions look at in an answer, and the inputs that several of them give."""

import math

from selfcheck.arrays import array, nest, unpack
from selfcheck.plan import built, call, tensor


def rows_sorted(step, answer):
    """The numbers of each row in ascending order: what stands in a row, wherever it stands."""
    width = answer.shape[-1]
    flat = answer.values()
    rows = [sorted(flat[start : start + width]) for start in range(0, len(flat), width)]
    return array(nest([entry for row in rows for entry in row], answer.shape))


def blocks(step, answer):
    """1 where an entry is not zero."""
    return array(nest([int(abs(entry) > 1e-4) for entry in answer.values()], answer.shape))


def diagonal_sorted(step, answer):
    """The numbers on the diagonal in ascending order."""
    rows = answer.nested()
    return array(sorted(float(rows[place][place]) for place in range(len(rows))))


def ones(*shape):
    """Nested lists of ones: of a pair (1, 1), the angle decides everything, not which columns are a pair."""
    return [ones(*shape[1:]) for _ in range(shape[0])] if shape else 1.0


def per_head(answer):
    """The entries of each head's matrix, where the answer has three axes."""
    heads, queries, keys = answer.shape
    flat, size = answer.values(), queries * keys
    return [flat[start : start + size] for start in range(0, heads * size, size)]


def steepness(step, answer):
    """How much each head takes off, or adds, at the most."""
    return array([max(abs(entry) for entry in head) for head in per_head(answer)])


def distances(step, answer):
    """Each head's matrix as multiples of its largest entry: what is left is the pattern of distances."""
    most = steepness(step, answer).values()
    scaled = [entry / top for head, top in zip(per_head(answer), most, strict=True) for entry in head]
    return array(nest(scaled, answer.shape))


def zeros(*shape, dtype="float64"):
    """A tensor of zeros."""
    return tensor(_filled(shape), dtype)


def _filled(shape):
    return [_filled(shape[1:]) for _ in range(shape[0])] if shape else 0.0


def learned(rng, d_model, max_length, *uses, dtype="float64", training=False):
    """A step of LearnedPositionalEmbedding: the module with a drawn weight, and its uses."""
    state = rng.state({"weight": (max_length, d_model)}, dtype)
    return built(call(d_model, max_length), *uses, state=state, training=training)


def what_became_of_x(step, answer):
    """The answer to x less the answer to zeros."""
    of_x, of_zeros = answer
    if of_x.shape != of_zeros.shape:
        return answer
    return array(nest([a - b for a, b in zip(of_x.values(), of_zeros.values(), strict=True)], of_x.shape))


def dropped(step, answer):
    """What training did to the sum, in five numbers that do not depend on which entries were hit.

    The share that was lost and the share that is x alone, both in quarters; the factor on the rest, 0 where it is not
    one factor; 1 where tokens are lost as a whole or not at all; and 1 where all that is left is one multiple of x.
    """
    trained, _, evaluated = answer
    x = unpack(step["uses"][0]["args"][0]).values()
    kept = [(a, b, c) for a, b, c in zip(trained.values(), evaluated.values(), x, strict=True) if abs(b) > 1e-3]
    lost = sum(a == 0 for a, _, _ in kept)
    alone = sum(abs(a - c) < 1e-4 and abs(b - c) > 1e-3 for a, b, c in kept)
    factors = [a / b for a, b, _ in kept if a != 0]
    same = factors and max(factors) - min(factors) < 1e-3
    width = trained.shape[-1]
    tokens = [trained.values()[start : start + width] for start in range(0, len(trained.values()), width)]
    whole = lost > 0 and all(not any(token) or all(token) for token in tokens)
    of_x = [a / c for a, _, c in kept if a != 0 and abs(c) > 1e-3]
    multiple = bool(of_x) and max(of_x) - min(of_x) < 1e-3
    shares = [round(4 * count / len(kept)) / 4 for count in (lost, alone)]
    return array([*shares, factors[0] if same else 0.0, float(whole), float(multiple)])


def lost_in_evaluation(step, answer):
    """The share of numbers lost in evaluation, in quarters; what is no number is lost."""
    evaluated = answer[2].values()
    return array([round(4 * sum(a == 0 or not math.isfinite(a) for a in evaluated) / len(evaluated)) / 4])


def start(step, answer):
    """How often the deviation of the numbers is 0.02, in powers of two, 0 within about 40 %; 1 for half precision; 1
    where some are more than twice the deviation from the mean, as they never are of uniform ones.

    A number of half precision has at most 11 significant bits. Where all numbers are one, that says nothing. Of 1,120
    normal numbers 51 are so far from the mean, fewer than 11 with a probability below 1e-10 (Chernoff).
    """
    numbers = answer.values()
    mean = sum(numbers) / len(numbers)
    deviation = (sum((number - mean) ** 2 for number in numbers) / len(numbers)) ** 0.5
    if not math.isfinite(deviation):
        return answer
    power = 0
    while deviation * 2**power < 0.02 / 2**0.5 and power < 9:
        power += 1
    while deviation * 2**power > 0.02 * 2**0.5 and power > -9:
        power -= 1
    short = deviation > 0 and all(math.frexp(number)[0] * 2**11 % 1 == 0 for number in numbers)
    far = sum(abs(number - mean) > 2 * deviation for number in numbers)
    return array([power, float(short), float(far >= len(numbers) / 100)])


def wide(rng):
    """An even width of at least three pairs."""
    return rng.choice((6, 8, 10))


def sizes(rng):
    """A length and an even width of at least three pairs, neither of which is the other, its half or its neighbour."""
    return rng.choice(((8, 6), (9, 6), (6, 8), (11, 8), (7, 10), (8, 10)))


def apart(rng, count):
    """Up to three sizes of which none is a neighbour, a half, a double or a sum of others."""
    return rng.sample(rng.choice(((3, 5, 9), (4, 7, 10), (5, 7, 11))), count)
