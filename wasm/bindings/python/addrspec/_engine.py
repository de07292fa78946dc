"""The compiled module, once per process."""

from __future__ import annotations

import os
import threading
from importlib.resources import files
from typing import Optional, Tuple

from wasmtime import Config, Engine, Module, WasmtimeError

_lock = threading.Lock()
_compiled: Optional[Tuple[Engine, Module]] = None


def compiled() -> Tuple[Engine, Module]:
    """Returns the module of this package, which the first call compiles."""
    global _compiled
    with _lock:
        if _compiled is None:
            engine = _engine()
            _compiled = engine, Module(engine, files(__package__).joinpath("addrspec.wasm").read_bytes())
        return _compiled


def _engine() -> Engine:
    """Returns an engine that keeps machine code in the user's cache directory.

    Compiling takes 2.5 s of processor time, loading the code 0.1 s. wasmtime's cache
    has the module and wasmtime's version in its keys.
    """
    try:
        config = _config()
        config.cache = True
        return Engine(config)
    except WasmtimeError:
        return Engine(_config())  # there is no such directory: compile at each start


def _config() -> Config:
    """Returns a configuration without threads for compiling.

    wasmtime's threads do not survive a fork: a child of a process that has compiled
    anything would wait for them for ever.
    """
    config = Config()
    config.parallel_compilation = False
    return config


def _unlock() -> None:
    """Frees the lock in the child of a process that was compiling in another thread."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)
