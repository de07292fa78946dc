"""Checks in Apache Spark, by user-defined functions that take columns of Arrow.

    from addrspec.spark import facts, verdict, with_facts, with_verdict

    people.select("id", facts("email").alias("facts"))      # one column, a struct
    with_facts(people, "email", prefix="email_")            # a column for each fact
    spark.udf.register("addrspec", facts)                   # in SQL: addrspec(email).valid
    people.groupBy(canonical("email")).count()              # how many addresses each mailbox has

    people.select("id", verdict(policy)("email").alias("v"))  # a struct of action, reason and rule
    with_verdict(people, "email", policy, prefix="v_")        # a column for each of them
    spark.udf.register("signup", verdict(policy))             # in SQL: signup(email).action

The workers need the package too: install it there, or ship an environment with it
(spark.archives). Each Python worker loads the module once, and keeps nothing between
rows. A null is a null struct; an address over 1 MiB has valid false and all else null,
and the verdict block.

Needs Spark 4.1, whose arrow_udf copies nothing to pandas.
"""

from __future__ import annotations

from typing import Any

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.functions import arrow_udf, col
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StringType

from . import Policy, check_arrow
from ._arrow import facts_type, verdict_type
from ._default import deciding

__all__ = ["canonical", "facts", "verdict", "with_facts", "with_verdict"]

_SCHEMA = from_arrow_type(facts_type())
_VERDICT = from_arrow_type(verdict_type())


@arrow_udf(_SCHEMA)
def facts(addresses: pyarrow.Array) -> pyarrow.Array:
    """The facts about a column of addresses, texts or binary: a struct."""
    return check_arrow(addresses)


@arrow_udf(StringType())
def canonical(addresses: pyarrow.Array) -> pyarrow.Array:
    """The identities of the mailboxes of a column of addresses: canonical of the details, null unless valid."""
    return check_arrow(addresses, canonical=True).field("canonical")


def verdict(policy: Policy) -> Any:
    """Returns a function for the verdicts of a policy on a column of addresses: a struct.

    Raises PolicyRefused, which has the place, if the document is no policy: in the driver,
    before any task. The function takes no lookups.
    """
    decide = deciding(policy)

    @arrow_udf(_VERDICT)
    def addrspec_verdict(addresses: pyarrow.Array) -> pyarrow.Array:
        return decide(addresses)

    return addrspec_verdict


def with_facts(frame: DataFrame, column: str, prefix: str = "") -> DataFrame:
    """Returns frame with a column for each of the 16 facts about the addresses in column.

    prefix begins the name of each new column. A name that frame has already is a
    ValueError, for Spark would make a column that cannot be named.
    """
    return _with(frame, column, facts, _SCHEMA, prefix)


def with_verdict(frame: DataFrame, column: str, policy: Policy, prefix: str = "") -> DataFrame:
    """Returns frame with columns action, reason and rule of the verdicts on the addresses in column.

    policy is as for verdict, and prefix as for with_facts.
    """
    return _with(frame, column, verdict(policy), _VERDICT, prefix)


def _with(frame: DataFrame, column: str, function: Any, schema: Any, prefix: str) -> DataFrame:
    names = {name: prefix + name for name in schema.fieldNames()}
    taken = sorted(set(map(str.lower, names.values())) & set(map(str.lower, frame.columns)))
    if taken:
        raise ValueError(f"the frame has columns of these names: {', '.join(taken)}; give another prefix")
    checked = frame.withColumn("__addrspec", function(col(column)))
    return checked.select(*frame.columns, *(col("__addrspec")[name].alias(new) for name, new in names.items()))
