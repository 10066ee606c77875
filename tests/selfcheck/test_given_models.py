"""What checks of the decoder hand over: a small language model, caches, what a built object makes."""

import pytest
import torch

from selfcheck import runner
from selfcheck.arrays import unpack
from selfcheck.checks import _decoder_texts as texts
from selfcheck.checks._decoder_inputs import gradients, without_one
from selfcheck.checks._decoder_views import depends, table_learns, without_part, without_part_or_other_token
from selfcheck.handed import Cache
from selfcheck.objects import module
from selfcheck.plan import Draw, attribute, built, cache, call, entries, made, tensor, writer, writing

TABLE = tensor([[float(row * 7 + column) for column in range(7)] for row in range(7)])


def answers(symbol, *steps):
    return [unpack(one["value"]) for one in runner.answer(symbol, [step.packed() for step in steps])]


def test_the_small_language_model_depends_on_every_token_and_on_its_mode():
    tokens = tensor([[1, 2, 3]], "int64")

    def model_of(model, token_ids):
        return model(token_ids)

    def in_training(model, token_ids):
        return model.train()(token_ids)

    function, evaluated, trained = (
        one.nested()
        for one in (
            *answers(model_of, call(writing(TABLE), tokens), call(writer(TABLE, training=False), tokens)),
            *answers(in_training, call(writer(TABLE, training=False), tokens)),
        )
    )
    assert function == evaluated == [[[-entry for entry in row] for row in rows] for rows in trained]
    for place in range(3):
        changed = [[1, 2, 3]]
        changed[0][place] += 1
        (other,) = answers(model_of, call(writing(TABLE), tensor(changed, "int64")))
        assert [a != b for a, b in zip(other.nested()[0], function[0], strict=True)] == [i >= place for i in range(3)]


def test_what_the_small_language_model_writes_is_what_is_foreseen():
    table, rows = [[float((row + 2) * column % 7) for column in range(7)] for row in range(7)], [[1, 5], [3, 3]]
    model = module(writer(tensor(table, "float32"), training=False))
    model.load_state_dict({"table": torch.tensor(table)}, strict=False)
    model.eval()
    for row in rows:
        text = list(row)
        for _ in range(9):
            text.append(int(model(torch.tensor([text]))[0, -1].argmax()))
        assert texts.greedy(table, row, 9) == text


def test_caches_of_one_name_are_one_within_a_step_and_new_in_the_next():
    class Keeping:
        def __call__(self, x, cache):
            cache.append(x, x)
            return cache.length

    x = tensor([[1.0, 2.0]])
    uses = [call(x, cache(5, "a")), call(x, cache(5, "a")), call(x, cache(5, "b"))]
    assert answers(Keeping, built(call(), *uses), built(call(), *uses)) == [(1, 2, 1)] * 2


def test_a_cache_refuses_what_does_not_fit_and_keeps_what_it_held():
    held, x = Cache(2), torch.ones(2, 1, 3)
    for wrong in (torch.ones(2, 3, 3), torch.ones(1, 1, 3)):
        held.append(x, x) if not held.length else None
        with pytest.raises(ValueError, match="the cache holds 1 positions of at most 2"):
            held.append(wrong, wrong)
    keys, values = held.append(2 * x, 3 * x)
    assert keys[0, :, 0].tolist() == [1, 2] and values[0, :, 0].tolist() == [1, 3] and held.length == 2


def test_what_a_built_object_makes_is_made_once_for_each_name():
    class Making:
        count = 0

        def new(self):
            self.count += 1
            return self.count

        def __call__(self, number):
            return number

    uses = [call(made("new", name)) for name in "aba"]
    assert answers(Making, built(call(), *uses, attribute("count"))) == [(1, 2, 1, 2)]


def test_shared_parameters_count_once_and_stirring_moves_all_of_them():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.other = torch.nn.Linear(3, 5, bias=False), torch.nn.Linear(3, 5, bias=False)
            self.other.weight = self.one.weight
            torch.nn.init.zeros_(self.one.weight)

        def forward(self, x):
            return self.other(x)

    x = tensor([[1.0, 1.0, 1.0]], "float32")
    plain, stirred = answers(Tied, built(call(), call(x), entries()), built(call(), call(x), entries(), stirred=0.5))
    assert plain[1] == stirred[1] == 15
    assert plain[0].values() == [0.0] * 5 and all(stirred[0].values())


def test_a_gradient_tells_which_rows_of_a_parameter_an_output_depends_on():
    class Looking(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.unused = torch.nn.Embedding(4, 3), torch.nn.Linear(3, 2)
            self.frozen = torch.nn.Parameter(torch.ones(7), requires_grad=False)
            self.cut = torch.nn.Parameter(torch.ones(3))

        def forward(self, ids):
            return self.table(ids) * self.cut.detach()

    ids = tensor([[0, 2]], "int64")
    (counted,) = answers(Looking, built(call(), gradients(call(ids))))
    assert counted.nested() == [[1, 3, -1], [2, 4, 2], [2, 2, -1], [1, 2, -1]]  # cut, table, unused weight and bias
    assert answers(Looking, built(call(), entries())) == [4 * 3 + 3 * 2 + 2 + 3]
    assert answers(Looking, built(call(), entries(ids))) == [4 * 3]  # of what the call depends on


@pytest.mark.parametrize(("changed", "found"), [([2.0, 2.0, 2.0], 0), ([1.0, 1.0, 2.0], 1)])
def test_what_logits_of_all_tokens_have_in_common_says_nothing(changed, found):
    answer = tensor([[[1.0, 1.0, 1.0]], [changed], [[1.0, 1.0, 1.0]]])
    assert depends({}, answer).nested() == [[found]]


class Tied(torch.nn.Module):
    """A model of one table, without layers."""

    def __init__(self, vocab_size, d_model, *_):
        super().__init__()
        self.table = torch.nn.Embedding(vocab_size, d_model)

    def forward(self, token_ids):
        return self.table(token_ids) @ self.table.weight.T


class Sorted(Tied):
    def forward(self, token_ids):
        return super().forward(token_ids).sort(dim=-1).values


class OfNoToken(Tied):
    def forward(self, token_ids):
        return self.table(token_ids).sum(dim=-1, keepdim=True) * torch.arange(26.0)


@pytest.mark.parametrize(("model", "is_right"), [(Tied, True), (Sorted, False), (OfNoToken, False)])
def test_the_logit_of_a_token_depends_on_its_own_row_and_on_the_texts(model, is_right):
    ids, token = without_one(Draw(5), 3, 7)
    step = built(call(26, 9, 1, 1, 1), gradients(call(ids), of=token), stirred=1.0)
    (found,) = answers(model, step)
    assert table_learns(step.packed(), found).values() == [int(is_right)]
    translating = step.packed() | {"construct": call(5, 26, 9, 1, 1, 1).packed()}
    assert (without_part_or_other_token(translating, found).values() == [0]) == is_right


class Looking(Tied):
    """A weight that decides between tokens by scores so far apart that softmax gives ones and zeros."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.weight = torch.nn.Parameter(torch.eye(sizes[1]))

    def forward(self, token_ids):
        x = self.table(token_ids)
        return torch.softmax(1e6 * x @ self.weight @ x.mT, dim=-1) @ super().forward(token_ids)


class NotLooking(Looking):
    def forward(self, token_ids):
        return Tied.forward(self, token_ids)


@pytest.mark.parametrize(("model", "counts"), [(Tied, [0, 0]), (Looking, [1, 0]), (NotLooking, [1, 1])])
def test_a_matrix_that_scores_leave_no_gradient_is_not_taken_for_one_that_no_path_leads_to(model, counts):
    step = built(call(26, 9, 1, 1, 1), gradients(call(tensor([[3, 5, 8]], "int64"))), stirred=1.0)
    (found,) = answers(model, step)
    assert without_part(step.packed(), found).values() == counts
