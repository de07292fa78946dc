package ledger

import (
	"sync"
	"time"
)

// A fence turns keys that are over their rate away without asking the
// database. It is raised by a refusal of the database and stands until the
// next token comes, but no longer than fenceHeight. It only ever refuses, so
// it cannot let anyone in by mistake.
//
// The price: a key that another process revokes while the fence stands is
// refused as rate limited instead of unknown, for fenceHeight at most.
// Changes made through this Ledger lower all fences, so they hold at once.
type fence struct {
	clock func() time.Time
	mu    sync.Mutex
	posts map[digest]post
}

type post struct {
	raised  time.Time
	refusal Admission
}

const (
	fenceHeight = 50 * time.Millisecond
	fencePosts  = 1 << 16 // keys remembered; when there are more, all are forgotten
)

func newFence(clock func() time.Time) *fence {
	return &fence{clock: clock, posts: map[digest]post{}}
}

// raise remembers a refusal for lack of a token.
func (f *fence) raise(key digest, refusal Admission) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.posts) >= fencePosts {
		clear(f.posts)
	}
	f.posts[key] = post{f.clock(), refusal}
}

// refuses reports whether the key's fence stands, and what to answer.
func (f *fence) refuses(key digest) (Admission, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, ok := f.posts[key]
	if !ok {
		return Admission{}, false
	}
	age := f.clock().Sub(p.raised) // negative when the clock was set back
	if age < 0 || age >= min(fenceHeight, p.refusal.RetryAfter) {
		delete(f.posts, key)
		return Admission{}, false
	}
	p.refusal.RetryAfter -= age
	return p.refusal, true
}

// lower forgets every refusal.
func (f *fence) lower() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.posts)
}
