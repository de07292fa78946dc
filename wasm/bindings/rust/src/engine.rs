//! The engine that runs the module, chosen by features, and the compiled module.

use std::sync::{Mutex, PoisonError};

use crate::{Error, Result};

#[cfg(not(feature = "wasmtime"))]
pub(crate) use wasmi::{Engine, Instance, Memory, Module, Store, TypedFunc};
#[cfg(feature = "wasmtime")]
pub(crate) use wasmtime::{Engine, Instance, Memory, Module, Store, TypedFunc};

const WASM: &[u8] = include_bytes!("addrspec.wasm");

/// The module of this crate, once it is compiled. All checkers of the process share
/// it. A failure is not kept: the next checker tries again.
static COMPILED: Mutex<Option<Module>> = Mutex::new(None);

/// Returns the module of this crate, which the first call compiles.
pub(crate) fn own_module() -> Result<Module> {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*compiled {
        Some(module) => Ok(module.clone()),
        None => Ok(compiled.insert(compile(WASM)?).clone()),
    }
}

/// Compiles a module.
pub(crate) fn compile(wasm: &[u8]) -> Result<Module> {
    Module::new(&engine()?, wasm).map_err(failed)
}

/// Converts an error of the engine, with its causes. None contains an address, which
/// the engine never sees as such.
pub(crate) fn failed(error: impl std::fmt::Display) -> Error {
    Error::Engine(format!("{error:#}"))
}

#[cfg(not(feature = "wasmtime"))]
fn engine() -> Result<Engine> {
    Ok(Engine::default())
}

#[cfg(all(feature = "wasmtime", not(feature = "cache")))]
fn engine() -> Result<Engine> {
    Engine::new(&wasmtime::Config::new()).map_err(failed)
}

/// Returns an engine that keeps machine code in the user's cache directory, by digests of
/// the module and wasmtime's version, or one without if there is no such directory.
#[cfg(feature = "cache")]
fn engine() -> Result<Engine> {
    let mut config = wasmtime::Config::new();
    if let Ok(cache) = wasmtime::Cache::new(wasmtime::CacheConfig::new()) {
        config.cache(Some(cache));
    }
    Engine::new(&config).map_err(failed)
}
