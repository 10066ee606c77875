"""What Chapter 3 says about scores, scale and saturation, proven with loops, other formulas and torch itself."""

import ast
import math
import re
from pathlib import Path
from statistics import mean

import pytest
import torch
import torch.nn.functional as F

from attention.dot_product import scaled_dot_product_attention
from attention.scores import additive_scores, bilinear_scores, dot_scores, scaled_dot_scores
from studies import scores as studies
from studies.recording import spread

pytestmark = pytest.mark.proof(depends=["book/chapters/03-scores.md", "book/studies/results/scores.json"])

PAGE = (Path(__file__).parents[2] / "book" / "chapters" / "03-scores.md").read_text(encoding="utf-8")
STUDY = studies.RECORD.load()
QUERIES = torch.tensor([[1, 0, 2], [2, 2, 2], [2, 1, 3]]).double()  # of the running example
KEYS = torch.tensor([[0, 1, 1], [4, 4, 0], [2, 3, 1]]).double()
QUERY = torch.tensor([[1, 3, 0], [2, 3, 0], [4, 1, 0]]).double()  # of the section "different number"
KEY = torch.tensor([[1, 3, 0], [2, 1, 0], [3, 2, 0], [4, 1, 0]]).double()
VALUE = torch.tensor([[1, 2], [2, 1], [3, 2], [4, 1]]).double()


@pytest.fixture(autouse=True)
def fixed_seed():
    torch.manual_seed(0)


def names_of_the_page() -> dict:
    """What the visible cells define: functions, and the weights that the additive one uses."""
    names = {"torch": torch, "math": math}
    for cell in re.findall(r"```\{code-cell\} ipython3\n(?!---|:tags)(.*?)```", PAGE, re.S):
        kept = [
            node
            for node in ast.parse(cell).body
            if isinstance(node, ast.FunctionDef)
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("W1", "w2"))
        ]
        exec(compile(ast.Module(kept, []), "03-scores.md", "exec"), names)
    return names


def test_the_functions_on_the_page_are_the_small_case_of_the_exercises():
    page = names_of_the_page()
    page["W1"], page["w2"] = page["W1"].double(), page["w2"].double()
    scores = [[page["additive"](q, k) for k in KEYS] for q in QUERIES]
    expected = additive_scores(QUERIES, KEYS, page["W1"], page["w2"])
    torch.testing.assert_close(torch.stack([torch.stack(row) for row in scores]), expected)
    output, weights = page["attention"](QUERY, KEY, VALUE)
    wanted_output, wanted_weights = scaled_dot_product_attention(QUERY, KEY, VALUE)
    torch.testing.assert_close(output, wanted_output)
    torch.testing.assert_close(weights, wanted_weights)


def test_the_keys_of_the_first_figure_score_what_the_text_says():
    (drawn,) = re.findall(r"drawings\.plane\(\n\s+(.*?)\n\)", PAGE)
    query, keys = (torch.tensor(part) for part in ast.literal_eval(f"({drawn})"))
    assert (keys @ query).tolist() == pytest.approx([3, 3, 0, 2], abs=1e-6)
    angle = F.cosine_similarity(keys[1], query, dim=0).acos().rad2deg()
    assert angle.item() == pytest.approx(45) and keys[1].norm() > keys[0].norm()


def test_the_bilinear_sums_of_the_text():
    for j, key in enumerate(KEYS.int().tolist(), start=1):
        q1, q2, q3 = 1, 2, 0  # q1 with features 2 and 3 exchanged
        a, b, c = key
        assert rf"s_{{1{j}}} &= {q1}\cdot{a} + {q2}\cdot{b} + {q3}\cdot{c} = {q1 * a + q2 * b + q3 * c}" in PAGE


def test_lengths_cosines_and_sizes_of_the_text():
    assert [f"{x:.2f}" for x in KEYS.norm(dim=-1).tolist()] == ["1.41", "5.66", "3.74"]
    assert [f"{x:.2f}" for x in F.cosine_similarity(QUERIES[1], KEYS).tolist()] == ["0.82", "0.82", "0.93"]
    assert "lengths 1.41, 5.66 and 3.74" in PAGE and "cosines are 0.82, 0.82 and 0.93" in PAGE
    assert f"{2 * 512 * 64:,} numbers instead of {512 * 512:,}" in PAGE
    row = scaled_dot_scores(QUERIES, KEYS)[0].tolist()
    assert "[" + ", ".join(f"{x:.4f}" for x in row) + "]" in PAGE


def test_the_gradients_of_the_text_are_those_of_the_study():
    found = STUDY["gradient"]["found"]
    spreads = {
        (name, d): [spread(column) for column in zip(*found[name][str(d)], strict=True)]
        for name in found
        for d in (64, 1024)
    }
    (unscaled, dev), (scaled, dev_scaled) = spreads["unscaled", 64][0], spreads["scaled", 64][0]
    assert f"a median of {unscaled:.2f} (standard deviation {dev:.2f} over five seeds)" in PAGE
    assert f"against {scaled:.2f} ({dev_scaled:.2f})" in PAGE and len(STUDY["gradient"]["seeds"]) == 5
    assert f"About {spreads['unscaled', 64][2][0]:.0%}".replace("%", " %") in PAGE
    assert spreads["scaled", 64][2] == (0, 0)
    median, average, cut_off = (value for value, _ in spreads["unscaled", 1024][:3])
    assert f"the median is {median:.4f} and {cut_off:.0%}".replace("%", " %") in PAGE
    assert f"the mean, {average:.2f}, has not fallen" in PAGE and average > spreads["unscaled", 64][1][0]


def test_the_training_of_the_text_is_that_of_the_study():
    short, long = (STUDY["training"]["found"][f"output, {steps} steps"] for steps in (20, 100))
    assert len(STUDY["training"]["seeds"]) == 10 == len(short["scaled"]["64"])
    (plain, dev), (scaled, dev_scaled) = (spread(short[name]["64"]) for name in ("unscaled", "scaled"))
    assert f"{plain:.3f} against {scaled:.3f}." in PAGE and f"deviation, {dev:.3f} against {dev_scaled:.3f}" in PAGE
    assert abs(plain - scaled) < 0.2 * dev  # "no difference of the means"
    assert f"stayed at {short['unscaled']['64'][0]:.2f}" in PAGE
    at_1024 = [mean(short[name]["1024"]) for name in ("unscaled", "scaled")]
    assert f"{at_1024[0]:.3f} against {at_1024[1]:.3f}" in PAGE
    assert all(mean(short["unscaled"][d]) > mean(short["scaled"][d]) for d in ("4", "16"))
    assert min(mean(by_width["1024"]) for by_width in long.values()) > 0.97


@pytest.mark.full
def test_the_study_is_what_its_code_gives():
    for name in studies.SCORES:
        assert studies.weight_on_right_key(name, 64, 0) == pytest.approx(
            STUDY["training"]["found"]["output, 20 steps"][name]["64"][0], abs=0.02
        )  # other vector units round otherwise, 20 steps long


def test_additive_score_by_hand():
    w1 = torch.tensor([[1, 0, 0, -1, 0, 0], [0, 0, 1, 0, -1, 0]]).double()
    w2 = torch.tensor([2, 1]).double()
    expected = [2 * math.tanh(a) + math.tanh(b) for a, b in ((1, 1), (-3, -2), (-1, -1))]
    assert additive_scores(QUERIES, KEYS, w1, w2)[0].tolist() == pytest.approx(expected, rel=1e-12)
    assert [round(x, 4) for x in expected] == [2.2848, -2.9541, -2.2848]
    assert all(f"{x:.4f}" in PAGE for x in expected)


def test_additive_score_splits_into_a_query_and_a_key_part_and_is_bounded():
    query, key = 5 * torch.randn(4, 3).double(), 5 * torch.randn(6, 2).double()
    w1, w2 = torch.randn(7, 5).double(), torch.randn(7).double()
    scores = additive_scores(query, key, w1, w2)
    for i in range(4):
        for j in range(6):
            joined = w2 @ torch.tanh(w1 @ torch.cat([query[i], key[j]]))
            split = w2 @ torch.tanh(w1[:, :3] @ query[i] + w1[:, 3:] @ key[j])
            assert scores[i, j].item() == pytest.approx(joined.item()) == pytest.approx(split.item())
    assert (additive_scores(1000 * query, key, w1, w2).abs() <= w2.abs().sum()).all()


def test_bilinear_score_by_hand_and_as_a_dot_product_of_projections():
    swap = torch.tensor([[1, 0, 0], [0, 0, 1], [0, 1, 0]]).double()
    assert bilinear_scores(QUERIES, KEYS, swap)[0].tolist() == [2, 12, 8]
    x, y, w_q, w_k = (torch.randn(*shape).double() for shape in ((4, 7), (5, 6), (7, 3), (6, 3)))
    middle = w_q @ w_k.T
    torch.testing.assert_close(bilinear_scores(x, y, middle), dot_scores(x @ w_q, y @ w_k))
    assert torch.linalg.matrix_rank(middle) == 3


def test_a_dot_product_rewards_length_as_well_as_direction():
    scores = dot_scores(QUERIES, KEYS)
    assert (scores[:, 1] == scores.max(dim=1).values).all()  # the longest key wins or ties every row
    cosines = F.cosine_similarity(QUERIES[:, None], KEYS[None], dim=-1)
    assert cosines[1].argmax() == 2


def test_scores_of_the_four_keys_by_hand():
    assert dot_scores(QUERY, KEY).tolist() == [[10, 5, 9, 7], [11, 7, 12, 11], [7, 9, 14, 17]]
    weights = [math.exp(s / math.sqrt(3)) for s in (10, 5, 9, 7)]
    weights = [w / sum(weights) for w in weights]
    output = [sum(w * v[f] for w, v in zip(weights, VALUE.tolist(), strict=True)) for f in (0, 1)]
    assert [round(w, 4) for w in weights] == [0.5574, 0.0311, 0.3129, 0.0986]
    assert [round(x, 4) for x in output] == [1.9527, 1.8703]
    got_output, got_weights = scaled_dot_product_attention(QUERY, KEY, VALUE)
    assert got_weights[0].tolist() == pytest.approx(weights, rel=1e-12)
    assert got_output[0].tolist() == pytest.approx(output, rel=1e-12)
    scaled = [s / math.sqrt(3) for s in (10, 5, 9, 7)]
    exponentials = [math.exp(s - max(scaled)) for s in scaled]
    for row in (scaled, weights, output):
        assert "[" + r",\, ".join(f"{x:.4f}" for x in row) + "]" in PAGE
    assert "[1" + "".join(rf",\, {x:.4f}" for x in exponentials[1:]) + "]" in PAGE
    assert f"over the sum, {sum(exponentials):.4f}" in PAGE
    assert got_weights[1, 0].item() == pytest.approx(got_weights[1, 3].item())  # the tie that the page mentions


@pytest.mark.full
@pytest.mark.parametrize("d", [3, 48, 300])
def test_variance_of_dot_products_is_the_width(d):
    n = 20000
    products = (torch.randn(n, d).double() * torch.randn(n, d).double()).sum(dim=-1)
    error = math.sqrt((2 + 6 / d) / n)  # relative standard error: the kurtosis of the sum is 3 + 6/d
    assert abs(products.var().item() / d - 1) < 4 * error  # four standard errors: one seed in 16 000 would fail
    assert abs((products / math.sqrt(d)).var().item() - 1) < 4 * error


@pytest.mark.full
def test_kurtosis_behind_the_error_bars():
    n, d = 200000, 4
    products = (torch.randn(n, d).double() * torch.randn(n, d).double()).sum(dim=-1)
    kurtosis = (products**4).mean() / (products**2).mean() ** 2
    assert kurtosis.item() == pytest.approx(3 + 6 / d, rel=0.08)  # heavy tails: a few per cent of noise


@pytest.mark.full
def test_scaled_scores_leave_unit_variance_when_the_assumptions_fail():
    n, d = 4000, 256

    def scaled(q, k):
        return (q * k).sum(dim=-1) / math.sqrt(d)

    q, k = torch.randn(n, d), torch.randn(n, d)
    assert scaled(3 * q, 3 * k).std().item() == pytest.approx(9, rel=0.05)
    assert scaled(q.sign(), k.sign()).std().item() == pytest.approx(1, rel=0.05)
    assert scaled(q + 1, k + 1).mean().item() == pytest.approx(math.sqrt(d), rel=0.02)
    assert scaled(q + 1, k + 1).std().item() == pytest.approx(math.sqrt(3), rel=0.05)
    assert scaled(q, 0.5 * q + math.sqrt(0.75) * k).mean().item() == pytest.approx(0.5 * math.sqrt(d), rel=0.02)
    assert scaled(F.normalize(q, dim=-1), F.normalize(k, dim=-1)).std().item() == pytest.approx(1 / d, rel=0.05)
    one_direction = scaled(torch.randn(n, 1).expand(n, d), torch.randn(n, 1).expand(n, d))
    assert one_direction.std().item() == pytest.approx(math.sqrt(d), rel=0.1)


def test_a_common_mean_spreads_the_keys_of_one_query_by_root_two():
    d = 1024
    query, keys = torch.randn(1, d) + 1, torch.randn(8000, d) + 1
    assert scaled_dot_scores(query, keys).std().item() == pytest.approx(math.sqrt(2), rel=0.06)


@pytest.mark.full
def test_softmax_jacobian_is_diag_minus_outer_product():
    scores = torch.randn(5).double()
    weights = scores.softmax(dim=0)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), scores)
    torch.testing.assert_close(jacobian, weights.diag() - weights[:, None] * weights[None])
    assert (jacobian.abs() <= (weights * (1 - weights))[:, None] + 1e-12).all()


@pytest.mark.full
def test_large_scores_drive_one_weight_to_one_and_the_jacobian_to_zero():
    base = torch.tensor([1.0, 0.6, -0.3, -1.3]).double()
    norms = []
    for factor in (1, 10, 30, 100):
        weights = (factor * base).softmax(dim=0)
        assert weights.sum().item() == pytest.approx(1)
        norms.append((weights.diag() - weights[:, None] * weights[None]).norm().item())
    assert weights.max() > 1 - 1e-12
    assert norms == sorted(norms, reverse=True) and norms[-1] < 1e-10
    assert 112 - 96 == 16 and math.exp(-16) == pytest.approx(1.1e-7, rel=0.05)  # p(1-p) at that difference


def gradients(score, d, n=500):
    """Lengths of the gradient at n queries, from the formula Kᵀ J V g instead of autograd."""
    query, key, value = torch.randn(n, 1, d), torch.randn(n, 16, d), torch.randn(n, 16, 16)
    weights = score(query, key).softmax(dim=-1)[:, 0]  # (n, 16)
    at_weights = (value @ (torch.randn(n, 16, 1) / 4))[..., 0]
    at_scores = weights * (at_weights - (weights * at_weights).sum(dim=-1, keepdim=True))
    factor = 1 / math.sqrt(d) if score is scaled_dot_scores else 1
    return factor * (at_scores[:, None] @ key).norm(dim=-1).flatten()


def test_without_the_scale_the_median_gradient_vanishes_and_the_mean_does_not():
    small, large = gradients(dot_scores, 4), gradients(dot_scores, 1024)
    assert large.median() < 0.02 * small.median()
    assert (large < 1e-3).float().mean() > 0.4
    assert large.mean() > small.mean()


def test_with_the_scale_the_gradient_is_the_same_at_every_width():
    small, large = gradients(scaled_dot_scores, 16), gradients(scaled_dot_scores, 1024)
    assert large.median().item() == pytest.approx(small.median().item(), rel=0.15)
    assert (large < 1e-3).sum() == 0


def test_near_ties_carry_the_gradient_without_the_scale():
    generator = torch.Generator().manual_seed(1)
    n, d = 500, 1024
    query, key = torch.randn(n, 1, d, generator=generator), torch.randn(n, 16, d, generator=generator)
    query.requires_grad_()
    scores = dot_scores(query, key)
    (scores.softmax(dim=-1) @ torch.randn(n, 16, 16, generator=generator)).sum().backward()
    first, second = scores.detach()[:, 0].topk(2, dim=-1).values.unbind(dim=-1)
    lengths, close = query.grad.norm(dim=-1).flatten(), first - second < 5
    assert close.float().mean() < 0.4
    assert lengths[close].sum() > 0.9 * lengths.sum()


@pytest.mark.full
def test_cross_entropy_on_the_weights_does_not_saturate_where_it_is_wrong():
    scores = torch.tensor([[60.0, 0.0]], requires_grad=True)
    F.cross_entropy(scores, torch.tensor([1])).backward()
    assert scores.grad.tolist() == [[1.0, -1.0]]  # weights minus target
    through_the_values = torch.tensor([[60.0, 0.0]], requires_grad=True)
    output = through_the_values.softmax(dim=-1) @ torch.tensor([[0.0], [1.0]])
    (output - 1).square().sum().backward()
    assert through_the_values.grad.abs().max() < 1e-20


def test_additive_scores_stay_soft_where_unscaled_dot_products_saturate():
    d = 256
    query, key = torch.randn(1, d), torch.randn(400, 16, d)
    w1, w2 = torch.randn(d, 2 * d) / math.sqrt(2 * d), torch.randn(d) / math.sqrt(d)

    def largest(scores):
        return scores.softmax(dim=-1).amax(dim=-1).mean()

    assert largest(additive_scores(query, key, w1, w2)) < 0.2
    assert largest(scaled_dot_scores(query, key)) < 0.35
    assert largest(dot_scores(query, key)) > 0.8


@pytest.mark.full
def test_cost_of_additive_scores_at_4096_tokens():
    pairs, hidden = 4096 * 4096, 64
    assert pairs * hidden * 4 == 4 * 2**30  # bytes in float32: 4 GiB
    assert pairs * 4 == 64 * 2**20  # the scores: 64 MiB
    multiplications = (200 + 240) * 64 * hidden + 200 * 240 * hidden
    assert multiplications / (200 * 240 * 64) == pytest.approx(1.6, abs=0.05)


@pytest.mark.full
def test_dividing_late_does_not_mend_an_overflow_in_float16():
    query = torch.full((1, 64), 50.0, dtype=torch.float16)
    late = (query @ query.T) / 8
    assert torch.isinf(late).all() and torch.isnan(late - late).all()
    assert ((query / 8) @ query.T).item() == 20000
    assert torch.isfinite(query.bfloat16() @ query.bfloat16().T).all()
    assert 65504 / math.sqrt(64) == pytest.approx(8188)  # standard deviations of an unscaled score


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_attention_equals_torch_and_identity_values_show_the_weights(batch):
    query, key, value = (torch.randn(*batch, *shape).double() for shape in ((5, 4), (7, 4), (7, 6)))
    output, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, value))
    identity = torch.eye(7).double().expand(*batch, 7, 7)
    torch.testing.assert_close(weights, F.scaled_dot_product_attention(query, key, identity))
    unscaled = F.scaled_dot_product_attention(query, key, value, scale=1.0)
    torch.testing.assert_close(unscaled, dot_scores(query, key).softmax(dim=-1) @ value)


def test_dropout_acts_on_the_weights_in_use_and_not_on_those_returned():
    clean, weights = scaled_dot_product_attention(QUERY, KEY, VALUE)
    used, returned = scaled_dot_product_attention(QUERY, KEY, torch.eye(4).double(), dropout_p=0.5)
    assert torch.equal(returned, weights)
    assert all(u == 0 or u == pytest.approx(2 * w) for u, w in zip(used.flatten(), weights.flatten(), strict=True))
    n = 4000
    many = scaled_dot_product_attention(*(x.expand(n, -1, -1) for x in (QUERY, KEY, VALUE)), dropout_p=0.5)[0]
    error = many.std(dim=0) / math.sqrt(n)
    assert ((many.mean(dim=0) - clean).abs() < 5 * error).all()


@pytest.mark.full
def test_dropping_a_score_is_not_dropping_a_weight():
    scores = torch.tensor([-3.0, -1.0, 4.0, 0.5])
    zeroed = torch.tensor([0.0, -1.0, 4.0, 0.5])
    assert zeroed.softmax(dim=0)[0] > 15 * scores.softmax(dim=0)[0]
    assert math.exp(3) == pytest.approx(20, abs=0.1)


def test_the_column_form_without_scale_saturates_at_width_512():
    d, n = 512, 200
    x = torch.randn(d, n)
    w_q, w_k = (torch.randn(d, d) / math.sqrt(d) for _ in range(2))
    columns = (w_k @ x).T @ (w_q @ x)
    torch.testing.assert_close(columns.softmax(dim=0).T, dot_scores((w_q @ x).T, (w_k @ x).T).softmax(dim=-1))
    assert columns.softmax(dim=0).amax(dim=0).mean() > 0.85
    assert (columns / math.sqrt(d)).softmax(dim=0).amax(dim=0).mean() < 0.2


def test_dividing_by_the_number_of_keys_depends_on_keys_that_nobody_wants():
    more = torch.cat([KEY, torch.tensor([[-50.0, -50.0, 0.0]]).double().expand(12, 3)])

    def ratio(keys, divisor):
        weights = (dot_scores(QUERY, keys) / divisor).softmax(dim=-1)[2]
        return (weights[3] / weights[0]).item()

    assert ratio(KEY, math.sqrt(3)) == pytest.approx(ratio(more, math.sqrt(3)))
    assert ratio(KEY, math.sqrt(4)) == pytest.approx(math.exp(5))
    assert ratio(more, math.sqrt(16)) == pytest.approx(math.exp(2.5))
    by_length = dot_scores(QUERY, KEY) / KEY.norm(dim=-1).sqrt()
    assert by_length[1, 0] != pytest.approx(by_length[1, 3].item())  # the tie under √d_k is gone


@pytest.mark.full
def test_softmax_over_axis_1_of_a_batch_normalises_over_the_queries():
    scores = torch.randn(2, 5, 5).double()
    wrong = scores.softmax(dim=1)
    torch.testing.assert_close(wrong.sum(dim=-2), torch.ones(2, 5).double())
    assert not torch.allclose(wrong.sum(dim=-1), torch.ones(2, 5).double())


def test_dividing_the_weights_instead_of_the_scores_makes_rows_sum_to_less_than_one():
    weights = dot_scores(QUERY, KEY).softmax(dim=-1) / math.sqrt(3)
    torch.testing.assert_close(weights.sum(dim=-1), torch.full((3,), 1 / math.sqrt(3)).double())
