"""A function of DuckDB that checks addresses: pip install 'addrspec[duckdb]'.

    >>> import duckdb, addrspec.duckdb
    >>> connection = duckdb.connect()
    >>> addrspec.duckdb.register(connection)
    >>> connection.sql("SELECT addrspec_check('jane@gmial.com').typo_suggestion").fetchone()
    ('gmail.com',)

DuckDB passes it a vector of 2,048 rows at a time, in Arrow's layout. It keeps the
interpreter's lock meanwhile but for the check, so its threads take turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import Checker, check_arrow
from ._arrow import facts_type

if TYPE_CHECKING:
    import duckdb

_TYPES = {"string": "VARCHAR", "bool": "BOOLEAN", "double": "DOUBLE"}


def register(
    connection: duckdb.DuckDBPyConnection,
    name: str = "addrspec_check",
    *,
    full_suggestion: bool = False,
    checker: Optional[Checker] = None,
) -> None:
    """Adds two functions to a connection: name(VARCHAR) and name_blob(BLOB).

    Both return a STRUCT of the 16 facts; NULL for NULL; and valid = false with all
    else NULL for an address over 1 MiB. checker has lists of its own.
    """
    check = checker.check_arrow if checker else check_arrow

    def function(addresses: Any) -> Any:
        return check(addresses, full_suggestion=full_suggestion)

    # "special" passes NULL too: DuckDB would otherwise copy the rows without it.
    options: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function(name, function, ["VARCHAR"], _facts_type(), **options)
    connection.create_function(f"{name}_blob", function, ["BLOB"], _facts_type(), **options)


def _facts_type() -> Any:
    """Returns the type of a result in SQL."""
    return "STRUCT(" + ", ".join(f'"{field.name}" {_TYPES[str(field.type)]}' for field in facts_type()) + ")"
