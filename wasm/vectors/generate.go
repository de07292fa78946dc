package vectors

import "github.com/addrspec/addrspec/wasm/vectors/addresses"

// Generate returns n addresses that depend on the seed only: usual ones, odd
// ones, invalid ones, and some that are not UTF-8.
func Generate(seed uint64, n int) []string { return addresses.Generate(seed, n) }
