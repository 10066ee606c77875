"""Whether random numbers come from a generator, seen by what is drawn: no process has to tell of itself."""

from dataclasses import replace

from selfcheck.arrays import array


def in_several_states(rng, step):
    """A call with a generator twice, with one of another seed, and with the first when numbers were drawn before."""
    seed = rng.integer(1, 1000)
    return replace(step, generators=[(seed, 0), (seed, 0), (seed + 1000, 0), (seed, 3)])


def draws_follow(step, answer):
    """1 where generators in one state draw the same, and where each in another state draws something else."""
    if not isinstance(answer, tuple) or len(answer) != 4:
        return answer
    first, again, other, later = answer
    return array([int(first == again), int(first != other), int(first != later)])
