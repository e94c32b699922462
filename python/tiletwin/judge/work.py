"""How much work torch operations are, and which ones are none: what allocates, views, copies, casts or fills.

Here:      the list, the count of one operation, a mode that sums it up.
Not here:  who may do how much (evidence.py).
Unit:      one unit is one element read or written; a product counts its multiplications.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

_FREE = frozenset(
    """
    alias arange as_strided broadcast_to cat clone constant_pad_nd contiguous copy_ _copy_from _to_copy detach detach_
    empty empty_like empty_permuted empty_strided expand fill_ full full_like gather index index_select is_pinned
    lift_fresh linspace new_empty new_empty_strided new_full new_ones new_zeros normal_ ones ones_like pin_memory rand
    rand_like randint randint_like randn randn_like random_ randperm repeat resize_ roll flip select_scatter set_
    slice_scatter stack _local_scalar_dense uniform_ unfold _unsafe_view view_copy zero_ zeros zeros_like bernoulli_
    scalar_tensor eye tril_indices triu_indices _assert_async _assert_tensor_metadata is_same_size equal
    repeat_interleave _reshape_alias _pin_memory record_stream resolve_conj resolve_neg
    """.split()
)


def name_of(func: Any) -> str:
    """ "aten::mm" of torch.ops.aten.mm.default is "mm"."""
    return func._schema.name.partition("::")[2]


def is_free(func: Any) -> bool:
    """Whether an operation computes nothing."""
    return func.is_view or name_of(func) in _FREE


def _elements(tree: Any) -> int:
    if isinstance(tree, torch.Tensor):
        return tree.numel()
    if isinstance(tree, (list, tuple)):
        return sum(map(_elements, tree))
    return 0


def work_of(func: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> float:
    """In units."""
    count = flop_registry.get(func._overloadpacket)
    elements = max(_elements(args), _elements(result))
    if count is None:
        return float(elements)
    try:
        return max(float(count(*args, **kwargs, out_val=result)) / 2, elements)
    except Exception:  # a formula for arguments that this call has not
        return float(elements)


class OperationMode(TorchDispatchMode):
    """A mode that sees every operation of torch. It is never traced by torch.compile, whose import takes seconds."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Work(OperationMode):
    """Attribute total: in units."""

    total = 0.0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not is_free(func):
            self.total += work_of(func, args, kwargs or {}, result)
        return result
