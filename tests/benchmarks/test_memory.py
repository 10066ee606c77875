"""Peak memory is that of the call alone, in a process of its own."""

import pytest
import torch

from benchmarks import attention_rows, cost, gate
from benchmarks.apart import run_apart
from benchmarks.attention_rows import Group, memory_of

MIB = 2**20


def refuse():
    raise gate.GateError("no")


def vanish():
    import os

    os._exit(7)


def test_an_error_in_the_other_process_is_raised_here():
    with pytest.raises(gate.GateError, match="no"):
        run_apart(refuse)


def test_a_process_that_dies_is_named_with_its_exit_code():
    with pytest.raises(RuntimeError, match="vanish.*exit code 7"):
        run_apart(vanish)


def test_naive_attention_needs_its_score_matrices_and_blockwise_does_not():
    group = Group(cost.Shape(1, 1, 2048, 16), False, "float32", ("naive", "blockwise 128"))
    matrix = 4 * group.shape.scores  # bytes of one (L, L) matrix
    naive, blockwise = (run_apart(memory_of, group, name, "forward", 1) for name in group.names)
    assert matrix < naive < 6 * matrix + 8 * MIB
    assert blockwise < matrix


def test_groups_of_a_full_run_name_variants_that_exist():
    groups = list(attention_rows.cpu_groups(quick=False))
    assert max(one.shape.length for one in groups) == 8192
    assert {one.dtype for one in groups} == {"float32", "bfloat16"}
    assert all(set(one.backward) <= set(one.names) for one in groups)
    assert all(one.causal for one in groups if one.backward) and torch.get_num_threads() > 0
