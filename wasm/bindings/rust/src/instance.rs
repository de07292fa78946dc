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

/// The bits of word 0 of the report that are `valid` and `disposable`.
const VALID: u32 = 1;
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
    load: Option<TypedFunc<u32, i32>>,          // since interface 2.5
    decide: Option<TypedFunc<(u32, u32), i32>>, // since 2.6
    policy: Option<(Arc<str>, u32)>, // the last one, which the module does not evict, and its handle
    input: usize,
    capacity: usize,
    output: usize,
    report: usize,
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
        let load = linked.get_typed_func(&mut store, "addrspec_load_policy").ok();
        let decide = linked.get_typed_func(&mut store, "addrspec_decide").ok();
        Ok(Self {
            load,
            decide,
            policy: None,
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
        self.pass(blob, |own, length| {
            own.lists.call(&mut own.store, length).map_err(failed)
        })?;
        Ok(())
    }

    /// Passes a document to a function, in pieces and an empty one, and returns its result.
    fn pass(&mut self, document: &[u8], take: impl Fn(&mut Self, u32) -> Result<i32>) -> Result<u32> {
        for piece in document.chunks(self.capacity.max(1)) {
            self.write(0, piece)?;
            let result = take(self, piece.len() as u32)?;
            self.require_taken(result)?;
        }
        let result = take(self, 0)?;
        self.require_taken(result)
    }

    fn require_taken(&self, result: i32) -> Result<u32> {
        match result {
            -4 => Err(Error::ListsRefused(self.sentence()?)),
            -5 => Err(Error::ListsRefused("the lists are larger than 4 MiB".into())),
            -7 => Err(self.refused()?),
            result => u32::try_from(result).map_err(|_| defect(&format!("it returned {result}"))),
        }
    }

    /// Returns the verdict of a policy on an address; exchanges are records.
    pub(crate) fn verdict(
        &mut self,
        policy: &Arc<str>,
        address: &[u8],
        found: Found,
        exchanges: &[u8],
    ) -> Result<Verdict> {
        let handle = self.load(policy)?;
        self.check(address, 0)?;
        let subject = self.subject(address, found, exchanges)?;
        self.write(0, &subject)?;
        let decide = self.decide.as_ref().ok_or_else(without_policies)?;
        let length = decide
            .call(&mut self.store, (handle, subject.len() as u32))
            .map_err(failed)?;
        let output = self.output("addrspec_decide", length)?;
        Verdict::parse(output.get(4..).unwrap_or_default())
    }

    /// What a policy needs of the last check: words 0 and 1 of the report, what was found, and
    /// records: the host text, of words 9 and 10, the address if it is valid, and the exchanges.
    fn subject(&self, address: &[u8], found: Found, exchanges: &[u8]) -> Result<Vec<u8>> {
        let start = self.output + self.word(9)?;
        let host = self.read(start..start + self.word(10)?)?;
        let disposable = if found.disposable { DISPOSABLE } else { 0 };
        let facts = self.word(0)? as u32 | disposable;
        let address = if facts & VALID != 0 { address } else { b"" }; // others may be too long
        let words = [facts, self.word(1)? as u32, found.word()].map(u32::to_le_bytes);
        Ok([words.concat(), record(host), record(address), record(exchanges)].concat())
    }

    /// Returns the handle of a policy, and loads it unless it is the last one.
    pub(crate) fn load(&mut self, document: &Arc<str>) -> Result<u32> {
        if let Some((_, handle)) = self.policy.as_ref().filter(|(last, _)| last == document) {
            return Ok(*handle);
        }
        let handle = self.pass(document.as_bytes(), |own, length| {
            let load = own.load.as_ref().ok_or_else(without_policies)?;
            load.call(&mut own.store, length).map_err(failed)
        })?;
        self.policy = Some((Arc::clone(document), handle));
        Ok(handle)
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

/// Returns a text after its length.
pub(crate) fn record(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text].concat()
}

fn without_policies() -> Error {
    defect("it cannot decide by policies as this crate does; take one of interface 2.6 or later")
}

pub(crate) fn defect(what: &str) -> Error {
    Error::Module(what.into())
}
