"""An expression of Polars that checks addresses: pip install 'addrspec[polars]'.

    >>> import polars as pl, addrspec.polars
    >>> frame = pl.DataFrame({"email": ["jane@gmial.com", None]})
    >>> frame.select(addrspec.polars.check("email").struct.field("typo_suggestion")).rows()
    [('gmail.com',), (None,)]

Lazy frames and the streaming engine take it too.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Optional, Union

try:
    import polars
except ImportError as error:
    raise ImportError("addrspec.polars needs Polars: pip install 'addrspec[polars]'") from error

from . import Checker, check_arrow
from ._arrow import facts_type, pyarrow_module

# Rows of one Arrow array: 32-bit offsets limit an array of results to 2 GiB of text.
_ROWS = 1 << 20


def check(
    addresses: Union[str, polars.Expr], *, full_suggestion: bool = False, checker: Optional[Checker] = None
) -> polars.Expr:
    """Returns an expression for the facts about a column of String, Binary or Categorical.

    Each row of the result is a struct of the 16 facts; null for a null; and valid false
    with all else null for an address over 1 MiB. It has the name of the column: use
    .alias("facts") to keep both. checker has lists of its own.
    """
    column = polars.col(addresses) if isinstance(addresses, str) else addresses
    if not isinstance(column, polars.Expr):
        raise TypeError(f"addresses must be the name of a column or an expression, not {type(addresses).__name__}")
    function = partial(_check, checker.check_arrow if checker else check_arrow, full_suggestion)
    return column.map_batches(function, return_dtype=_facts_type(), is_elementwise=True)


def _check(check: Any, full_suggestion: bool, column: polars.Series) -> polars.Series:
    """Returns the facts about a column, of which Polars passes a part or the whole."""
    pyarrow = pyarrow_module()
    parts = [column.slice(at, _ROWS).to_arrow() for at in range(0, max(len(column), 1), _ROWS)]
    facts = check(pyarrow.chunked_array(parts), full_suggestion=full_suggestion)
    return polars.Series(column.name, facts, _facts_type())


def _facts_type() -> Any:
    """Returns the type of a result in Polars."""
    return polars.Series(pyarrow_module().array([], facts_type())).dtype
