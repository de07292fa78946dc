//go:build wasip1

package main

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// maxLists bounds what a host can make the module gather, in octets: ten times
// what the lists take today, and little enough for an edge worker's memory.
const maxLists = 4 << 20

// gathered holds the pieces of a newer blob until the host installs it.
var gathered []byte

func gather(piece []byte) int32 {
	if len(gathered)+len(piece) > maxLists {
		gathered = nil
		return errListsSize
	}
	gathered = append(gathered, piece...)
	return 0
}

// install opens what was gathered and checks by it from now on. A blob that
// does not open is dropped, the lists stay as they are, and the report's
// sentence says what is wrong.
func install() int32 {
	blob := gathered
	gathered = nil
	l, err := lists.Open(blob)
	if err != nil {
		outcome = report{}
		putString(&outcome.sentence, out[:0], err.Error())
		return errRefused
	}
	checker, listing = core.New(l), l.Version()
	return 0
}
