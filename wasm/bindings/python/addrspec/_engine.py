"""What runs the checks: the native extension where the wheel has one, else wasmtime.

Both have Instance, which is one instance of the module, and value, which reads a fact in JSON.
"""

from __future__ import annotations

try:
    from ._native import Instance, value

    NATIVE = True
except ImportError:
    try:
        from ._wasmtime import Instance, value  # type: ignore[assignment]
    except ImportError as error:
        raise ImportError("addrspec needs wasmtime where it has no native code: pip install wasmtime") from error
    NATIVE = False

__all__ = ["NATIVE", "Instance", "engine", "value"]


def engine() -> str:
    """Returns what runs the checks: "native", or "wasmtime" where the wheel has no native code."""
    return "native" if NATIVE else "wasmtime"
