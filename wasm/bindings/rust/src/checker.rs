//! Checks of addresses, for any number of threads.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::instance::{DETAILS, FULL_SUGGESTION, record};
use crate::pool::Pool;
use crate::{Builder, Error, Facts, Found, MAX_ADDRESS, Policy, Result, Verdict, Versions, many};

/// The most that the names of a domain's exchanges may have, with 4 bytes for each.
const MAX_EXCHANGES: usize = 64 << 10;

/// Checks addresses. Any number of threads may share one; a clone is cheap and uses
/// the same instances and lists.
///
/// ```
/// # fn main() -> Result<(), addrspec::Error> {
/// let checker = addrspec::Checker::new()?;
/// std::thread::scope(|threads| {
///     for _ in 0..4 {
///         threads.spawn(|| checker.check("support@example.org").map(|facts| facts.role));
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Checker {
    pool: Arc<RwLock<Arc<Pool>>>,
    flags: u32,
}

impl Checker {
    /// Returns a checker with the module and the lists inside this crate.
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// Returns options to make a checker with.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_pool(pool: Pool) -> Self {
        Self {
            pool: Arc::new(RwLock::new(Arc::new(pool))),
            flags: 0,
        }
    }

    /// Returns a checker whose suggestion for a misspelled domain is the whole corrected
    /// address, not its domain. It shares the instances and lists of this one.
    ///
    /// ```
    /// # fn main() -> Result<(), addrspec::Error> {
    /// let checker = addrspec::Checker::new()?.full_suggestion(true);
    /// let facts = checker.check("jane@gmial.com")?;
    /// assert_eq!(facts.typo_suggestion.as_deref(), Some("jane@gmail.com"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn full_suggestion(&self, full: bool) -> Self {
        let flags = if full { FULL_SUGGESTION } else { 0 };
        Self {
            pool: Arc::clone(&self.pool),
            flags,
        }
    }

    /// Returns the facts about an address: text, or bytes that need not be UTF-8. Pass it
    /// unchanged.
    pub fn check(&self, address: impl AsRef<[u8]>) -> Result<Facts> {
        self.one(address.as_ref(), self.flags)
    }

    /// Returns the facts and why they are so, in [`Facts::details`].
    ///
    /// ```
    /// # fn main() -> Result<(), addrspec::Error> {
    /// let facts = addrspec::Checker::new()?.explain("jane@@example.org")?;
    /// let refusal = facts.details.and_then(|details| details.refusal).unwrap();
    /// assert_eq!(refusal.code, addrspec::RefusalCode::SecondAt);
    /// assert_eq!(refusal.offset, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn explain(&self, address: impl AsRef<[u8]>) -> Result<Facts> {
        self.one(address.as_ref(), self.flags | DETAILS)
    }

    /// Returns the facts about many addresses, in their order, in few calls of the
    /// module. If one is too long, no address is checked.
    ///
    /// ```
    /// # fn main() -> Result<(), addrspec::Error> {
    /// let facts = addrspec::Checker::new()?.check_many(&["jane@example.org", "jane"])?;
    /// assert_eq!([facts[0].valid, facts[1].valid], [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_many<A: AsRef<[u8]>>(&self, addresses: &[A]) -> Result<Vec<Facts>> {
        self.all(addresses, self.flags)
    }

    /// Returns the facts about many addresses and why they are so.
    pub fn explain_many<A: AsRef<[u8]>>(&self, addresses: &[A]) -> Result<Vec<Facts>> {
        self.all(addresses, self.flags | DETAILS)
    }

    /// Returns the policy of a JSON document, for this and any other checker.
    ///
    /// ```
    /// # fn main() -> Result<(), addrspec::Error> {
    /// use addrspec::{Action, Found};
    /// let checker = addrspec::Checker::new()?;
    /// let policy = checker.policy(r#"{"block": {"reasons": ["no_mx"]}, "review": {"reasons": ["role"]}}"#)?;
    /// let verdict = checker.verdict("info@example.org", &policy, Found::default())?;
    /// assert_eq!((verdict.action, verdict.rule.as_deref()), (Action::Review, Some("review.reasons[0]")));
    /// let without_mx = Found { mx: Some(false), ..Default::default() };
    /// assert_eq!(checker.verdict("info@example.org", &policy, without_mx)?.action, Action::Block);
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(&self, document: &str) -> Result<Policy> {
        let document: Arc<str> = document.into();
        self.pool().lend(|instance| instance.load(&document))?;
        Ok(Policy { document })
    }

    /// Returns the verdict of a policy on an address, with what you have looked up. An
    /// instance keeps the policies that were used last, at most 16 with documents of 4 MiB
    /// together.
    pub fn verdict(&self, address: impl AsRef<[u8]>, policy: &Policy, found: Found) -> Result<Verdict> {
        self.verdict_with_exchanges(address, policy, found, &[""; 0])
    }

    /// Returns the verdict of a policy that may have `exchanges`, with the names of the
    /// domain's exchanges in lower case, and `*` for those that are left out.
    ///
    /// ```
    /// # fn main() -> Result<(), addrspec::Error> {
    /// let checker = addrspec::Checker::new()?;
    /// let policy = checker.policy(r#"{"block": {"exchanges": ["*.burner.example"]}}"#)?;
    /// let found = addrspec::Found { mx: Some(true), ..Default::default() };
    /// let verdict = checker.verdict_with_exchanges("jane@example.org", &policy, found, &["mx.burner.example"])?;
    /// assert_eq!(verdict.action, addrspec::Action::Block);
    /// # Ok(())
    /// # }
    /// ```
    pub fn verdict_with_exchanges(
        &self,
        address: impl AsRef<[u8]>,
        policy: &Policy,
        found: Found,
        exchanges: &[impl AsRef<str>],
    ) -> Result<Verdict> {
        accept(0, address.as_ref())?;
        let exchanges = exchanges
            .iter()
            .flat_map(|name| record(name.as_ref().as_bytes()))
            .collect::<Vec<u8>>();
        if exchanges.len() > MAX_EXCHANGES {
            return Err(Error::ExchangesTooLong {
                length: exchanges.len(),
            });
        }
        self.pool()
            .lend(|instance| instance.verdict(&policy.document, address.as_ref(), found, &exchanges))
    }

    /// Replaces the lists of providers and words by a newer `lists.blob`, for all clones
    /// of this checker; checks in progress keep those before. Verify the blob's signature
    /// first. If the module refuses it, nothing changes.
    pub fn set_lists(&self, blob: &[u8]) -> Result<()> {
        let pool = self.pool().with_lists(blob.into());
        pool.lend(|_| Ok(()))?; // an instance has taken them over
        *self.pool.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pool);
        Ok(())
    }

    /// Returns the versions that determine the results.
    pub fn versions(&self) -> Result<Versions> {
        self.pool().lend(|instance| Versions::parse(instance.info()?))
    }

    fn one(&self, address: &[u8], flags: u32) -> Result<Facts> {
        accept(0, address)?;
        self.pool()
            .lend(|instance| Facts::parse(instance.check(address, flags)?))
    }

    fn all<A: AsRef<[u8]>>(&self, addresses: &[A], flags: u32) -> Result<Vec<Facts>> {
        addresses
            .iter()
            .enumerate()
            .try_for_each(|(index, address)| accept(index, address.as_ref()))?;
        let mut all = Vec::with_capacity(addresses.len());
        self.pool().lend(|instance| {
            many::check_many(instance, addresses, flags, |json| {
                all.push(Facts::parse(json)?);
                Ok(())
            })
        })?;
        Ok(all)
    }

    fn pool(&self) -> Arc<Pool> {
        Arc::clone(&self.pool.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Refuses an address that the module has no room for.
fn accept(index: usize, address: &[u8]) -> Result<()> {
    match address.len() {
        length if length > MAX_ADDRESS => Err(Error::AddressTooLong { index, length }),
        _ => Ok(()),
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker")
            .field("full_suggestion", &(self.flags != 0))
            .finish_non_exhaustive()
    }
}
