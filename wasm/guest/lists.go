//go:build wasip1

package main

import (
	"github.com/addrspec/addrspec/core"
	"github.com/addrspec/addrspec/lists"
)

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
		outcome = report{}
		putString(&outcome.sentence, out[:0], err.Error())
		return errRefused
	}
	checker = core.New(l)
	return 0
}
