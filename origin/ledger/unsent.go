package ledger

import (
	"slices"
	"sync/atomic"
	"time"
)

// unsent counts answers that were committed and are not yet sent, so that a
// process that is killed has charged no more than one full group of requests
// without an answer: what is unsent takes room in the next group.
type unsent struct{ groups []*sendingGroup } // the writer's alone

// A sending is the answers of one commit group.
type sendingGroup struct {
	began time.Time
	left  atomic.Int64
}

// begin begins to count for another group.
func (u *unsent) beginGroup() { u.groups = append(u.groups, &sendingGroup{began: time.Now()}) }

// add counts one more answer in the group at hand.
func (u *unsent) add() *sendingGroup {
	s := u.groups[len(u.groups)-1]
	s.left.Add(1)
	return s
}

// sent is called when the answer is sent.
func (s *sendingGroup) sent() {
	if s != nil {
		s.left.Add(-1)
	}
}

// room waits until there is some, and returns for how many charges. A client
// that does not read its answer takes none after a tenth of a second.
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
