//! Policies, which turn facts into a verdict.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::Result;
use crate::instance::defect;

/// A policy that [`Checker::policy`](crate::Checker::policy) has accepted. A clone is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Policy {
    pub(crate) document: Arc<str>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}

/// What you have looked up about an address. A reason that needs what is `None` is skipped.
///
/// ```
/// let found = addrspec::Found { mx: Some(true), ..Default::default() };
/// assert_eq!(found.address_record, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The domain has MX records.
    pub mx: Option<bool>,
    /// The domain has an address record to which mail goes without MX records.
    pub address_record: Option<bool>,
    /// The exchanges of the domain are those of throw-away services.
    pub disposable: bool,
}

impl Found {
    /// The word of the interface.
    pub(crate) fn word(self) -> u32 {
        known(self.mx) | known(self.address_record) << 2
    }
}

fn known(fact: Option<bool>) -> u32 {
    match fact {
        None => 0,
        Some(false) => 1,
        Some(true) => 3,
    }
}

/// What a policy does with an address.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// Nothing speaks against it.
    Allow,
    /// A person should look at it, or its owner confirm it.
    Review,
    /// It should be refused.
    Block,
}

/// What a policy decides about an address.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What to do.
    pub action: Action,
    /// Such as "disposable", "domain" or "invalid"; `None` if no rule applied.
    pub reason: Option<String>,
    /// Its place in the policy, such as `block.reasons[1]`.
    pub rule: Option<String>,
    #[serde(skip)]
    json: String,
}

impl Verdict {
    pub(crate) fn parse(json: &[u8]) -> Result<Self> {
        let mut verdict: Self =
            serde_json::from_slice(json).map_err(|_| defect("a verdict is not as expected"))?;
        verdict.json = String::from_utf8_lossy(json).into_owned();
        Ok(verdict)
    }

    /// The bytes of the module, an object with `action`, `reason` and `rule`.
    pub fn json(&self) -> &str {
        &self.json
    }
}
