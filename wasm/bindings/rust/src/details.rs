//! Why facts are so. `wasm/ABI.md` of the project describes each member.

use serde::{Deserialize, Serialize};

use crate::facts::position;
use crate::instance::defect;
use crate::{RefusalCode, Result};

/// Why the facts about an address are so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Details {
    /// Why the address is not valid.
    pub refusal: Option<Refusal>,
    /// The identity of the mailbox; none if the address is not valid.
    pub canonical: Option<String>,
    /// The provider's rule behind it, such as `gmail`.
    pub canonical_rule: Option<String>,
    /// What gave the address its role.
    pub role_evidence: Option<RoleEvidence>,
    /// What the lists know about the domain.
    pub provider_evidence: Option<ProviderEvidence>,
    /// Which provider is meant, and how the domain differs.
    pub typo_evidence: Option<TypoEvidence>,
    /// What determines the results.
    pub versions: Versions,
    /// What is unusual about the form of a valid address: `quoted`, `comment`, `literal`,
    /// `single_label`, `unknown_tld`, `special_use`, `generated`, `odd_character`,
    /// `looks_disposable`, `mailbox_form`.
    #[serde(default)] // a module of interface 2.0 has none
    pub form: Vec<String>,
    /// The host that takes the mail of the domain. None here, for nothing asks DNS.
    pub exchange: Option<Exchange>,
}

/// Why an address is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The reason.
    pub code: RefusalCode,
    /// The offset in the address of the offending byte.
    pub offset: usize,
    /// The section of the standard that the reason is based on.
    pub section: String,
    /// What is wrong and how to fix it, without a full stop.
    pub sentence: String,
    /// The address that is meant, if exactly one certain correction makes it valid.
    pub suggestion: Option<String>,
}

/// What gave an address its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoleEvidence {
    /// The word.
    pub word: String,
    /// How it matched: `word`, `separated`, `glued`, `part` or `host`.
    #[serde(rename = "match")]
    pub matched: String,
    /// The words beside it.
    pub qualifiers: Vec<String>,
}

/// What the lists know about a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderEvidence {
    /// The entry of the lists that covers the domain.
    pub entry: String,
    /// `disposable`, `public`, `relay`, `no_mail`, `known` or `unproven`.
    pub class: String,
    /// Whether the entry covers subdomains.
    pub subdomains: bool,
    /// The published lists and tables that have it.
    pub sources: Vec<String>,
}

/// The provider that a misspelled domain means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TypoEvidence {
    /// The provider's domain.
    pub target: String,
    /// The edits that lead there, in the order of the domain.
    pub edits: Vec<Edit>,
}

/// An edit of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Edit {
    /// Such as `substitution` or `missing_dot`.
    pub kind: String,
    /// Its place, in characters of the domain with U-labels (RFC 5890).
    pub at: usize,
    /// The text there; may be empty.
    pub from: String,
    /// The text meant; may be empty.
    pub to: String,
}

/// The host that takes the mail of a domain, in results of a program that asks DNS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exchange {
    /// What it belongs to, such as `suite` or `temporary`.
    pub class: String,
    /// Who runs it, such as `Google Workspace`.
    pub provider: Option<String>,
    /// The row of the table, or the name in the lists, that covers it.
    pub entry: Option<String>,
    /// The first exchange; none without MX.
    pub host: Option<String>,
    /// Without MX: whether the domain has an address record, to which mail goes; none if that
    /// lookup failed.
    pub address_record: Option<bool>,
}

/// The versions that determine the results: the same ones give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Versions {
    /// The version of the checks.
    pub engine: String,
    /// The version of the lists.
    pub lists: String,
    /// The version of the gibberish model.
    pub model: String,
}

impl Versions {
    pub(crate) fn parse(json: &[u8]) -> Result<Self> {
        serde_json::from_slice(json).map_err(|error| defect(&position(&error)))
    }
}
