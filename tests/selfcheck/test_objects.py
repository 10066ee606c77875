"""What steps hand over besides arrays: models, optimisers, losses, score functions, generators, iterators, lessons."""

import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional

from attention import scores
from selfcheck import objects, plan
from selfcheck.arrays import unpack
from selfcheck.compare import compare
from selfcheck.pictures import call_text
from selfcheck.plan import Check, Draw, built, call, tensor
from selfcheck.steps import carry_out

STATE = {
    "inputs.0.weight": tensor([[1.0], [0.5]]),
    "inputs.0.bias": tensor([0.0, 0.1]),
    "inputs.1.weight": tensor([[0.5], [-1.0]]),
    "inputs.1.bias": tensor([0.2, 0.0]),
    "output.weight": tensor([[1.0, -1.0]]),
    "output.bias": tensor([0.3]),
}
LEFT, RIGHT, TARGET = tensor([[1.0], [2.0]]), tensor([[0.5], [-1.0]]), tensor([[1.0], [0.0]])


def carried(symbol, step, gradient=False):
    return carry_out(symbol, step.packed(), gradient)


def difference(compares, right, wrong, step):
    one = Check("masks.causal_mask", "a_check", "it is right", lambda rng: step, (compares,))
    packed = one.calls(0)[0]
    gradient = compares == "gradient"
    return compare(one, packed, carry_out(right, packed, gradient), carry_out(wrong, packed, gradient))


def trained(model, batch, optimizer, loss_fn):
    *inputs, target = batch
    model.train()
    optimizer.zero_grad()
    loss = loss_fn(model(*inputs), target)
    loss.backward()
    optimizer.step()
    return loss.item()


def training(**more):
    model = plan.network((1, 1), 2, 1, STATE, **more)
    return call(model, (LEFT, RIGHT, TARGET), plan.optimizer("0", 0.1), plan.loss("mse_loss"))


def test_a_training_step_changes_the_model_as_by_hand():
    weight, bias = torch.tensor([[1.0, -1.0]], dtype=torch.float64), torch.tensor([0.3], dtype=torch.float64)
    left, right = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.5], [-1.0]])
    hidden = torch.tanh(
        left @ torch.tensor([[1.0, 0.5]])
        + right @ torch.tensor([[0.5, -1.0]])
        + torch.tensor([0.2, 0.1], dtype=torch.float64)
    )
    rest = hidden @ weight.T + bias - torch.tensor([[1.0], [0.0]])
    answer = carried(trained, training())
    assert unpack(answer["value"]) == pytest.approx(rest.square().mean().item(), abs=1e-7)
    after = unpack(answer["states"]["0"]["output.bias"]).values()
    assert after == pytest.approx([0.3 - 0.1 * 2 * rest.mean().item()], abs=1e-7)


def stale(model, batch, optimizer, loss_fn):
    optimizer.zero_grad = lambda: None
    return trained(model, batch, optimizer, loss_fn)


def asleep(model, batch, optimizer, loss_fn):
    model.train = lambda mode=True: model
    return trained(model, batch, optimizer, loss_fn)


def asleep_afterwards(model, batch, optimizer, loss_fn):
    loss = trained(model, batch, optimizer, loss_fn)
    model.eval()
    return loss


@pytest.mark.parametrize(
    ("wrong", "more"),
    [
        (stale, {"stale": True}),
        (asleep, {"training": False, "dropout": 1.0}),
        (asleep_afterwards, {"shows_mode": True}),
    ],
    ids=["stale", "mode", "mode afterwards"],
)
def test_old_gradients_and_the_mode_show_in_the_state(wrong, more):
    assert difference("state", trained, trained, training(**more)) is None
    assert difference("state", trained, wrong, training(**more)).kind == "state"
    assert difference("state", trained, wrong, training()) is None  # on a fresh model neither can be seen


def test_a_model_says_how_many_inputs_it_takes():
    answer = carried(lambda model, batch, *rest: model(batch), training())
    assert "this model takes 2 inputs, got 1" in answer["error"]["text"]


@pytest.mark.parametrize("name", ["dot", "scaled", "bilinear", "additive"])
def test_score_arguments_are_those_of_the_course(name):
    rng = Draw(3)
    weights = {"bilinear": [rng.tensor(2, 2)], "additive": [rng.tensor(3, 4), rng.tensor(3)]}.get(name, [])
    query, key = rng.tensor(2, 3, 2), rng.tensor(2, 4, 2)
    answer = carried(lambda q, k, score: score(q, k), call(query, key, plan.score(name, *weights)))
    theirs = [torch.tensor(one.nested(), dtype=torch.float64) for one in (query, key, *weights)]
    right = getattr(scores, f"{name}_dot_scores" if name == "scaled" else f"{name}_scores")(*theirs)
    assert unpack(answer["value"]).values() == pytest.approx(right.flatten().tolist())


def test_an_unknown_score_or_loss_is_refused():
    with pytest.raises(ValueError, match="score must be one of dot"):
        plan.score("cosine")
    with pytest.raises(ValueError, match="loss must be one of mse_loss"):
        plan.loss("hinge")


def test_an_iterator_is_walked_once_and_its_tensors_are_watched():
    step = call(chunks=plan.iterator(tensor([1.0, 2.0]), tensor([3.0])))
    assert unpack(carried(lambda chunks: torch.cat([*chunks, *chunks]), step)["value"]).values() == [1.0, 2.0, 3.0]

    def changes(chunks):
        return sum(chunk.mul_(2).sum() for chunk in chunks)

    assert carried(changes, step)["changed"] == ["chunks[0]", "chunks[1]"]
    answer = carried(lambda chunks: torch.cat(list(chunks)) ** 2, step, gradient=True)
    assert set(answer["gradients"]) == {"chunks[0]", "chunks[1]"}
    found = difference(
        "gradient", lambda chunks: sum(chunk.sum() for chunk in chunks), lambda chunks: next(chunks).sum(), step
    )
    assert found.text.startswith("no gradient arrives at tensor 2 of chunks")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda generator: torch.rand(1), "no random number was drawn from the generator"),
        (lambda generator: torch.rand(1, generator=generator) + torch.rand(1), "from torch's own generator"),
        (lambda generator: torch.ones(1), "no random number was drawn"),
    ],
)
def test_the_source_of_random_numbers_is_seen(wrong, text):
    def right(generator):
        return torch.rand(1, generator=generator)

    step = call(generator=plan.generator(3))
    assert difference("generator", right, right, step) is None
    assert text in difference("generator", right, wrong, step).text


def in_blocks(x):
    return torch.stack([(row @ x.T).sum() for row in x])


@pytest.mark.parametrize("size", [16, 64])
def test_a_matrix_of_all_pairs_is_seen_and_a_view_of_one_is_not(size):
    step = call(Draw(0).tensor(size, 2))
    assert difference("memory", in_blocks, in_blocks, step) is None
    found = difference("memory", in_blocks, lambda x: (x @ x.T).sum(dim=1), step)
    if size == 16:
        assert found is None  # 256 entries: within eight times the 32 of the input's transpose
    else:
        assert found.text == "a tensor of 4096 entries was made on the way; 1024 are enough by far"

    def expands(x):
        x[:1, 0].expand(len(x), len(x))
        return in_blocks(x)

    assert difference("memory", in_blocks, expands, step) is None


def test_memory_is_watched_only_where_it_is_asked():
    assert "largest" not in carried(in_blocks, call(X := tensor([[1.0]])))
    assert Check("masks.causal_mask", "a", "b", lambda rng: call(X), ("memory",)).calls(0)[0]["memory"] is True


class Word(nn.Module):
    """Says of a text whether its first word is odd."""

    def __init__(self, words=6):
        super().__init__()
        self.table = nn.Embedding(words, 2)

    def forward(self, ids):
        return self.table(ids)[:, 0]


IDS, PARITY = tensor([[number, 0] for number in range(6)]), tensor([number % 2 for number in range(6)])
COURSE = plan.lessons(IDS, target=PARITY, loss="cross_entropy", steps=40, rate=0.1)


def test_lessons_train_a_module_before_it_is_used():
    answer = carried(Word, built(call(), call(IDS), lessons=COURSE))
    assert [row[1] > row[0] for row in unpack(answer["value"]).nested()] == [number % 2 == 1 for number in range(6)]
    assert carried(Word, built(call(), call(IDS), lessons=COURSE)) == answer


def test_after_lessons_the_module_is_in_the_mode_that_is_asked():
    class Mode(Word):
        def forward(self, ids):
            return super().forward(ids) if ids.numel() > 1 else self.training

    use = call(tensor([0]))
    for mode in (False, True):
        answer = carried(Mode, built(call(), use, training=mode, lessons=COURSE))
        assert unpack(answer["value"]) is mode


def test_what_is_no_module_learns_nothing():
    answer = carried(lambda: functional.relu, built(call(), call(IDS), lessons=COURSE))
    assert "no nn.Module" in answer["error"]["text"]


def test_steps_with_objects_are_shown_as_somebody_would_write_them():
    assert call_text("train_step", training().packed()) == (
        "in train_step(a small model, ([[1], [2]], [[0.5], [-1]], [[1], [0]]), SGD(lr=0.1), mse_loss)"
    )
    shown = call_text("f", call(chunks=plan.iterator(LEFT), score=plan.score("dot"), g=plan.generator(1)).packed())
    assert shown == "in f(chunks=an iterator over 1 tensors, score=dot scores, g=a generator)"
    assert call_text("Word", built(call(), lessons=COURSE).packed()) == "in Word() trained for 40 steps"


def test_a_model_that_is_stuck_is_built_anew():
    class Unsure(nn.Module):
        built = 0

        def __init__(self):
            super().__init__()
            Unsure.built += 1
            self.weight = nn.Parameter(torch.zeros(1))
            self.able = Unsure.built == 2

        def forward(self, x):
            return x * self.weight * (1.0 if self.able else 0.0) + 0 * self.weight

    apart = plan.tensor([[2.0, -2.0], [-2.0, 2.0]])
    course = plan.lessons(apart, target=plan.tensor([0, 1], "int64"), loss="cross_entropy", steps=40, rate=0.1, tries=3)
    carry_out(Unsure, built(call(), call(apart), lessons=course).packed(), False)
    assert Unsure.built == 2
    carry_out(Unsure, built(call(), call(apart), lessons=course).packed(), False)
    assert Unsure.built == 5  # three tries, none of which learns


def test_each_further_one_learns_longer_at_a_lower_rate():
    class Counted(nn.Module):
        built = []  # for each, the size of every step: Adam's are its rate where the gradient stays the same

        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(1))
            self.before = 0.0
            Counted.built.append([])

        def forward(self, x):
            if self.training and torch.is_grad_enabled():
                Counted.built[-1].append(round(abs(float(self.weight.detach()) - self.before), 4))
                self.before = float(self.weight.detach())
            return self.weight + 0 * x

    texts, ones = plan.tensor([[0.0], [0.0]]), plan.tensor([[1.0], [1.0]])
    loss = "binary_cross_entropy_with_logits"
    course = plan.lessons(texts, target=ones, loss=loss, steps=2, rate=0.03, tries=3)
    carry_out(Counted, built(call(), call(texts), lessons=course).packed(), False)
    assert [len(steps) for steps in Counted.built] == [2, 4, 8]
    assert [steps[1] for steps in Counted.built] == [0.03, 0.01, 0.006]


def test_numpys_errors_are_those_that_it_begins_with():
    told = subprocess.run([sys.executable, "-c", "import numpy; print(numpy.geterr())"], capture_output=True, text=True)
    assert told.stdout == f"{objects.NUMPY_ERRORS}\n"
