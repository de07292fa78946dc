//go:build wasip1

package main

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

// maxLists bounds what a host can make the module gather, in octets.
const maxLists = 16 << 20

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
// does not open is dropped and the lists stay as they are.
func install() int32 {
	blob := gathered
	gathered = nil
	l, err := lists.Open(blob)
	if err != nil {
		return errDamaged
	}
	checker, listing = core.New(l), l.Version()
	return 0
}
