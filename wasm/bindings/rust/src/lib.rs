//! Checks email addresses offline: whether one is valid, and if its provider is
//! disposable, public or a relay, if it belongs to a role such as support, if its
//! domain is misspelled, and how random its local part looks. Nothing is sent, and
//! nothing asks DNS.
//!
//! ```
//! # fn main() -> Result<(), addrspec::Error> {
//! let checker = addrspec::Checker::new()?;
//! let facts = checker.check("Jane.Doe+news@Example.org")?;
//! assert!(facts.valid && facts.alias);
//! assert_eq!(facts.domain.as_deref(), Some("example.org"));
//! # Ok(())
//! # }
//! ```
//!
//! The checks are those of every other addrspec package, for they are the same
//! WebAssembly module, which is inside this crate. [`Facts::json`] has its bytes.
//!
//! # Engines
//!
//! | feature | engine | when |
//! |---|---|---|
//! | `wasmi` (default) | an interpreter | a form's address at a time; compiles fast |
//! | `wasmtime` | a compiler | many addresses |
//! | `cache` | wasmtime, which keeps the machine code in the user's cache directory | many short processes |
//!
//! The README has the figures. With both engines, wasmtime runs the module.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(not(any(feature = "wasmi", feature = "wasmtime")))]
compile_error!("addrspec needs an engine: enable the feature `wasmi` or `wasmtime`");

mod builder;
mod checker;
mod details;
mod engine;
mod error;
mod facts;
mod instance;
mod many;
mod names;
mod policy;
mod pool;
mod refusal;
mod role;

pub use builder::Builder;
pub use checker::Checker;
pub use details::{Details, Edit, Exchange, ProviderEvidence, Refusal, RoleEvidence, TypoEvidence, Versions};
pub use error::Error;
pub use facts::Facts;
pub use policy::{Action, Found, Policy, Verdict};
pub use refusal::RefusalCode;
pub use role::Role;

/// The longest input, in bytes: 1 MiB. The longest valid address has 254.
pub const MAX_ADDRESS: usize = 1 << 20;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
