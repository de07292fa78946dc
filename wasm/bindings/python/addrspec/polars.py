"""Expressions of Polars that check addresses: pip install 'addrspec[polars]'.

    >>> import polars as pl, addrspec.polars
    >>> frame = pl.DataFrame({"email": ["jane@gmial.com", None]})
    >>> frame.select(addrspec.polars.check("email").struct.field("typo_suggestion")).rows()
    [('gmail.com',), (None,)]
    >>> frame.select(addrspec.polars.verdict("email", {"review": {"reasons": ["typo"]}}).struct.field("action")).rows()
    [('review',), (None,)]

Lazy frames and the streaming engine take them too.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Optional, Union

try:
    import polars
except ImportError as error:
    raise ImportError("addrspec.polars needs Polars: pip install 'addrspec[polars]'") from error

from . import Checker, Policy, check_arrow
from ._arrow import facts_type, pyarrow_module, verdict_type
from ._default import deciding

# Rows of one Arrow array: 32-bit offsets limit an array of results to 2 GiB of text.
_ROWS = 1 << 20


def check(
    addresses: Union[str, polars.Expr],
    *,
    full_suggestion: bool = False,
    canonical: bool = False,
    checker: Optional[Checker] = None,
) -> polars.Expr:
    """Returns an expression for the facts about a column of String, Binary or Categorical.

    Each row of the result is a struct of the 16 facts, and with canonical of that too; null for
    a null; and valid false with all else null for an address over 1 MiB. It has the name of the
    column: use .alias("facts") to keep both. checker has lists of its own.
    """
    options = {"full_suggestion": full_suggestion, "canonical": canonical}
    return _map(addresses, partial(checker.check_arrow if checker else check_arrow, **options), facts_type(canonical))


def verdict(addresses: Union[str, polars.Expr], policy: Policy, *, checker: Optional[Checker] = None) -> polars.Expr:
    """Returns an expression for the verdicts of a policy on a column, without lookups.

    Each row of the result is a struct of action, reason and rule; null for a null; and
    block for an address over 1 MiB. Raises PolicyRefused, which has the place, if the
    document is no policy. The column and checker are as for check.
    """
    return _map(addresses, deciding(policy, checker), verdict_type())


def _map(addresses: Union[str, polars.Expr], function: Callable[[Any], Any], result: Any) -> polars.Expr:
    column = polars.col(addresses) if isinstance(addresses, str) else addresses
    if not isinstance(column, polars.Expr):
        raise TypeError(f"addresses must be the name of a column or an expression, not {type(addresses).__name__}")
    dtype = polars.Series(pyarrow_module().array([], result)).dtype
    return column.map_batches(partial(_results, function, dtype), return_dtype=dtype, is_elementwise=True)


def _results(function: Callable[[Any], Any], dtype: Any, column: polars.Series) -> polars.Series:
    """Returns the results for a column, of which Polars passes a part or the whole."""
    parts = [column.slice(at, _ROWS).to_arrow() for at in range(0, max(len(column), 1), _ROWS)]
    return polars.Series(column.name, function(pyarrow_module().chunked_array(parts)), dtype)
