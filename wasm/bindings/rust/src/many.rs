//! Bulk: as many addresses in a call of the module as pay.

use crate::Result;
use crate::instance::{Instance, defect};

/// How much of the input buffer a call fills, unless a single address is longer. With
/// so much the costs of a call no longer matter, and the results are still in the cache
/// of a processor when they are read.
const PIECE: usize = 16 << 10;

/// The length of an address or result precedes it, as a 32-bit little-endian number.
const PREFIX: usize = 4;

/// Checks addresses in their order and passes each result to `each`.
pub(crate) fn check_many<A: AsRef<[u8]>>(
    instance: &mut Instance,
    addresses: &[A],
    flags: u32,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut rest = addresses;
    while let [first, ..] = rest {
        let filled = fill(instance, rest)?;
        let checked = if filled > 0 {
            read(instance.check_filled(filled, flags)?, &mut each)?
        } else {
            each(instance.check(first.as_ref(), flags)?)?;
            1
        };
        rest = match rest.get(checked..) {
            Some(rest) if checked > 0 => rest,
            _ => return Err(defect("addrspec_check_many returned too few or too many results")),
        };
    }
    Ok(())
}

/// Writes addresses to the input, each after its length; returns how many bytes, 0 if
/// the first does not fit.
fn fill<A: AsRef<[u8]>>(instance: &mut Instance, addresses: &[A]) -> Result<usize> {
    let mut filled = 0;
    for address in addresses.iter().map(AsRef::as_ref) {
        let end = filled + PREFIX + address.len();
        if end > instance.capacity() || (filled > 0 && end > PIECE) {
            break;
        }
        instance.write(filled, &(address.len() as u32).to_le_bytes())?;
        instance.write(filled + PREFIX, address)?;
        filled = end;
    }
    Ok(filled)
}

/// Passes each result in the output to `each`; returns how many.
fn read(mut output: &[u8], each: &mut impl FnMut(&str) -> Result<()>) -> Result<usize> {
    let mut count = 0;
    while !output.is_empty() {
        let (json, rest) = split(output).ok_or_else(|| defect("a result is cut off"))?;
        each(std::str::from_utf8(json).map_err(|_| defect("a result is not UTF-8"))?)?;
        (output, count) = (rest, count + 1);
    }
    Ok(count)
}

/// Returns the first result and what follows it.
fn split(output: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = output.split_first_chunk::<PREFIX>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(output: &[u8]) -> Result<Vec<String>> {
        let mut all = Vec::new();
        read(output, &mut |json: &str| {
            all.push(json.to_owned());
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn reads_every_record() {
        assert_eq!(all(b"").unwrap(), [""; 0]);
        assert_eq!(
            all(b"\x02\0\0\0{}\x00\0\0\0\x01\0\0\0x").unwrap(),
            ["{}", "", "x"]
        );
    }

    #[test]
    fn refuses_what_is_cut_off() {
        for output in [
            &b"\x01"[..],
            b"\x01\0\0\0",
            b"\x02\0\0\0{}\0\0\0",
            b"\xff\xff\xff\xff{}",
            b"\x01\0\0\0\xff",
        ] {
            assert!(all(output).is_err(), "{output:?}");
        }
    }

    // Any bytes are either read whole or refused, without a panic.
    #[test]
    fn survives_any_output() {
        let mut seed = 1u64;
        for length in (0..64).cycle().take(100_000) {
            let output: Vec<u8> = std::iter::repeat_with(|| {
                seed = seed
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                [0, 1, 2, b'{', (seed >> 56) as u8][(seed >> 40) as usize % 5]
            })
            .take(length)
            .collect();
            if let Ok(records) = all(&output) {
                let size: usize = records.iter().map(|json| PREFIX + json.len()).sum();
                assert_eq!(size, output.len());
            }
        }
    }
}
