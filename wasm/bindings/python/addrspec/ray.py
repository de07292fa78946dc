"""Checks in Ray Data, by a function on batches of Arrow.

    from addrspec.ray import with_facts, with_verdict

    people = ray.data.read_parquet("people/")
    with_facts(people, "email", prefix="email_")
    with_verdict(people, "email", {"block": {"reasons": ["disposable"]}})    # action, reason and rule

Each worker process loads the module once, and keeps nothing between rows. A null is a
null in every new column; an address over 1 MiB has valid false and all else null, and
the verdict block.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

import pyarrow
from ray.data import Dataset

from . import Policy, check_arrow
from ._default import deciding

__all__ = ["with_facts", "with_verdict"]


def with_facts(dataset: Dataset, column: str, prefix: str = "", *, canonical: bool = False) -> Dataset:
    """Returns dataset with a column for each of the 16 facts about the addresses in column.

    prefix begins the name of each new column. canonical adds a column of that name.
    """
    return _with(dataset, partial(check_arrow, canonical=canonical), column, prefix)


def with_verdict(dataset: Dataset, column: str, policy: Policy, prefix: str = "") -> Dataset:
    """Returns dataset with columns action, reason and rule of the verdicts on the addresses in column.

    Raises PolicyRefused, which has the place, if the document is no policy: before any
    task. It takes no lookups. prefix begins the name of each new column.
    """
    return _with(dataset, deciding(policy), column, prefix)


def _with(dataset: Dataset, function: Callable[[Any], Any], column: str, prefix: str) -> Dataset:
    return dataset.map_batches(partial(_add, function=function, column=column, prefix=prefix), batch_format="pyarrow")


def _add(batch: pyarrow.Table, function: Callable[[Any], Any], column: str, prefix: str) -> pyarrow.Table:
    results = function(batch.column(column).combine_chunks())
    for n, field in enumerate(results.type):
        if prefix + field.name in batch.column_names:
            raise ValueError(f"the dataset has a column {prefix + field.name}; give another prefix")
        # flatten gives a null struct null members
        batch = batch.append_column(prefix + field.name, results.flatten()[n])
    return batch
