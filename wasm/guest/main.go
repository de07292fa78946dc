//go:build wasip1

// Command guest is the module: package core behind the exports that wasm/ABI.md
// specifies. It is built as a WASI reactor:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared ./wasm/guest
//
// It contains only the interface: buffers, lengths, error codes. All buffers are
// static, so host and guest never allocate or free memory for each other.
package main

import (
	"unsafe"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// abiVersion is major<<16 | minor. A new major version breaks hosts; a new minor
// version only adds to the interface.
const abiVersion = 2<<16 | 6

const (
	// inCap is the body limit of the batch operation, so every address in a request
	// fits the module.
	inCap = 1 << 20
	// outCap is enough for an input of control characters, with six bytes each in
	// JSON, the other 15 fields, details and the texts of the report. Only an address
	// that is not valid can be that long, and its details have a refusal alone.
	outCap = 6*inCap + restCap + reportPrefix
	// restCap is enough for all of a result but email.
	restCap = 8 << 10
)

// Error results of the exports.
const (
	errTooLong     = -1 // the length is negative or over inCap
	errUnknownFlag = -2 // the flags have an unknown bit
	errPanic       = -3 // a defect: the host must discard the instance
	errRefused     = -4 // lists: damaged or in another format; see the report
	errListsSize   = -5 // lists: more than maxLists bytes
	errFraming     = -6 // a record ends after the input, or lacks what it must have
)

// Flags of exportCheck and exportCheckMany.
const (
	flagFullSuggestion = 1 // typo_suggestion is the whole corrected address
	flagDetails        = 2 // the result has the member details
	knownFlags         = flagFullSuggestion | flagDetails

	flagReports = 4 // of exportCheckMany: a report comes before each result
)

var (
	in      [inCap]byte
	out     [outCap]byte
	outcome report
	checker = core.New(lists.Default())
)

func main() {}

//go:wasmexport addrspec_abi_version
func exportABIVersion() uint32 { return abiVersion }

//go:wasmexport addrspec_in_ptr
func exportInPtr() uint32 { return address(unsafe.Pointer(&in)) }

//go:wasmexport addrspec_in_cap
func exportInCap() uint32 { return inCap }

//go:wasmexport addrspec_out_ptr
func exportOutPtr() uint32 { return address(unsafe.Pointer(&out)) }

//go:wasmexport addrspec_out_cap
func exportOutCap() uint32 { return uint32(outCap) }

//go:wasmexport addrspec_report_ptr
func exportReportPtr() uint32 { return address(unsafe.Pointer(&outcome)) }

//go:wasmexport addrspec_check
func exportCheck(length, flags int32) int32 {
	return checked(check, length, flags, knownFlags)
}

//go:wasmexport addrspec_check_many
func exportCheckMany(length, flags int32) int32 {
	return checked(checkMany, length, flags, knownFlags|flagReports)
}

//go:wasmexport addrspec_exchanges
func exportExchanges(length, flags int32) int32 {
	return checked(exchanges, length, flags, flagAddressRecord|flagAddressUnknown)
}

// checked calls f with the input if length and flags are valid.
func checked(f func(input []byte, flags int32) int32, length, flags, known int32) (n int32) {
	defer catch(&n)
	if length < 0 || length > inCap {
		return errTooLong
	}
	if flags&^known != 0 {
		return errUnknownFlag
	}
	return f(in[:length], flags)
}

//go:wasmexport addrspec_info
func exportInfo() (n int32) {
	defer catch(&n)
	return int32(len(checker.AppendVersions(out[:0])))
}

//go:wasmexport addrspec_lists
func exportLists(length int32) (n int32) {
	defer catch(&n)
	if length < 0 || length > inCap {
		return errTooLong
	}
	if length > 0 {
		return gather(in[:length])
	}
	return install()
}

// address returns the address of a static buffer in linear memory.
func address(p unsafe.Pointer) uint32 { return uint32(uintptr(p)) }

// catch makes a call that panics return errPanic instead of trapping.
func catch(n *int32) {
	if recover() != nil {
		*n = errPanic
	}
}

// maxLists is the limit for a blob, in bytes: over ten times the size of today's
// lists, and small enough for the memory of an edge worker.
const maxLists = 4 << 20

// gathered contains the pieces of a new blob until the host installs it.
var gathered []byte

// gather appends a piece to the new blob. Over maxLists it discards the blob and
// returns errListsSize.
func gather(piece []byte) int32 {
	if len(gathered)+len(piece) > maxLists {
		gathered = nil
		return errListsSize
	}
	gathered = append(gathered, piece...)
	return 0
}

// install makes the gathered blob the current lists. If the blob does not open,
// install discards it, keeps the current lists, puts the error into the sentence
// of the report and returns errRefused.
func install() int32 {
	blob := gathered
	gathered = nil
	l, err := lists.Open(blob)
	if err != nil {
		return refuse(errRefused, err.Error())
	}
	checker = core.New(l)
	renewPolicies()
	return 0
}

// refuse returns code, and the report has why.
func refuse(code int32, sentence string) int32 {
	outcome = report{}
	putString(&outcome.sentence, out[:0], sentence)
	return code
}
