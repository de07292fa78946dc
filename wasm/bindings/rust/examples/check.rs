//! Prints one line of JSON for each address:
//!
//!     check [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS…]
//!
//! It checks its arguments or, without any, the lines of standard input. With -0,
//! addresses in the input end with a zero byte instead; with -1, it checks one by one,
//! not in bulk; with -d, results have the member details; with -l, the lists are those of
//! a newer lists.blob, whose signature minisign verifies. With -p, the input has six texts
//! for each address, which end with a zero byte: the document of a policy, the address, of
//! mx, the address record and disposable exchanges 1, 0 or nothing, as far as they were
//! looked up, and the names of the exchanges with spaces between; it prints the verdict or, if
//! the document is no policy, the place, its offset and the sentence, with tabs between.

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Read, Write};

use addrspec::{Checker, Facts, Found};

/// How many addresses are in memory at once.
const CHUNK: usize = 1000;

#[derive(Default)]
struct Options {
    zero: bool,
    single: bool,
    details: bool,
    policies: bool,
    lists: Option<String>,
    addresses: Vec<Vec<u8>>,
}

fn main() {
    if let Err(error) = run() {
        eprintln!("check: {error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let mut builder = Checker::builder();
    if let Some(file) = &options.lists {
        builder = builder.lists(&std::fs::read(file)?);
    }
    let checker = builder.build()?;
    let mut out = BufWriter::new(io::stdout().lock());
    if options.policies {
        decide_input(&mut out, &checker)?;
    } else if !options.addresses.is_empty() {
        print(&mut out, &options, &checker, &options.addresses)?;
    } else {
        check_input(&mut out, &options, &checker)?;
    }
    Ok(out.flush()?)
}

impl Options {
    fn read() -> Result<Self, Box<dyn Error>> {
        let (mut options, mut args) = (Self::default(), std::env::args_os().skip(1).peekable());
        while let Some(option) = args.next_if(|arg| arg.as_encoded_bytes().starts_with(b"-")) {
            match option.to_str() {
                Some("-0") => options.zero = true,
                Some("-1") => options.single = true,
                Some("-d") => options.details = true,
                Some("-p") => options.policies = true,
                Some("-l") => {
                    options.lists = Some(
                        args.next()
                            .and_then(|arg| arg.into_string().ok())
                            .ok_or("-l needs a file")?,
                    )
                }
                _ => return Err("usage: check [-0] [-1] [-d] [-l LISTS] [-p] [ADDRESS…]".into()),
            }
        }
        options.addresses = args.map(|arg| arg.into_encoded_bytes()).collect();
        Ok(options)
    }
}

/// Prints a verdict for each six texts of the input. A program makes each policy once.
fn decide_input(out: &mut impl Write, checker: &Checker) -> Result<(), Box<dyn Error>> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let texts: Vec<&[u8]> = input.split(|byte| *byte == 0).collect();
    for case in texts.chunks_exact(6) {
        let found = Found {
            mx: fact(case[2]),
            address_record: fact(case[3]),
            disposable: case[4] == b"1",
        };
        let exchanges: Vec<&str> = std::str::from_utf8(case[5])?.split_whitespace().collect();
        let verdict = checker
            .policy(std::str::from_utf8(case[0])?)
            .and_then(|policy| checker.verdict_with_exchanges(case[1], &policy, found, &exchanges));
        match verdict {
            Ok(verdict) => writeln!(out, "{}", verdict.json())?,
            Err(addrspec::Error::PolicyRefused {
                place,
                offset,
                sentence,
            }) => writeln!(out, "{place}\t{offset}\t{sentence}")?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn fact(text: &[u8]) -> Option<bool> {
    (!text.is_empty()).then(|| text == b"1")
}

fn check_input(out: &mut impl Write, options: &Options, checker: &Checker) -> Result<(), Box<dyn Error>> {
    let end = if options.zero { b'\0' } else { b'\n' };
    let mut chunk = Vec::with_capacity(CHUNK);
    for address in io::stdin().lock().split(end) {
        let mut address = address?;
        if !options.zero && address.last() == Some(&b'\r') {
            address.pop();
        }
        if !address.is_empty() {
            chunk.push(address);
        }
        if chunk.len() == CHUNK {
            print(out, options, checker, &chunk)?;
            chunk.clear();
        }
    }
    print(out, options, checker, &chunk)
}

fn print(
    out: &mut impl Write,
    options: &Options,
    checker: &Checker,
    addresses: &[Vec<u8>],
) -> Result<(), Box<dyn Error>> {
    for facts in check(options, checker, addresses)? {
        writeln!(out, "{}", facts.json())?;
    }
    Ok(())
}

fn check(options: &Options, checker: &Checker, addresses: &[Vec<u8>]) -> Result<Vec<Facts>, addrspec::Error> {
    match (options.single, options.details) {
        (false, false) => checker.check_many(addresses),
        (false, true) => checker.explain_many(addresses),
        (true, false) => addresses.iter().map(|address| checker.check(address)).collect(),
        (true, true) => addresses.iter().map(|address| checker.explain(address)).collect(),
    }
}
