//! How a checker is made.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::engine;
use crate::pool::Pool;
use crate::{Checker, Result};

/// Options of a [`Checker`]; see [`Checker::builder`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let checker = addrspec::Checker::builder().instances(2.try_into()?).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Builder {
    instances: Option<NonZeroUsize>,
    lists: Option<Arc<[u8]>>,
    module: Option<Arc<[u8]>>,
}

impl Builder {
    /// How many threads check at the same time; others wait. Each takes 2 MB of memory
    /// once it has been needed. The default is one for each processor.
    pub fn instances(mut self, count: NonZeroUsize) -> Self {
        self.instances = Some(count);
        self
    }

    /// Newer lists; see [`Checker::set_lists`].
    pub fn lists(mut self, blob: &[u8]) -> Self {
        self.lists = Some(blob.into());
        self
    }

    /// Another build of addrspec.wasm instead of the one inside this crate.
    pub fn module(mut self, wasm: &[u8]) -> Self {
        self.module = Some(wasm.into());
        self
    }

    /// Compiles the module, once per process, and starts an instance.
    pub fn build(self) -> Result<Checker> {
        let module = match self.module {
            Some(wasm) => engine::compile(&wasm)?,
            None => engine::own_module()?,
        };
        let limit = self
            .instances
            .or_else(|| std::thread::available_parallelism().ok());
        let pool = Pool::new(module, limit.map_or(1, NonZeroUsize::get), self.lists);
        pool.lend(|_| Ok(()))?;
        Ok(Checker::with_pool(pool))
    }
}
