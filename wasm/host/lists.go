package host

import (
	"context"
	"errors"
	"fmt"
)

// ErrLists is returned for a blob that the module refused. The error that wraps
// it contains the reason.
var ErrLists = errors.New("the module refused the lists")

// ErrListsSize is returned for a blob over 4 MiB.
var ErrListsSize = errors.New("the lists are larger than 4 MiB")

// setLists passes blob to the module in pieces of the input buffer's size and
// installs it.
func (i *instance) setLists(ctx context.Context, blob []byte) error {
	for len(blob) > 0 {
		piece := blob[:min(len(blob), int(i.inCap))]
		if err := i.write(string(piece)); err != nil {
			return err
		}
		if _, err := i.call(ctx, i.lists, uint64(len(piece))); err != nil {
			return err
		}
		blob = blob[len(piece):]
	}
	_, err := i.call(ctx, i.lists, 0)
	return err
}

// refusal returns the error with which the module refused the lists.
func (i *instance) refusal() error {
	words, err := i.reportWords()
	if err != nil {
		return err
	}
	at, length := words[wordSentence], words[wordSentence+1]
	why, ok := i.module.Memory().Read(i.out+at, length)
	if !ok || uint64(at)+uint64(length) > uint64(i.outCap) {
		return &trap{errors.New("the report does not fit the output")}
	}
	return fmt.Errorf("%w: %s", ErrLists, why)
}
