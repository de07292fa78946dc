// Package binary reads and writes the binary format of WebAssembly modules
// ("WebAssembly Core Specification" 2.0, section 5) as far as packing needs it.
//
// It decodes the sections that packing changes and keeps the others as bytes.
// It does not parse code and does not validate; an engine does both. Decode
// refuses what packing cannot process correctly: imports other than functions,
// more XX
package binary
