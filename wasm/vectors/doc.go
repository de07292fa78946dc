// Package vectors has the test vectors for all hosts of the module: golden
// results for addresses of all kinds, and a generator of further addresses (package
// addresses). Only tests import it.
//
// A line of an *.ndjson file is the exact result of the module for the address
// in its field email: the 16 fields, mx false, typo_suggestion a domain. In the
// folder details it is the result with flag 2 (details), but with null for the
// versions, which every change of the lists changes: a test puts the module's info
// there. A line of reports.jsonl is the report on an address, as wasm/ABI.md
// defines it; the addresses are those of the *.ndjson files beside it, in the order
// of the file names. To add a vector, add a line {"email":"…"} to an *.ndjson file.
// To write the results of the current core to all files, run
//
//	go generate ./wasm/vectors
//
// and review the difference before committing it: hosts are only compared with
// these files, so none of them detects a wrong golden result.
package vectors

//go:generate go run ./refresh
