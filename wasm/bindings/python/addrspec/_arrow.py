"""Checks of Arrow arrays, the form in which engines for large data hold columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Union

from ._instance import FULL_SUGGESTION, MAX_ADDRESS

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]  # it has no types of its own

    from ._checker import Checker

# Rows that are checked at a time, so that a large array does not need several times
# its size in memory.
_ROWS = 16 << 10

# A row in place of an address over MAX_ADDRESS bytes, which the module does not take.
_TOO_LONG = b'{"valid":false}'


def check_arrow(
    checker: Checker, array: Union[pyarrow.Array, pyarrow.ChunkedArray], full_suggestion: bool
) -> Union[pyarrow.StructArray, pyarrow.ChunkedArray]:
    """See Checker.check_arrow."""
    pa = _pyarrow()
    if isinstance(array, pa.ChunkedArray):
        chunks = [_check_array(pa, checker, chunk, full_suggestion) for chunk in array.chunks]
        return pa.chunked_array(chunks, facts_type())
    if not isinstance(array, pa.Array):
        raise TypeError(f"array must be a pyarrow Array or ChunkedArray, not {type(array).__name__}")
    return _check_array(pa, checker, array, full_suggestion)


def facts_type() -> pyarrow.DataType:
    """Returns the type of a row: a struct of the 16 facts."""
    pa = _pyarrow()
    text, flag = pa.string(), pa.bool_()
    return pa.struct(
        [
            ("email", text),
            ("valid", flag),
            ("normalized", text),
            ("local_part", text),
            ("alias", flag),
            ("ascii", flag),
            ("role", text),
            ("gibberish", flag),
            ("gibberish_score", pa.float64()),
            ("domain", text),
            ("mx", flag),
            ("disposable", flag),
            ("public", flag),
            ("relay", flag),
            ("typo", flag),
            ("typo_suggestion", text),
        ]
    )


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("check_arrow needs pyarrow: pip install 'addrspec[arrow]'") from error
    return pyarrow


def _check_array(pa: Any, checker: Checker, array: Any, full_suggestion: bool) -> Any:
    column = _as_binary(pa, array)
    parts = [_check_rows(pa, checker, column.slice(at, _ROWS), full_suggestion) for at in range(0, len(column), _ROWS)]
    return pa.concat_arrays(parts) if parts else pa.array([], facts_type())


def _as_binary(pa: Any, array: Any) -> Any:
    """Returns an array of texts as an array of bytes."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
        kind = array.type
    if pa.types.is_null(kind):
        return array.cast(pa.string()).cast(pa.large_binary())
    if "string" in str(kind) or "binary" in str(kind) and not pa.types.is_fixed_size_binary(kind):
        return array.cast(pa.large_binary())
    raise TypeError(f"array must have texts or bytes, not {kind}")


def _check_rows(pa: Any, checker: Checker, column: Any, full_suggestion: bool) -> Any:
    addresses: List[bytes] = []
    rows: List[Any] = []  # the index of each row's result; None for a null, -1 if too long
    for value in column.to_pylist():
        if value is None or len(value) > MAX_ADDRESS:
            rows.append(None if value is None else -1)
        else:
            rows.append(len(addresses))
            addresses.append(value)
    results = checker._check_many(addresses, FULL_SUGGESTION if full_suggestion else 0)
    facts = _parse(pa, results + [_TOO_LONG])
    if len(addresses) == len(rows):
        return facts.slice(0, len(rows))
    return facts.take(pa.array([len(addresses) if row == -1 else row for row in rows], pa.int64()))


def _parse(pa: Any, results: List[bytes]) -> Any:
    """Returns results as an array of structs.

    pyarrow's reader of JSON takes a third of the time of json.loads and pyarrow.array.
    """
    from pyarrow import json

    kind = facts_type()
    table = json.read_json(
        pa.BufferReader(b"\n".join(results)),
        read_options=json.ReadOptions(use_threads=False, block_size=2 * sum(map(len, results)) + len(results)),
        parse_options=json.ParseOptions(explicit_schema=pa.schema(list(kind)), unexpected_field_behavior="ignore"),
    )
    columns = {field.name: table.column(field.name).combine_chunks() for field in kind}
    columns["mx"] = pa.nulls(len(results), pa.bool_())  # nothing here asks DNS
    return pa.StructArray.from_arrays(list(columns.values()), fields=list(kind))
