"""Launches whose kernels find memory by addresses in tensors: they run elsewhere, and files cannot lead out of them."""

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import diff
from tiletwin.diff import bounds, files, taking
from tiletwin.diff.backends import Latitude


@triton.jit
def sums(table, sizes, o, B: tl.constexpr):
    """Behind the table's numbers lie a pointer to a row and one to a tensor of one address."""
    row = tl.load(table + 2 * tl.program_id(0)).to(tl.pointer_type(tl.float16))
    last = tl.load(table + 2 * tl.program_id(0) + 1).to(tl.pointer_type(tl.int64))
    n, i = tl.load(sizes + tl.program_id(0)), tl.arange(0, B)
    total = tl.sum(tl.load(row + i, mask=i < n, other=0.0).to(tl.float32), 0)
    tl.store(tl.load(last).to(tl.pointer_type(tl.float32)), total)
    tl.store(o + tl.program_id(0), total)


@pytest.fixture
def launched():
    """A launch, and what it gives."""
    rows = [torch.randn(n).half() for n in (1, 7, 64)]
    found = torch.full((6,), 9.0)
    ends = [torch.tensor([found[2 * i :].data_ptr()]) for i in range(3)]
    table = torch.tensor([number for row, end in zip(rows, ends) for number in (row.data_ptr(), end.data_ptr())])
    args = {"table": table, "sizes": torch.tensor([1, 7, 64]), "o": torch.zeros(3), "B": 64}
    launch, taker = taking.take(sums, sums._launcher.prepare(**args), args, (3,), follows=True)
    expected = torch.stack([row.float().sum() for row in rows])
    places = [taker.places.index((t.data_ptr(), t.data_ptr() + t.nbytes)) for t in (table, found, args["o"])]
    for row in rows:
        row.fill_(float("nan"))  # the launch has what it held
    return launch, expected.numpy(), places


def test_a_launch_runs_where_its_memory_lies_elsewhere(launched, tmp_path):
    launch, expected, (table, found, o) = launched
    assert len(launch.reached) == 7 and len(launch.addresses) == 9 and not launch.memory[table].any()
    again = files.read(files.write(launch, tmp_path / f"x{files.SUFFIX}"))
    assert again.reached == launch.reached and again.addresses == launch.addresses
    for one in (launch, again):
        outcome = diff.BACKENDS["interp"]().run(one)
        assert not outcome.error, outcome.error
        np.testing.assert_allclose(outcome.memory[o].view(np.float32), expected, rtol=1e-6)
        np.testing.assert_array_equal(outcome.memory[found].view(np.float32)[::2], outcome.memory[o].view(np.float32))
        np.testing.assert_array_equal(outcome.memory[found].view(np.float32)[1::2], [9, 9, 9])
        assert not outcome.memory[table].any(), "addresses are nobody's results"


def test_who_wrote_what_is_derived_for_it(launched):
    launch, _, (_, _, o) = launched
    derived = bounds.derive(launch, Latitude())
    found = derived.writer(o, 1)
    assert found is not None and found[0] == (1, 0, 0)


def test_only_the_interpreter_follows(launched):
    assert "addresses" in diff.BACKENDS["sim"]().run(launched[0]).unsupported


@pytest.mark.parametrize(
    "change", [{"storage": 99}, {"to": 99}, {"offset": 1 << 40}, {"offset": -8}, {"byte": 1 << 40}]
)
def test_an_address_in_a_file_leads_nowhere_else(launched, tmp_path, change):
    launch = launched[0]
    launch.addresses[0] = launch.addresses[0]._replace(**change)
    path = files.write(launch, tmp_path / f"x{files.SUFFIX}")
    with pytest.raises(files.LaunchFileError, match=r"an address at byte .* lies outside of its storage"):
        files.read(path)
