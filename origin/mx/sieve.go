package mx

// sieve decides which name leaves a full table: one that was not read since the hand
// passed it. The hand goes from old items to new ones and marks each as not read. So
// names that are read often stay, and many names that are read once do not displace
// them. (SIEVE: Zhang and others, NSDI 2024. It needs no work when a name is read.)
//
// It is guarded by table.mu.
type sieve struct {
	newest, oldest *item
	hand           *item // nil for the oldest
}

// maxExamined bounds what one victim costs if most items were read: the last one
// examined leaves.
const maxExamined = 256

// victim returns the item to remove. Its time is now, in the unit of entry.expires.
func (s *sieve) victim(now int64) *item {
	for range maxExamined - 1 {
		it := s.atHand()
		if it.expires <= now || !it.used.Load() {
			return it
		}
		it.used.Store(false)
		s.hand = it.newer
	}
	return s.atHand()
}

func (s *sieve) atHand() *item {
	if s.hand == nil {
		s.hand = s.oldest
	}
	return s.hand
}

func (s *sieve) add(it *item) {
	it.older, s.newest = s.newest, it
	if it.older == nil {
		s.oldest = it
	} else {
		it.older.newer = it
	}
}

func (s *sieve) remove(it *item) {
	if s.hand == it {
		s.hand = it.newer
	}
	s.link(it.older, it.newer)
	it.older, it.newer = nil, nil // a reader that is at it must not keep others in memory
}

// replace puts it in the place of old.
func (s *sieve) replace(old, it *item) {
	if s.hand == old {
		s.hand = it
	}
	older, newer := old.older, old.newer
	old.older, old.newer = nil, nil
	s.link(older, it)
	s.link(it, newer)
}

// link makes newer the item after older. Without the one it is the oldest, without the
// other the newest.
func (s *sieve) link(older, newer *item) {
	if older == nil {
		s.oldest = newer
	} else {
		older.newer = newer
	}
	if newer == nil {
		s.newest = older
	} else {
		newer.older = older
	}
}
