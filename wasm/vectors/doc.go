// Package vectors holds what every host of the module is tested with: golden
// answers to addresses of all kinds, and a generator of as many more as a test
// wants. It is for tests alone.
//
// A line of an *.ndjson file is the module's answer, octet for octet, to the
// address in its field `email`: the 16 fields, mx false, typo_suggestion a
// domain. A line of reports.jsonl holds the report on the same addresses, as
// wasm/ABI.md defines it. To add a vector, add a line `{"email":"…"}` to an
// *.ndjson file; to bring all answers to what core says now, run
//
//	go generate ./wasm/vectors
//
// and read the difference before it is committed: a golden answer that is
// wrong makes every host wrong alike.
package vectors

//go:generate go run ./refresh
