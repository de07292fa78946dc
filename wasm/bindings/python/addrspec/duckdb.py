"""Functions of DuckDB that check addresses: pip install 'addrspec[duckdb]'.

    >>> import duckdb, addrspec.duckdb
    >>> connection = duckdb.connect()
    >>> addrspec.duckdb.register(connection)
    >>> connection.sql("SELECT addrspec_check('jane@gmial.com').typo_suggestion").fetchall()
    [('gmail.com',)]
    >>> addrspec.duckdb.register_verdict(connection, {"review": {"reasons": ["typo"]}})
    >>> connection.sql("SELECT addrspec_verdict('jane@gmial.com').action").fetchall()
    [('review',)]

DuckDB passes them a vector of 2,048 rows at a time, in Arrow's layout. They keep the
interpreter's lock but for the check, and with wasmtime for most of it, so that DuckDB's threads
take turns.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import Checker, Policy, check_arrow
from ._arrow import facts_type, verdict_type
from ._default import deciding

if TYPE_CHECKING:
    import duckdb

_TYPES = {"string": "VARCHAR", "bool": "BOOLEAN", "double": "DOUBLE"}


def register(
    connection: duckdb.DuckDBPyConnection,
    name: str = "addrspec_check",
    *,
    full_suggestion: bool = False,
    canonical: bool = False,
    checker: Optional[Checker] = None,
) -> None:
    """Adds two functions to a connection: name(VARCHAR) and name_blob(BLOB).

    Both return a STRUCT of the 16 facts, and with canonical of that too; NULL for NULL; and
    valid = false with all else NULL for an address over 1 MiB. checker has lists of its own.
    """
    options = {"full_suggestion": full_suggestion, "canonical": canonical}
    _register(connection, name, partial(checker.check_arrow if checker else check_arrow, **options), facts_type(canonical))


def register_verdict(
    connection: duckdb.DuckDBPyConnection,
    policy: Policy,
    name: str = "addrspec_verdict",
    *,
    checker: Optional[Checker] = None,
) -> None:
    """Adds two functions to a connection that decide by a policy: name(VARCHAR) and name_blob(BLOB).

    Both return a STRUCT of action, reason and rule, without lookups; NULL for NULL; and
    block for an address over 1 MiB. Raises PolicyRefused, which has the place, if the
    document is no policy. Register another policy by another name. checker has lists of
    its own.
    """
    _register(connection, name, deciding(policy, checker), verdict_type())


def _register(connection: duckdb.DuckDBPyConnection, name: str, function: Callable[[Any], Any], result: Any) -> None:
    def of_column(addresses: Any) -> Any:  # DuckDB counts the parameters, and a partial's include those given
        return function(addresses)

    # "special" passes NULL too: DuckDB would otherwise copy the rows without it.
    options: Any = {"type": "arrow", "null_handling": "special"}
    connection.create_function(name, of_column, ["VARCHAR"], _sql(result), **options)
    connection.create_function(f"{name}_blob", of_column, ["BLOB"], _sql(result), **options)


def _sql(struct: Any) -> Any:
    """Returns a type of Arrow in SQL."""
    return "STRUCT(" + ", ".join(f'"{field.name}" {_TYPES[str(field.type)]}' for field in struct) + ")"
