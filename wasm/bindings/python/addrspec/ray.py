"""Checks in Ray Data, by a function on batches of Arrow.

    from addrspec.ray import with_facts

    with_facts(ray.data.read_parquet("people/"), "email", prefix="email_")

Each worker process loads the module once, and keeps nothing between rows. A null is a
null in every new column; an address over 1 MiB has valid false and all else null.
"""

from __future__ import annotations

from functools import partial

import pyarrow
from ray.data import Dataset

from . import check_arrow

__all__ = ["with_facts"]


def with_facts(dataset: Dataset, column: str, prefix: str = "") -> Dataset:
    """Returns dataset with a column for each of the 16 facts about the addresses in column.

    prefix begins the name of each new column.
    """
    return dataset.map_batches(partial(_add, column=column, prefix=prefix), batch_format="pyarrow")


def _add(batch: pyarrow.Table, column: str, prefix: str) -> pyarrow.Table:
    facts = check_arrow(batch.column(column).combine_chunks())
    for n, field in enumerate(facts.type):
        if prefix + field.name in batch.column_names:
            raise ValueError(f"the dataset has a column {prefix + field.name}; give another prefix")
        # flatten gives a null struct null members
        batch = batch.append_column(prefix + field.name, facts.flatten()[n])
    return batch
