package identity

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// How long a session lasts.
const (
	sessionLife    = 30 * 24 * time.Hour // from sign-in
	sessionIdle    = 7 * 24 * time.Hour  // from the last request
	sessionPending = 10 * time.Minute    // to give the second factor
	touchEvery     = time.Minute         // how exact the last use is
	maxSessions    = 50                  // of a user; the oldest ends
)

// ConfirmFor is how long after proving who they are a user may change how they
// sign in, or delete the account.
const ConfirmFor = 15 * time.Minute

// A Session is a browser that is signed in.
type Session struct {
	ID        int64
	Account   int64
	Client    string // such as "Firefox on Linux"
	Created   time.Time
	Seen      time.Time
	Expires   time.Time
	Confirmed time.Time // when the user last proved who they are
	Complete  bool      // false while the second factor is missing
}

// Fresh reports whether the user has proved who they are recently. A proof in the
// future was given while the clock was ahead, at an unknown time.
func (s *Session) Fresh(now time.Time) bool {
	age := now.Sub(s.Confirmed)
	return -late <= age && age < ConfirmFor
}

// SignIn starts a session of a user who has proved who they are, and returns its
// token, or ErrChanged. complete is false if the second factor is still missing. The session
// with the old token, if any, ends: a token that somebody knew before the sign-in
// is worth nothing after it.
func (i *Identity) SignIn(ctx context.Context, u User, old, client string, complete bool) (token string, err error) {
	token = newToken()
	err = i.writeAs(ctx, u, func(now time.Time) []store.Statement {
		list := []store.Statement{
			{Name: "delete_expired_sessions", Args: []any{now.UnixNano(), latest(now, 0)}},
			{Name: "delete_session_by_hash", Args: []any{hashOf(old)}},
			{Name: "create_session", Args: []any{hashOf(token), u.Account, client, now.UnixNano(),
				expiry(now, now, complete).UnixNano(), now.UnixNano(), complete}},
			{Name: "trim_sessions", Args: []any{u.Account, maxSessions}},
		}
		if complete {
			list = append(list, book.Audit(ctx, u.Account, now, "session.sign-in", client)...)
		}
		return list
	})
	return token, err
}

// expiry returns when a session ends if it was last used at seen.
func expiry(created, seen time.Time, complete bool) time.Time {
	if !complete {
		return created.Add(sessionPending)
	}
	if idle, life := seen.Add(sessionIdle), created.Add(sessionLife); idle.Before(life) {
		return idle
	}
	return created.Add(sessionLife)
}

// Session returns the session with a token, or ErrNoSession.
func (i *Identity) Session(ctx context.Context, token string) (Session, error) {
	now, err := i.now(ctx)
	if err != nil {
		return Session{}, err
	}
	list, err := i.sessions(ctx, "read_session", hashOf(token), now)
	if err == nil && len(list) == 0 {
		err = ErrNoSession
	}
	if err != nil {
		return Session{}, err
	}
	s := list[0]
	if now.Sub(s.Seen).Abs() > touchEvery {
		err = i.touch(ctx, &s, now)
	}
	return s, err
}

func (i *Identity) touch(ctx context.Context, s *Session, now time.Time) error {
	s.Seen, s.Expires = now, expiry(s.Created, now, s.Complete)
	return i.write(ctx, func(time.Time) []store.Statement {
		return []store.Statement{{Name: "touch_session", Args: []any{s.ID, s.Seen.UnixNano(), s.Expires.UnixNano()}}}
	})
}

// Sessions returns a user's sessions, the one used last first.
func (i *Identity) Sessions(ctx context.Context, account int64) ([]Session, error) {
	now, err := i.now(ctx)
	if err != nil {
		return nil, err
	}
	return i.sessions(ctx, "list_sessions", account, now)
}

func (i *Identity) sessions(ctx context.Context, query string, of any, now time.Time) ([]Session, error) {
	var list []Session
	err := i.store.Query(ctx, store.Statement{Name: query, Args: []any{of, now.UnixNano(), latest(now, 0)}, Scan: func(r store.Row) error {
		var s Session
		var created, seen, expires, confirmed int64
		err := r.Scan(&s.ID, &s.Client, &created, &seen, &expires, &confirmed, &s.Complete, &s.Account)
		s.Created, s.Seen, s.Expires, s.Confirmed = timeOf(created), timeOf(seen), timeOf(expires), timeOf(confirmed)
		list = append(list, s)
		return err
	}})
	return list, err
}

// Confirm records that the user of a session has just proved who they are.
func (i *Identity) Confirm(ctx context.Context, s Session) error {
	return i.write(ctx, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "confirm_session", Args: []any{s.ID, now.UnixNano()}}}
	})
}

// EndSession ends one of an account's sessions. It returns ErrNoSession if the
// account has no such session.
func (i *Identity) EndSession(ctx context.Context, account, id int64) error {
	end := store.Statement{Name: "delete_session", Args: []any{account, id}}
	return i.writeIf(ctx, ErrNoSession, end, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "session.sign-out", "")
	})
}

// EndSessions ends all of an account's sessions, except the one with the ID keep.
func (i *Identity) EndSessions(ctx context.Context, account, keep int64) error {
	end := store.Statement{Name: "delete_sessions", Args: []any{account, keep}}
	return i.writeIf(ctx, nil, end, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "session.sign-out-everywhere", "")
	})
}
