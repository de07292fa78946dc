"""Checks of Arrow arrays, the form in which engines for large data hold columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, List, NamedTuple, Optional, Tuple, Union

from ._abi import DETAILS, FULL_SUGGESTION, MAX_ADDRESS
from ._engine import NATIVE
from ._policy import Policy, document

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]  # it has no types of its own

    from ._checker import Checker

# How many rows, and bytes of addresses, are checked at a time, so that the results of
# a large array or of hostile rows do not need several times its size in memory.
_ROWS = 16 << 10
_BYTES = 8 << 20

# An array of texts has at most 2 GiB (32-bit offsets). email is the longest text of a
# result, up to three times as long as the address: U+FFFD for a byte has three.
_MOST = ((1 << 31) - 1) // 3

# Rows without a result: of a null, and of an address over MAX_ADDRESS bytes, which the
# module does not take.
_NULL = b"{}"
_TOO_LONG = b'{"valid":false}'
_TOO_LONG_VERDICT = b'{"action":"block","reason":"invalid"}'


class _Results(NamedTuple):
    """What a row of the result is."""

    type: pyarrow.DataType
    of: Callable[[List[bytes]], List[bytes]]  # returns a JSON object for each address
    of_too_long: bytes
    native: Callable[[Any], Any]  # returns the capsule of an array of structs for that of an array of large binary


def check_arrow(
    checker: Checker, array: Union[pyarrow.Array, pyarrow.ChunkedArray], full_suggestion: bool, canonical: bool
) -> Union[pyarrow.StructArray, pyarrow.ChunkedArray]:
    """See Checker.check_arrow."""
    flags = (FULL_SUGGESTION if full_suggestion else 0) | (DETAILS if canonical else 0)

    def of(addresses: List[bytes]) -> List[bytes]:
        return checker._check_many(addresses, flags)

    return _map(array, _Results(facts_type(canonical), of, _TOO_LONG, lambda rows: checker._arrow(rows, flags, None)))


def verdict_arrow(
    checker: Checker, array: Union[pyarrow.Array, pyarrow.ChunkedArray], policy: Policy
) -> Union[pyarrow.StructArray, pyarrow.ChunkedArray]:
    """See Checker.verdict_arrow."""
    text = document(policy)
    checker.verdict_many([], text)  # without a row that needs it, the policy would not be verified

    def of(addresses: List[bytes]) -> List[bytes]:
        return checker._verdict_many(addresses, text)

    return _map(array, _Results(verdict_type(), of, _TOO_LONG_VERDICT, lambda rows: checker._arrow(rows, 0, text)))


def _map(array: Any, results: _Results) -> Any:
    pa = pyarrow_module()
    if isinstance(array, pa.ChunkedArray):
        columns = (_as_binary(pa, chunk) for chunk in array.chunks)
        return pa.chunked_array([part for column in columns for part in _map_parts(pa, column, results)], results.type)
    if not isinstance(array, pa.Array):
        raise TypeError(f"array must be a pyarrow Array or ChunkedArray, not {type(array).__name__}")
    column = _as_binary(pa, array)
    _require_room(column.nbytes)
    parts = [*_map_parts(pa, column, results)]
    return parts[0] if len(parts) == 1 else pa.concat_arrays([pa.array([], results.type), *parts])


def facts_type(canonical: bool = False) -> pyarrow.DataType:
    """Returns the type of facts: a struct of 16, or with canonical of 17."""
    pa = pyarrow_module()
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
            *([("canonical", text)] if canonical else []),
        ]
    )


def verdict_type() -> pyarrow.DataType:
    """Returns the type of a verdict: a struct of action, reason and rule."""
    pa = pyarrow_module()
    return pa.struct([(name, pa.string()) for name in ("action", "reason", "rule")])


def pyarrow_module() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError("this needs pyarrow: pip install 'addrspec[arrow]'") from error
    return pyarrow


def _as_binary(pa: Any, array: Any) -> Any:
    """Returns an array of texts or bytes as one of bytes."""
    if pa.types.is_dictionary(array.type):
        return _decoded(pa, array)
    if not any(getattr(pa.types, f"is_{name}")(array.type) for name in _KINDS):
        raise TypeError(f"array must have texts or bytes, not {array.type}")
    return array.cast(pa.large_binary())


_KINDS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view", "null")


def _decoded(pa: Any, array: Any) -> Any:
    """Returns the values of a dictionary array. A small one can have gigabytes."""
    from pyarrow import compute

    values = _as_binary(pa, array.dictionary)
    _require_room(compute.sum(compute.binary_length(values).take(array.indices)).as_py() or 0)
    return values.take(array.indices)


def _require_room(size: int) -> None:
    if size > _MOST:
        raise ValueError(f"array has {size} bytes, and an array of results has room for {_MOST}: pass a ChunkedArray of smaller chunks")


def _map_parts(pa: Any, column: Any, results: _Results) -> Iterator[Any]:
    """Yields the results for a column, in one array of the native engine or in several."""
    if NATIVE:
        _, rows = column.__arrow_c_array__()
        yield pa.array(_Exported(results.type, results.native(rows)))
        return
    for part in _parts(column):
        yield _map_rows(pa, part, results)


class _Exported:
    """An array of the native engine, by the PyCapsule interface of Arrow."""

    def __init__(self, kind: pyarrow.DataType, array: Any):
        self._kind, self._array = kind, array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        return self._kind.__arrow_c_schema__(), self._array


def _parts(column: Any) -> Iterator[Any]:
    """Yields slices of a column, each with at most _ROWS rows and _BYTES bytes or one row."""
    for at in range(0, len(column), _ROWS):
        yield from _halves(column.slice(at, _ROWS))


def _halves(rows: Any) -> Iterator[Any]:
    if len(rows) == 1 or rows.nbytes <= _BYTES:
        yield rows
    else:
        half = len(rows) // 2
        yield from _halves(rows.slice(0, half))
        yield from _halves(rows.slice(half))


def _map_rows(pa: Any, rows: Any, results: _Results) -> Any:
    addresses = rows.to_pylist()
    of_taken = iter(results.of([address for address in addresses if _fits(address)]))
    lines = [next(of_taken) if _fits(address) else _NULL if address is None else results.of_too_long for address in addresses]
    return _parse(pa, lines, rows.is_null(), results.type)


def _fits(address: Optional[bytes]) -> bool:
    return address is not None and len(address) <= MAX_ADDRESS


def _parse(pa: Any, results: List[bytes], nulls: Any, kind: pyarrow.DataType) -> Any:
    """Returns results as an array of structs.

    pyarrow's reader of JSON takes a third of the time of json.loads and pyarrow.array.
    """
    from pyarrow import compute, json

    details = pa.field("details", pa.struct([("canonical", pa.string())]))
    table = json.read_json(
        pa.BufferReader(b"\n".join(results)),
        # One block for all: a row must not be longer than a block.
        read_options=json.ReadOptions(use_threads=False, block_size=2 * sum(map(len, results)) + len(results)),
        parse_options=json.ParseOptions(explicit_schema=pa.schema([*kind, details]), unexpected_field_behavior="ignore"),
    )
    columns = {field.name: table.column(field.name).combine_chunks() for field in kind}
    if "canonical" in columns:  # a member of the details
        columns["canonical"] = compute.struct_field(table.column("details").combine_chunks(), "canonical")
    return pa.StructArray.from_arrays(list(columns.values()), fields=list(kind), mask=nulls)
