//! Checks email addresses with addrspec.wasm and wasmi:
//!
//!     cargo run --release -- addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS…]
//!
//! It prints one line of JSON for each address: its arguments or, without any,
//! the lines of standard input. With -0, addresses in the input end with a zero
//! byte instead; with -d, results have the member details; with -l, the lists are
//! those of a newer lists.blob, whose signature minisign verifies. wasm/ABI.md
//! specifies the interface.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::os::unix::ffi::OsStringExt;

use wasmi::{Engine, Instance, Memory, Module, Store, TypedFunc};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ABI_MAJOR: u32 = 1;

/// Flag: typo_suggestion is the whole corrected address, not its domain.
#[allow(dead_code)]
const FULL_SUGGESTION: u32 = 1;

/// Flag: the result has one more member, details: the evidence for it (interface
/// 1.1).
const DETAILS: u32 = 2;

/// One instance of the module. `&mut self` ensures that one caller uses it at a
/// time.
struct Checker {
    store: Store<()>,
    memory: Memory,
    check: TypedFunc<(u32, u32), i32>,
    lists: TypedFunc<u32, i32>,
    input: usize,
    capacity: usize,
    output: usize,
    report: usize,
}

impl Checker {
    /// Starts an instance of a compiled module. The module has no imports.
    fn new(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let instance = Instance::new(&mut store, module, &[])?;
        let mut get = |name: &str| -> Result<u32> {
            let export = instance.get_typed_func::<(), u32>(&store, name)?;
            Ok(export.call(&mut store, ())?)
        };
        let version = get("addrspec_abi_version")?;
        if version >> 16 != ABI_MAJOR {
            return Err(format!("addrspec.wasm has interface version {}, not {ABI_MAJOR}", version >> 16).into());
        }
        let (input, capacity) = (get("addrspec_in_ptr")? as usize, get("addrspec_in_cap")? as usize);
        let (output, report) = (get("addrspec_out_ptr")? as usize, get("addrspec_report_ptr")? as usize);
        let memory = instance.get_memory(&store, "memory").ok_or("addrspec.wasm exports no memory")?;
        let check = instance.get_typed_func(&store, "addrspec_check")?;
        let lists = instance.get_typed_func(&store, "addrspec_lists")?;
        Ok(Self { store, memory, check, lists, input, capacity, output, report })
    }

    /// Returns the result for an address, a JSON object. Pass the bytes unchanged.
    /// After an error other than that of the length, discard the checker.
    fn check(&mut self, address: &[u8], flags: u32) -> Result<&[u8]> {
        if address.len() > self.capacity {
            return Err("the address is longer than the input buffer".into());
        }
        self.memory.write(&mut self.store, self.input, address)?;
        let length = self.check.call(&mut self.store, (address.len() as u32, flags))?;
        if length < 0 {
            return Err(format!("addrspec_check returned {length}").into());
        }
        // The next call overwrites the output; the borrow prevents that call while
        // the result is in use.
        Ok(&self.memory.data(&self.store)[self.output..][..length as usize])
    }

    /// Replaces the lists by a blob. If the module refuses it, the lists do not change;
    /// a checker that replaces this one needs the blob again.
    fn set_lists(&mut self, blob: &[u8]) -> Result<()> {
        for piece in blob.chunks(self.capacity) {
            self.memory.write(&mut self.store, self.input, piece)?;
            self.take(piece.len())?;
        }
        self.take(0)
    }

    /// Passes a piece of lists from the input; 0 installs them.
    fn take(&mut self, length: usize) -> Result<()> {
        match self.lists.call(&mut self.store, length as u32)? {
            0 => Ok(()),
            -4 => Err(self.refusal().into()),
            -5 => Err("the lists are larger than 4 MiB".into()),
            code => Err(format!("addrspec_lists returned {code}").into()),
        }
    }

    /// Returns the sentence of the report.
    fn refusal(&self) -> String {
        let data = self.memory.data(&self.store);
        let word = |n: usize| {
            let bytes = &data[self.report + 4 * n..][..4];
            u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize
        };
        String::from_utf8_lossy(&data[self.output + word(11)..][..word(12)]).into_owned()
    }
}

fn main() {
    if let Err(error) = run() {
        eprintln!("addrspec-host: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let mut args = std::env::args_os().skip(1).map(|a| a.into_vec()).peekable();
    let file = args.next().ok_or("usage: addrspec-host addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS…]")?;
    let module = Module::new(&Engine::default(), std::fs::read(OsString::from_vec(file))?)?;
    let mut checker = Checker::new(&module)?;

    let (mut zero, mut flags) = (false, 0);
    while let Some(option) = args.next_if(|a| a == b"-0" || a == b"-d" || a == b"-l") {
        match option.as_slice() {
            b"-0" => zero = true,
            b"-d" => flags |= DETAILS,
            _ => {
                let lists = args.next().ok_or("-l needs a file")?;
                checker.set_lists(&std::fs::read(OsString::from_vec(lists))?)?;
            }
        }
    }
    let end = if zero { b'\0' } else { b'\n' };
    let addresses: Box<dyn Iterator<Item = io::Result<Vec<u8>>>> = match args.peek() {
        Some(_) => Box::new(args.map(Ok)),
        None => Box::new(io::stdin().lock().split(end)),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for address in addresses {
        let mut address = address?;
        if !zero && address.last() == Some(&b'\r') {
            address.pop();
        }
        if !address.is_empty() {
            out.write_all(checker.check(&address, flags)?)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(out.flush()?)
}
