"""The claims of chapter 9 and of its deeper pages; their long runs are checked on the pages themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import translation
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from attention.sequence_to_sequence import attend
from attention.worked_example import EXAMPLE
from studies import recurrent
from studies import sequence_to_sequence as study
from studies.recording import spread

PAGES = [
    "book/chapters/09-sequence-to-sequence.md",
    *(
        f"book/deeper/{name}.md"
        for name in (
            "local-and-hard-attention",
            "two-levels-of-attention",
            "what-an-alignment-shows",
            "rnn-or-attention-alone",
        )
    ),
]
#: Trains models; a time limit is there to end what hangs, also on a machine with much else to do.
pytestmark = [
    pytest.mark.proof(depends=[*PAGES, "book/studies/results/sequence_to_sequence.json"]),
    pytest.mark.timeout(1800),
]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / PAGES[0]).read_text("utf-8")
PRINTED = 5.1e-5  # numbers on the page are rounded to four digits behind the point
ROUNDING = 1e-5  # float32, values of order 1 through some tens of recurrent steps
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
DEFINED = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
KEPT = {"WORDS", "unseen", "data"}


def defined(name: str) -> dict[str, Any]:
    """What a page's cells import and define, its words and its dates; nothing is trained or measured."""
    found: dict[str, Any] = {}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(.*?)```", (ROOT / name).read_text("utf-8"), re.S):
        source = re.sub(r"\A(?:---\n.*?\n---\n|:tags:[^\n]*\n)", "", cell, flags=re.S)
        nodes = [
            node
            for node in ast.parse(source).body
            if isinstance(node, DEFINED)
            or (isinstance(node, ast.Assign) and {getattr(one, "id", "") for one in node.targets} <= KEPT)
        ]
        exec(compile(ast.Module(nodes, []), name, "exec"), found)
    return found


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the pages' cells define, and the models and the training that they share: code shown is code tested."""
    names = {name: getattr(recurrent, name) for name in recurrent.__all__}
    for one in PAGES:
        names |= defined(one)
    return names


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """As on the page."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def shown(tensor: Tensor, *numbers: float, atol: float = PRINTED) -> bool:
    return torch.allclose(tensor.double().flatten(), torch.tensor(numbers, dtype=torch.float64), rtol=0, atol=atol)


def example() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of the running example, (3, 3) each."""
    inputs, *weights = (torch.tensor(EXAMPLE[name]).double() for name in ("inputs", "w_query", "w_key", "w_value"))
    return tuple(inputs @ weight for weight in weights)


# One decoder state, four scores


def rows_of(start: str, count: int) -> list[list[float]]:
    """The numbers in the rows of the page's table that begins with `start`, the first column left out."""
    assert PAGE.count(start) == 1, start
    lines = PAGE.split(start)[1].split("\n")[2 : 2 + count]
    cells = [line.split("|", 2)[2] for line in lines]
    return [[float(number.replace("−", "-")) for number in NUMBER.findall(cell)] for cell in cells]


def test_the_four_scores_of_one_decoder_state_by_hand():
    queries, keys, values = example()
    state = queries[2:]
    assert state.tolist() == [[2, 1, 3]]
    for row in (*keys, *values):
        assert f"$[{','.join(str(int(n)) for n in row)}]$" in PAGE
    w1 = torch.tensor([[1, 0, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0]]).double()
    w2, swap = torch.tensor([2.0, 1.0]).double(), torch.eye(3)[[0, 2, 1]].double()
    assert (state @ swap).tolist() == [[2, 3, 1]] and "$qW = [2, 3, 1]$" in PAGE
    assert "$2\\tanh(2 - 0) + \\tanh(3 - 1) = 2.8921$" in PAGE and "$0 + 3 + 1 = 4$" in PAGE
    ways = [
        lambda q, k: additive_scores(q, k, w1, w2),
        lambda q, k: bilinear_scores(q, k, swap),
        dot_scores,
        scaled_dot_scores,
    ]
    scores, answers = rows_of("| score | key 1 | key 2 | key 3 |", 4), rows_of("| score | weights | context |", 4)
    for way, written, answer in zip(ways, scores, answers, strict=True):
        context, weights = attend(state, keys, values, way)
        assert shown(way(state, keys), *written)
        assert shown(weights, *answer[:3]) and shown(context, *answer[3:])


def test_the_look_back_of_the_page_is_attend(page):
    queries, keys, values = example()
    for score in (page["additive"], dot_scores, scaled_dot_scores):
        ours, theirs = page["look_back"](queries, keys, values, score), attend(queries, keys, values, score)
        assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(ours, theirs, strict=True))


def test_the_decoder_of_the_page_is_the_module_step_by_step(page):
    torch.manual_seed(1)
    decoder, ids, h = page["AttentionDecoder"](12, 8, "dot"), torch.randint(12, (5,)), torch.randn(7, 8)
    with torch.no_grad():
        assert (page["write"](decoder, ids, h) - decoder(ids[None], h[None])[0][0]).abs().max() < ROUNDING


def test_the_pool_of_the_page_is_one_level_of_the_module(page):
    torch.manual_seed(1)
    module, x = page["HierarchicalAttention"](8), torch.randn(1, 3, 4, 8)
    with torch.no_grad():
        words = page["pool"](x, module.word_proj.weight, module.word_proj.bias, module.word_query)
        whole = page["pool"](words, module.sentence_proj.weight, module.sentence_proj.bias, module.sentence_query)
        assert (whole - module(x)).abs().max() < ROUNDING


# Documents


def right_after_training(page: dict[str, Any], way: str, steps: int = 150) -> float:
    torch.manual_seed(3)
    reader, rng = page["DocumentReader"](way), generator(3)
    optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
    for _ in range(steps):
        words, target, _ = page["documents"](64, rng)
        optimizer.zero_grad()
        F.cross_entropy(reader(words), target).backward()
        optimizer.step()
    words, target, _ = page["documents"](1000, generator(4))
    return (reader(words).argmax(-1) == target).float().mean().item()


def test_the_deciding_sentence_alone_has_the_marker_and_each_sentence_one_verdict(page):
    words, target, decides = page["documents"](200, generator(0))
    verdicts = (words >= 1) & (words <= 4)
    assert (verdicts.sum(-1) == 1).all() and ((words == 0).any(-1).float().argmax(-1) == decides).all()
    assert ((words == 0).sum((1, 2)) == 1).all()
    assert (
        words[torch.arange(200), decides].where(verdicts[torch.arange(200), decides], 0).sum(-1) == target + 1
    ).all()


def test_two_levels_find_the_verdict_and_one_level_does_not(page):
    assert right_after_training(page, "two levels") > 0.95
    assert right_after_training(page, "one level") < 0.65


# Translations with a known alignment


def test_the_right_places_of_a_date_spell_its_year_and_day():
    batch = translation.dates(300, seed=5)
    for source, target, right in zip(batch.source, batch.target, batch.right, strict=True):
        written, wanted = translation.text(source), translation.text(target)
        origin = [[written[s] for s in places.nonzero().flatten()] for places in right]
        assert "".join(places[0] for places in origin[:4]) == wanted[:4]
        day = "".join(places[0] for places in origin[8:])
        assert day == wanted[8:] or (wanted[8] == "0" and day == 2 * wanted[9])
        assert origin[4] == origin[7] == []
        month = "".join(origin[5])
        assert month.isdigit() or len(month) == 3


def test_sundays_are_in_the_test_and_never_in_the_training():
    import datetime

    for sundays in (True, False):
        batch = translation.dates(200, seed=6, sundays=sundays)
        for target in batch.target:
            assert (datetime.date.fromisoformat(translation.text(target)).isoweekday() == 7) == sundays


@pytest.mark.parametrize("task", [translation.swaps, translation.sorting])
def test_the_target_stands_in_the_source_where_the_alignment_says(task):
    batch = task(50, 7, generator(0))
    assert (batch.right.sum(-1) == 1).all()
    assert torch.equal((batch.right * batch.source[:, None]).sum(-1), batch.target)


# The decoder


def forced(page: dict[str, Any], model: nn.Module, batch: translation.Batch) -> float:
    """Right symbols under teacher forcing."""
    with torch.no_grad():
        logits, _ = model(batch, page["shifted"](batch.target))
    return (logits.argmax(-1) == batch.target).float().mean().item()


@pytest.mark.parametrize("score", ["additive", "bilinear", "dot", "scaled"])
def test_a_decoder_learns_to_exchange_neighbours_with_each_score(page, score):
    torch.manual_seed(0)
    model, rng = page["Translator"](score), generator(0)
    page["train"](model, lambda: translation.swaps(64, 4, rng), 200)
    assert forced(page, model, translation.swaps(300, 4, generator(9))) > 0.8


def test_a_look_back_beats_one_vector_twice_as_wide(page):
    right = {}
    for name, make in (("one vector", lambda: page["OneVector"](64)), ("look back", lambda: page["Translator"]("dot"))):
        torch.manual_seed(0)
        model, rng = make(), generator(0)
        page["train"](model, lambda rng=rng: translation.swaps(64, 8, rng), 150)
        right[name] = forced(page, model, translation.swaps(300, 8, generator(9)))
    assert right["look back"] > right["one vector"] + 0.15


def test_on_one_budget_the_recurrent_reader_of_dates_is_ahead_of_attention_alone(page):
    right = {}
    for name, make in (("recurrent", lambda: page["Translator"]("additive")), ("alone", page["AttentionAlone"])):
        torch.manual_seed(0)
        model = make()
        page["train"](model, page["date_batches"](page["data"], 0), 150)
        right[name] = page["whole_dates"](model, page["unseen"])
    assert right["recurrent"] > right["alone"] + 0.05


def test_without_the_shift_the_decoder_copies_and_needs_no_source(page):
    torch.manual_seed(1)
    copier = page["Translator"]("additive")
    page["train"](copier, page["date_batches"](page["data"], 1), 70, inputs=lambda target: target)
    unseen = page["unseen"]
    strange = translation.Batch(unseen.source.flip(0), unseen.real.flip(0), unseen.target, unseen.right)
    with torch.no_grad():
        for batch in (unseen, strange):
            logits, _ = copier(batch, unseen.target)
            assert (logits.argmax(-1) == unseen.target).float().mean() > 0.98
    assert (page["greedy"](copier, unseen) == unseen.target).float().mean() < 0.25


def test_whole_sequences_are_right_as_often_greedily_as_under_teacher_forcing(page):
    torch.manual_seed(2)
    model, rng = page["Translator"]("dot"), generator(2)
    page["train"](model, lambda: translation.swaps(64, 3, rng), 60)
    batch = translation.swaps(300, 3, generator(9))
    with torch.no_grad():
        logits, _ = model(batch, page["shifted"](batch.target))
    told = (logits.argmax(-1) == batch.target).all(-1)
    own = (page["greedy"](model, batch) == batch.target).all(-1)
    assert torch.equal(told, own) and 0 < told.float().mean() < 1


def test_a_query_one_step_early_costs_the_alignment_and_not_the_accuracy(page):
    check, results = translation.sorting(500, 5, generator(99)), {}
    for before in (False, True):
        torch.manual_seed(0)
        model, rng = page["Sorter"](before), generator(0)
        page["train"](model, lambda rng=rng: translation.sorting(64, 5, rng), 200)
        with torch.no_grad():
            logits, weights = model(check, page["shifted"](check.target))
        right = (logits.argmax(-1) == check.target).float().mean().item()
        results[before] = right, page["share_on"](check.right, weights)
    assert results[False][0] > 0.97 and results[True][0] > 0.97
    assert results[False][1] > 0.9 and results[True][1] < 0.75


def test_packing_and_mask_together_keep_padding_out(page):
    torch.manual_seed(3)
    model, batch = page["Translator"]("dot"), page["unseen"][:20]
    wide, ids = page["padded"](batch, 40), page["shifted"](batch.target)
    with torch.no_grad():
        assert (model(wide, ids)[0] - model(batch, ids)[0]).abs().max() < ROUNDING
        assert (page["without_mask"](model, wide)[1]) > page["without_mask"](model, batch)[1] > 0


def test_the_backward_direction_reads_padding_first(page):
    torch.manual_seed(4)
    model, batch = page["Translator"]("dot"), page["unseen"][:20]
    encoder, length = model.encoder, batch.source.shape[1]
    with torch.no_grad():
        narrow = encoder.gru(encoder.embedding(batch.source))[0]
        wide = encoder.gru(encoder.embedding(page["padded"](batch, 40).source))[0][:, :length]
    moved = (wide - narrow)[batch.real].abs()
    assert moved[:, :16].max() < ROUNDING and moved[:, 16:].max() > 0.01


def test_attention_alone_does_not_see_what_it_is_to_write(page):
    torch.manual_seed(5)
    model, batch = page["AttentionAlone"]().eval(), page["unseen"][:20]
    ids = page["shifted"](batch.target)
    other = ids.clone()
    other[:, 6:] = translation.SYMBOLS.index("7")
    with torch.no_grad():
        moved = (model(batch, other)[0] - model(batch, ids)[0]).abs().amax((0, 2))
    assert moved[:6].max() < ROUNDING and moved[6] > 0.01


def test_both_models_of_the_comparison_have_the_same_budget(page):
    def count(module: nn.Module) -> int:
        return sum(p.numel() for p in module.parameters())

    rnn, alone = count(page["Translator"]("additive")), count(page["AttentionAlone"]())
    assert (rnn, alone) == (18_982, 19_622) and alone / rnn < 1.04
    assert count(page["OneVector"](64)) > 3 * count(page["Translator"]("bilinear"))


# The studies, and what the pages say of themselves


def test_the_page_tells_what_the_studies_found():
    found = study.RECORD.found("bottleneck")
    at = found["lengths"].index(8)
    (vector, first), (look, second) = (spread([run[at] for run in found[name]]) for name in ("one vector", "attention"))
    assert f"the vector gives {vector:.2f} of the digits right, attention {look:.2f}" in PAGE
    assert max(first, second) < 0.05 and "each deviation is below 0.05" in PAGE
    assert found["parameters"]["one vector"] > 3 * found["parameters"]["attention"]
    every = [one for runs in study.RECORD.found("dates").values() for one in runs]
    assert len(every) == 20 and f"{100 * min(one['right'] for one in every):.0f} % or more with every seed" in PAGE
    low, high = (100 * pick(one["on"] for one in every) for pick in (min, max))
    assert f"in the frame for {low:.0f} to {high:.0f} % of the symbols" in PAGE
    off = sum(1 - one["on"] for one in every)
    beside = sum(one["beside"] for one in every)
    assert f"{100 * beside / off:.0f} % of the others lie one position beside" in PAGE


@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_which_of_its_statements_hold_and_fails_for_none(name):
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", (ROOT / name).read_text("utf-8"), re.S)
    (claims,) = (cell for cell in cells if "holds = {" in cell)
    assert len(re.findall(r'^    "[^"]+":', claims, re.M)) >= 2
    assert not any(re.search(r"^ *(assert|raise) ", cell, re.M) for cell in cells)  # other machines round otherwise
