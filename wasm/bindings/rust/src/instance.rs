//! One instance of the module: its exports and buffers (`wasm/ABI.md` of the project).

use std::ops::Range;
use std::sync::Arc;

use crate::engine::{Instance as Linked, Memory, Module, Store, TypedFunc, failed};
use crate::{Error, Found, Result, Verdict};

const MAJOR: u32 = 2;

/// Flag: the suggestion is the whole corrected address, not its domain.
pub(crate) const FULL_SUGGESTION: u32 = 1;
/// Flag: the result has one more member, `details`.
pub(crate) const DETAILS: u32 = 2;

/// How many policies an instance has.
const SLOTS: usize = 16;
/// How many bytes their documents have together, more than the longest one.
const POLICY_BYTES: usize = 4 << 20;
/// The bit of word 0 of the report that is `disposable`.
const DISPOSABLE: u32 = 1 << 5;

/// A running module. `&mut self` ensures that one thread uses it at a time. After an
/// error but `PolicyRefused` it must be discarded: its memory may be inconsistent.
pub(crate) struct Instance {
    store: Store<()>,
    memory: Memory,
    check: TypedFunc<(u32, u32), i32>,
    many: TypedFunc<(u32, u32), i32>,
    info: TypedFunc<(), i32>,
    lists: TypedFunc<u32, i32>,
    policy: Option<TypedFunc<(u32, u32), i32>>, // since interface 2.2
    decide: Option<TypedFunc<(u32, u32), i32>>,
    policies: Vec<Loaded>, // the last used one last
    input: usize,
    capacity: usize,
    output: usize,
    report: usize,
}

/// A policy in a slot of the instance.
struct Loaded {
    document: Arc<str>,
    slot: usize,
}

impl Instance {
    /// Starts an instance. The module has no imports.
    pub(crate) fn new(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let linked = Linked::new(&mut store, module, &[]).map_err(failed)?;
        require_version(&linked, &mut store)?;
        let mut get = |name| Ok::<_, Error>(constant(&linked, &mut store, name)? as usize);
        let (input, capacity) = (get("addrspec_in_ptr")?, get("addrspec_in_cap")?);
        let (output, report) = (get("addrspec_out_ptr")?, get("addrspec_report_ptr")?);
        let memory = linked
            .get_memory(&mut store, "memory")
            .ok_or_else(|| defect("it exports no memory"))?;
        let check = linked
            .get_typed_func(&mut store, "addrspec_check")
            .map_err(failed)?;
        let info = linked
            .get_typed_func(&mut store, "addrspec_info")
            .map_err(failed)?;
        let lists = linked
            .get_typed_func(&mut store, "addrspec_lists")
            .map_err(failed)?;
        let many = linked
            .get_typed_func(&mut store, "addrspec_check_many")
            .map_err(failed)?;
        let policy = linked.get_typed_func(&mut store, "addrspec_policy").ok();
        let decide = linked.get_typed_func(&mut store, "addrspec_verdict").ok();
        Ok(Self {
            policy,
            decide,
            policies: Vec::new(),
            store,
            memory,
            check,
            many,
            info,
            lists,
            input,
            capacity,
            output,
            report,
        })
    }

    /// Returns the result for an address, a JSON object.
    pub(crate) fn check(&mut self, address: &[u8], flags: u32) -> Result<&str> {
        self.write(0, address)?;
        let length = self
            .check
            .call(&mut self.store, (address.len() as u32, flags))
            .map_err(failed)?;
        let json = self.output("addrspec_check", length)?;
        std::str::from_utf8(json).map_err(|_| defect("a result is not UTF-8"))
    }

    /// Checks the records in the first `length` bytes of the input; returns the output.
    pub(crate) fn check_filled(&mut self, length: usize, flags: u32) -> Result<&[u8]> {
        let length = self
            .many
            .call(&mut self.store, (length as u32, flags))
            .map_err(failed)?;
        self.output("addrspec_check_many", length)
    }

    /// Returns the versions that determine the results, a JSON object.
    pub(crate) fn info(&mut self) -> Result<&[u8]> {
        let length = self.info.call(&mut self.store, ()).map_err(failed)?;
        self.output("addrspec_info", length)
    }

    /// Replaces the lists by a blob, in pieces; the empty one installs it.
    pub(crate) fn set_lists(&mut self, blob: &[u8]) -> Result<()> {
        for piece in blob.chunks(self.capacity.max(1)) {
            self.write(0, piece)?;
            self.take(piece.len())?;
        }
        self.take(0)
    }

    fn take(&mut self, length: usize) -> Result<()> {
        match self.lists.call(&mut self.store, length as u32).map_err(failed)? {
            0 => Ok(()),
            -4 => Err(Error::ListsRefused(self.sentence()?)),
            -5 => Err(Error::ListsRefused("the lists are larger than 4 MiB".into())),
            code => Err(defect(&format!("addrspec_lists returned {code}"))),
        }
    }

    /// Returns the verdict of a policy on an address.
    pub(crate) fn verdict(&mut self, policy: &Arc<str>, address: &[u8], found: Found) -> Result<Verdict> {
        let slot = self.slot(policy)?;
        self.check(address, 0)?;
        let subject = self.subject(found)?;
        self.write(0, &subject)?;
        let decide = self.decide.as_ref().ok_or_else(without_policies)?;
        let length = decide
            .call(&mut self.store, (slot as u32, subject.len() as u32))
            .map_err(failed)?;
        let output = self.output("addrspec_verdict", length)?;
        Verdict::parse(output.get(4..).unwrap_or_default())
    }

    /// What a policy needs of the last check: words 0 and 1 of the report, what was found,
    /// and the host text, of words 9 and 10, after its length.
    fn subject(&self, found: Found) -> Result<Vec<u8>> {
        let start = self.output + self.word(9)?;
        let host = self.read(start..start + self.word(10)?)?;
        let disposable = if found.disposable { DISPOSABLE } else { 0 };
        let words = [
            self.word(0)? as u32 | disposable,
            self.word(1)? as u32,
            found.word(),
            host.len() as u32,
        ];
        Ok([&words.map(u32::to_le_bytes).concat(), host].concat())
    }

    /// Returns the slot of a policy, and loads it if the instance does not have it.
    pub(crate) fn slot(&mut self, document: &Arc<str>) -> Result<usize> {
        let has = |loaded: &Loaded| loaded.document == *document;
        let loaded = match self.policies.iter().position(has) {
            Some(n) => self.policies.remove(n),
            None => self.load(document)?,
        };
        let slot = loaded.slot;
        self.policies.push(loaded);
        while self.policies.iter().map(|p| p.document.len()).sum::<usize>() > POLICY_BYTES {
            self.drop_oldest()?;
        }
        Ok(slot)
    }

    fn load(&mut self, document: &Arc<str>) -> Result<Loaded> {
        if self.policies.len() == SLOTS {
            self.drop_oldest()?;
        }
        let free = |slot: &usize| self.policies.iter().all(|loaded| loaded.slot != *slot);
        let slot = (0..SLOTS).find(free).unwrap_or_default();
        self.fill(slot, document)?;
        Ok(Loaded {
            document: Arc::clone(document),
            slot,
        })
    }

    /// Frees the slot and the memory of the policy that was used least recently.
    fn drop_oldest(&mut self) -> Result<()> {
        let oldest = self.policies.remove(0);
        self.fill(oldest.slot, "{}")
    }

    fn fill(&mut self, slot: usize, document: &str) -> Result<()> {
        for piece in document.as_bytes().chunks(self.capacity.max(1)) {
            self.write(0, piece)?;
            self.pass(slot, piece.len())?;
        }
        self.pass(slot, 0)
    }

    fn pass(&mut self, slot: usize, length: usize) -> Result<()> {
        let policy = self.policy.as_ref().ok_or_else(without_policies)?;
        match policy
            .call(&mut self.store, (slot as u32, length as u32))
            .map_err(failed)?
        {
            0 => Ok(()),
            -7 => Err(self.refused()?),
            code => Err(defect(&format!("addrspec_policy returned {code}"))),
        }
    }

    /// The error of a document that is no policy; word 12 is the offset.
    fn refused(&self) -> Result<Error> {
        let sentence = self.sentence()?;
        Ok(Error::PolicyRefused {
            place: sentence.split(": ").next().unwrap_or_default().into(),
            offset: self.word(12)?,
            sentence,
        })
    }

    /// The sentence of the report: words 17 and 18 are its offset and length.
    fn sentence(&self) -> Result<String> {
        let (at, length) = (self.word(17)?, self.word(18)?);
        let start = self.output + at;
        Ok(String::from_utf8_lossy(self.read(start..start + length)?).into_owned())
    }

    fn word(&self, n: usize) -> Result<usize> {
        let at = self.report + 4 * n;
        let bytes = self
            .read(at..at + 4)?
            .try_into()
            .map_err(|_| defect("a word is cut off"))?;
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    /// The capacity of the input buffer.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Writes bytes to the input buffer, `at` bytes after its beginning.
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.capacity || at > self.capacity - bytes.len() {
            return Err(defect("its input buffer is too small"));
        }
        self.memory
            .write(&mut self.store, self.input + at, bytes)
            .map_err(failed)
    }

    fn output(&self, function: &str, length: i32) -> Result<&[u8]> {
        let length = usize::try_from(length).map_err(|_| defect(&format!("{function} returned {length}")))?;
        self.read(self.output..self.output + length)
    }

    fn read(&self, range: Range<usize>) -> Result<&[u8]> {
        self.memory
            .data(&self.store)
            .get(range)
            .ok_or_else(|| defect("a pointer is outside its memory"))
    }
}

fn require_version(linked: &Linked, store: &mut Store<()>) -> Result<()> {
    let version = constant(linked, store, "addrspec_abi_version")?;
    let (major, minor) = (version >> 16, version & 0xffff);
    match major {
        MAJOR => Ok(()),
        _ => Err(defect(&format!(
            "its interface has version {major}.{minor}; this crate needs {MAJOR}"
        ))),
    }
}

/// Returns what an export without parameters returns.
fn constant(linked: &Linked, store: &mut Store<()>, name: &str) -> Result<u32> {
    let export = linked
        .get_typed_func::<(), u32>(&mut *store, name)
        .map_err(failed)?;
    export.call(store, ()).map_err(failed)
}

fn without_policies() -> Error {
    defect("it has no policies; take one of interface 2.2 or later")
}

pub(crate) fn defect(what: &str) -> Error {
    Error::Module(what.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(n: usize, bytes: usize) -> Arc<str> {
        let start = format!(r#"{{"block": {{"domains": ["d{n}.example""#);
        let padding = " ".repeat(bytes - start.len() - 3);
        format!("{start}{padding}]}}}}").into()
    }

    fn blocks(instance: &mut Instance, policy: &Arc<str>, n: usize) -> bool {
        let address = format!("a@d{n}.example");
        let verdict = instance.verdict(policy, address.as_bytes(), Found::default());
        verdict.unwrap().action == crate::Action::Block
    }

    // However large, policies take 4 MiB, decide after others have taken their place, and are
    // freed then.
    #[test]
    fn bounds_the_bytes_of_policies() {
        let module = crate::engine::own_module().unwrap();
        let mut instance = Instance::new(&module).unwrap();
        for round in 0..30 {
            let n = round % 10;
            let policy = document(n, if n % 3 == 0 { 2_000_000 } else { 900_000 });
            assert!(blocks(&mut instance, &policy, n) && !blocks(&mut instance, &policy, n + 1));
            let bytes = instance.policies.iter().map(|p| p.document.len()).sum::<usize>();
            assert!(instance.policies.len() >= 2.min(round + 1) && bytes <= POLICY_BYTES);
        }
        let free = |slot: &usize| instance.policies.iter().all(|p| p.slot != *slot);
        let slot = (0..5).find(free).expect("a policy was dropped");
        let empty: Arc<str> = "{}".into();
        instance.policies = vec![Loaded {
            document: empty.clone(),
            slot,
        }];
        assert!((0..10).all(|n| !blocks(&mut instance, &empty, n)));
    }
}
