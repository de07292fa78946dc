"""Checks in Apache Spark, by a user-defined function that takes columns of Arrow.

    from addrspec.spark import facts, with_facts

    people.select("id", facts("email").alias("facts"))      # one column, a struct
    with_facts(people, "email", prefix="email_")            # a column for each fact
    spark.udf.register("addrspec", facts)                   # in SQL: addrspec(email).valid

The workers need the package too: install it there, or ship an environment with it
(spark.archives). Each Python worker loads the module once, and keeps nothing between
rows. A null is a null struct; an address over 1 MiB has valid false and all else null.

Needs Spark 4.1, whose arrow_udf copies nothing to pandas.
"""

from __future__ import annotations

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.functions import arrow_udf, col
from pyspark.sql.pandas.types import from_arrow_type

from . import check_arrow
from ._arrow import facts_type

__all__ = ["facts", "with_facts"]

_SCHEMA = from_arrow_type(facts_type())


@arrow_udf(_SCHEMA)
def facts(addresses: pyarrow.Array) -> pyarrow.Array:
    """The facts about a column of addresses, texts or binary: a struct."""
    return check_arrow(addresses)


def with_facts(frame: DataFrame, column: str, prefix: str = "") -> DataFrame:
    """Returns frame with a column for each of the 16 facts about the addresses in column.

    prefix begins the name of each new column. A name that frame has already is a
    ValueError, for Spark would make a column that cannot be named.
    """
    names = {name: prefix + name for name in _SCHEMA.fieldNames()}
    taken = sorted(set(map(str.lower, names.values())) & set(map(str.lower, frame.columns)))
    if taken:
        raise ValueError(f"the frame has columns of these names: {', '.join(taken)}; give another prefix")
    checked = frame.withColumn("__addrspec", facts(col(column)))
    return checked.select(*frame.columns, *(col("__addrspec")[name].alias(new) for name, new in names.items()))
