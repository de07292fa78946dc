package ledger

import (
	"slices"
	"sync/atomic"
	"time"
)

// unsent counts the answers that are committed and not yet sent. They reduce the
// capacity of the next commit group, so a process that is killed leaves at most
// groupLimit charged requests without an answer.
type unsent struct{ groups []*sendingGroup }

// A sendingGroup counts the unsent answers of one commit group.
type sendingGroup struct {
	began time.Time
	left  atomic.Int64
}

// beginGroup starts the count of another group.
func (u *unsent) beginGroup() { u.groups = append(u.groups, &sendingGroup{began: time.Now()}) }

// add counts one more unsent answer in the last group.
func (u *unsent) add() *sendingGroup {
	s := u.groups[len(u.groups)-1]
	s.left.Add(1)
	return s
}

// sent subtracts an answer from the count; a nil group has none.
func (s *sendingGroup) sent() {
	if s != nil {
		s.left.Add(-1)
	}
}

// capacity waits until the next group may have at least one charge, and returns
// how many. Answers count for sendTimeout at most, so a client that does not
// read its answer delays others no longer than that.
func (u *unsent) capacity() int {
	for ; ; time.Sleep(pollUnsent) {
		count := int64(0)
		u.groups = slices.DeleteFunc(u.groups, func(s *sendingGroup) bool {
			left := s.left.Load()
			over := left == 0 || time.Since(s.began) > sendTimeout
			if !over {
				count += left
			}
			return over
		})
		if room := groupLimit - int(count); room > 0 {
			return room
		}
	}
}

const pollUnsent = 200 * time.Microsecond
