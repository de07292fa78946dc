// Package pack makes a pre-initialised module without imports of a WASI
// reactor that the Go tool chain built.
//
// A Go reactor asks its host for ten functions of WASI, calls them while it
// starts and never after. So packing
//
//  1. puts a function of the module's own in the place of each import, which
//     keeps its index, so no code changes (stubs.go);
//  2. runs `_initialize` in wazero (initialize.go);
//  3. writes the memory and the variables it left behind back into the module
//     as their first values, and drops `_initialize` (image.go).
//
// What comes out answers at once, in any engine, with nothing given to it. The
// same module in gives the same octets out: the clock and the random numbers
// of the stubs are fixed. Wizer does steps 2 and 3 as well, but leaves the
// imports, and would bring another tool chain into the build.
//
// The price: the seed of Go's maps is fixed, so a map keyed by what a stranger
// sends must not be in the module; there is no clock; and what the runtime
// says as it dies goes nowhere, so a defect is looked into with the plain
// build.
package pack
