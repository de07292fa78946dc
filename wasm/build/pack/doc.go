// Package pack converts the WASI reactor that the Go tool chain builds into a
// pre-initialised module without imports.
//
// A Go reactor imports ten WASI functions. It calls them while it starts and
// never afterwards, so packing
//
//  1. replaces each import by a function of the module with the same index, so
//     that no call changes (stubs.go);
//  2. gives the functions structured branches (package flow), so that a check takes
//     two thirds of the time;
//  3. runs `_initialize` in wazero (initialize.go);
//  4. makes the resulting memory and globals the initial ones of the module,
//     and removes `_initialize` (image.go);
//  5. checks addresses and records which functions that calls, in a custom section
//     (called.go, package slim).
//
// The packed module needs no start call and runs in any engine without
// imports. The same input gives the same bytes, since the clock and the random
// numbers of the stubs are fixed. Wizer also does steps 3 and 4, but it keeps
// the imports and would add a second tool chain to the build.
//
// The drawbacks: the seed of Go's maps is fixed, so the module must not have a
// map with keys from untrusted input; there is no clock; and the messages of a
// crashing runtime are discarded, so debug with the plain module.
package pack
