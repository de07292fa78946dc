//! Instances for threads that check at the same time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::engine::Module;
use crate::instance::Instance;
use crate::{Error, Result};

/// At most `limit` instances with the same lists, which start when they are needed.
pub(crate) struct Pool {
    module: Module,
    lists: Option<Arc<[u8]>>,
    limit: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Instance>,
    started: usize,
}

impl Pool {
    pub(crate) fn new(module: Module, limit: usize, lists: Option<Arc<[u8]>>) -> Self {
        Self {
            module,
            lists,
            limit,
            state: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Returns an empty pool like this one, with other lists.
    pub(crate) fn with_lists(&self, lists: Arc<[u8]>) -> Self {
        Self::new(self.module.clone(), self.limit, Some(lists))
    }

    /// Lends an instance to `work`, and waits for one if all are in use. After a panic
    /// or an error the instance is discarded, unless the module refused a policy.
    pub(crate) fn lend<T>(&self, work: impl FnOnce(&mut Instance) -> Result<T>) -> Result<T> {
        let mut place = Place {
            pool: self,
            idle: self.reserve(),
        };
        let mut instance = match place.idle.take() {
            Some(instance) => instance,
            None => self.start()?,
        };
        let result = work(&mut instance);
        if matches!(result, Ok(_) | Err(Error::PolicyRefused { .. })) {
            place.idle = Some(instance);
        }
        result
    }

    /// Returns an idle instance, or none with the right to start one.
    fn reserve(&self) -> Option<Instance> {
        let mut state = self.lock();
        loop {
            if let Some(instance) = state.idle.pop() {
                return Some(instance);
            }
            if state.started < self.limit {
                state.started += 1;
                return None;
            }
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn start(&self) -> Result<Instance> {
        let mut instance = Instance::new(&self.module)?;
        if let Some(lists) = &self.lists {
            instance.set_lists(lists)?;
        }
        Ok(instance)
    }

    /// The state cannot be inconsistent after a panic: no step between two changes of it
    /// panics.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use one instance, given back at the end with what is idle then.
struct Place<'a> {
    pool: &'a Pool,
    idle: Option<Instance>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        match self.idle.take() {
            Some(instance) => state.idle.push(instance),
            None => state.started -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}
