//! What can go wrong. No message contains an address.

use std::fmt;

/// An error of a checker. An address that is not valid is a result, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// An address is longer than [`MAX_ADDRESS`](crate::MAX_ADDRESS). No address was checked.
    AddressTooLong {
        /// Its place among the addresses, from 0; 0 if there is one.
        index: usize,
        /// Its length in bytes.
        length: usize,
    },
    /// The names of the exchanges of a domain are longer than 64 KiB, with 4 bytes for each.
    ExchangesTooLong {
        /// Their length in bytes.
        length: usize,
    },
    /// The module refused newer lists; those before are still in use. The text says
    /// what is wrong with them.
    ListsRefused(String),
    /// A document is no policy.
    PolicyRefused {
        /// The place in it: `block.reasons[2]`, or such as `line 3, column 7` if it is no JSON.
        place: String,
        /// Of the place, in bytes.
        offset: usize,
        /// The place, `: `, what is wrong there and how to fix it.
        sentence: String,
    },
    /// The engine could not compile, start or run the module. The text says why.
    /// The next call uses a new instance.
    Engine(String),
    /// The module does not follow the interface of this crate. The text says where.
    Module(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressTooLong { index, length } => write!(
                f,
                "address {index} (from 0) has {length} bytes; at most {} are accepted: shorten or leave it out",
                crate::MAX_ADDRESS
            ),
            Self::ExchangesTooLong { length } => write!(
                f,
                "the exchanges have {length} bytes; at most 64 KiB are accepted: pass \"*\" for the last of them"
            ),
            Self::ListsRefused(why) => write!(f, "the lists were refused: {why}"),
            Self::PolicyRefused { sentence, .. } => write!(f, "the policy was refused: {sentence}"),
            Self::Engine(why) => write!(f, "the engine failed: {why}"),
            Self::Module(why) => write!(f, "the module is defective: {why}"),
        }
    }
}

impl std::error::Error for Error {}
