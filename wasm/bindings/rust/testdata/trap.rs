//! trap MODULE LISTS checks, with a module that fails on "!" and "?", each of them and
//! then an address, whose result it prints.

use addrspec::Checker;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<_> = std::env::args_os().skip(1).map(std::fs::read).collect::<Result<_, _>>()?;
    let checker = Checker::builder().instances(1.try_into()?).module(&files[0]).lists(&files[1]).build()?;
    for bad in ["!", "?"] {
        if checker.check(bad).is_ok() {
            println!("no error");
        }
        println!("{}", checker.check("jane@swapped.example")?.json());
    }
    Ok(())
}
