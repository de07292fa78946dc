//! What a check returns.
//!
//! serde_json reads the module's JSON: nearly every program has it already, and a
//! parser of our own would have to be as careful.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::instance::defect;
use crate::{Details, Result, Role};

/// The facts about one address. serde writes them as the module does.
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facts {
    /// The address as given; bytes that are not UTF-8 are U+FFFD.
    pub email: String,
    /// Whether it is an addr-spec (RFC 5322 section 3.4.1, RFC 6531) that mail can carry.
    pub valid: bool,
    /// Lower case, Unicode NFC, without comments; none unless valid.
    pub normalized: Option<String>,
    /// The part before the @, in its own case; none unless valid.
    pub local_part: Option<String>,
    /// Whether the local part has a plus tag with text before it.
    pub alias: bool,
    /// Whether every byte is ASCII.
    pub ascii: bool,
    /// The category of a role account, such as support; otherwise none.
    pub role: Option<Role>,
    /// Whether `gibberish_score` is 0.5 or more.
    pub gibberish: bool,
    /// The probability that the local part is random, 0 to 1.
    pub gibberish_score: f64,
    /// The part after the @, in lower case; none unless valid.
    pub domain: Option<String>,
    /// None, for nothing here asks DNS; false if there is no domain to look up.
    pub mx: Option<bool>,
    /// Whether the domain is a known disposable provider.
    pub disposable: bool,
    /// Whether anyone can open a mailbox at the domain.
    pub public: bool,
    /// Whether the domain hides the real mailbox behind forwarding.
    pub relay: bool,
    /// Whether the domain looks like a misspelling of a common provider.
    pub typo: bool,
    /// The corrected domain, or address if [`full_suggestion`](crate::Checker::full_suggestion)
    /// is set; none unless `typo`.
    pub typo_suggestion: Option<String>,
    /// Why the facts are so; only after [`explain`](crate::Checker::explain).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
    #[serde(skip)]
    json: Box<str>,
}

/// How the module writes [`Facts`].
#[derive(Deserialize)]
#[serde(remote = "Facts")]
struct Wire {
    email: String,
    valid: bool,
    normalized: Option<String>,
    local_part: Option<String>,
    alias: bool,
    ascii: bool,
    role: Option<Role>,
    gibberish: bool,
    gibberish_score: f64,
    domain: Option<String>,
    mx: Option<bool>,
    disposable: bool,
    public: bool,
    relay: bool,
    typo: bool,
    typo_suggestion: Option<String>,
    #[serde(default)]
    details: Option<Box<Details>>,
    #[serde(skip)]
    json: Box<str>,
}

impl Facts {
    /// Returns the module's own JSON: the same bytes as in every other addrspec package.
    pub fn json(&self) -> &str {
        &self.json
    }

    pub(crate) fn parse(json: &str) -> Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let mut facts = Wire::deserialize(&mut reader).map_err(|error| defect(&position(&error)))?;
        facts.json = json.into();
        Ok(facts)
    }
}

/// Describes an error of serde_json by its place, for its own text quotes the JSON.
pub(crate) fn position(error: &serde_json::Error) -> String {
    format!("byte {} of a result is not as expected", error.column())
}

/// Without the address, since logs print it.
impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Facts")
            .field("valid", &self.valid)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_repeat_the_json() {
        for json in [
            "",
            "{}",
            "[]",
            r#"{"email":"jane@mail.example","valid":"jane@mail.example"}"#,
        ] {
            let error = Facts::parse(json).unwrap_err().to_string();
            assert!(!error.contains("jane"), "{error}");
        }
    }
}
