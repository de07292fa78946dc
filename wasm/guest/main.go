//go:build wasip1

// Command guest is the module: core behind the exports that wasm/ABI.md
// describes one by one. It is built as a reactor
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared ./wasm/guest
//
// and holds nothing but the door: buffers, lengths, error codes. All buffers
// are static, so no memory changes hands between host and guest.
package main

import (
	"unsafe"

	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// abiVersion is major<<16 | minor. A new major breaks hosts; a minor adds.
const abiVersion = 1<<16 | 0

const (
	// inCap is the body limit of the batch operation: whatever fits a request
	// fits the module.
	inCap = 1 << 20
	// outCap has room for an input of control characters alone, six octets
	// each in JSON, and for the other 15 fields and the report's texts.
	outCap = 6*inCap + 8<<10
)

// What a call answers instead of a length when it fails.
const (
	errTooLong     = -1 // the length given is negative or over the capacity
	errUnknownFlag = -2
	errPanic       = -3 // a defect: the host throws the instance away
	errRefused     = -4 // lists: damaged or of another format, as the report says
	errListsSize   = -5 // lists: more than maxLists octets
)

const flagFullSuggestion = 1 // typo_suggestion is the whole address

var (
	in      [inCap]byte
	out     [outCap]byte
	outcome report
	checker = core.New(lists.Default())
	listing = lists.Default().Version()
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
func exportOutCap() uint32 { return outCap }

//go:wasmexport addrspec_report_ptr
func exportReportPtr() uint32 { return address(unsafe.Pointer(&outcome)) }

//go:wasmexport addrspec_check
func exportCheck(length, flags int32) (n int32) {
	defer catch(&n)
	if length < 0 || length > inCap {
		return errTooLong
	}
	if flags&^flagFullSuggestion != 0 {
		return errUnknownFlag
	}
	return check(in[:length], flags&flagFullSuggestion != 0)
}

//go:wasmexport addrspec_info
func exportInfo() (n int32) {
	defer catch(&n)
	return int32(len(appendInfo(out[:0])))
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

// address is where a static buffer lies in linear memory.
func address(p unsafe.Pointer) uint32 { return uint32(uintptr(p)) }

// catch turns a panic into an error of the call, so that the host learns of it
// as a value and not as a trap.
func catch(n *int32) {
	if recover() != nil {
		*n = errPanic
	}
}

func appendInfo(dst []byte) []byte {
	dst = append(dst, `{"engine":"`...)
	dst = append(dst, core.Version...)
	dst = append(dst, `","lists":"`...)
	dst = append(dst, listing...)
	dst = append(dst, `","model":"`...)
	dst = append(dst, core.ModelVersion()...)
	return append(dst, `"}`...)
}
