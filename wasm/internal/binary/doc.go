// Package binary reads and writes the binary format of WebAssembly modules, as
// far as the packing step needs it: "WebAssembly Core Specification" 2.0,
// section 5.
//
// It reads the sections that packing changes into values and keeps the others
// as octets. It does not look into code, and does not validate: an engine does
// that. What packing could not treat rightly it refuses by name: imports other
// than functions, more than one memory, and data segments that are not laid
// down at a constant place when the module starts. Custom sections (names,
// producers) are dropped.
package binary
