package host

import (
	"context"
	"errors"
)

// ErrLists says that a blob of lists was refused.
var ErrLists = errors.New("the lists are damaged or of another format; take them from lists/ of the module's own release or a later one")

// ErrListsSize says that a blob of lists is larger than the module takes.
var ErrListsSize = errors.New("the lists are larger than the module takes (16 MiB)")

// setLists hands blob to the module, in pieces of the input buffer's size, and
// makes it check by them.
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
