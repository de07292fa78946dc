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
        raise ImportError("addrspec has no native code for this Python, and there is no wasmtime: pip install wasmtime") from error
    NATIVE = False

__all__ = ["NATIVE", "Instance", "engine", "value"]


def engine() -> str:
    """Returns what runs the checks: "native", or "wasmtime" where the wheel has no native code. The results are the same."""
    return "native" if NATIVE else "wasmtime"
