package identity

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// How long a session lasts.
const (
	sessionLife    = 30 * 24 * time.Hour // from sign-in
	sessionIdle    = 7 * 24 * time.Hour  // from the last request
	sessionPending = 10 * time.Minute    // to give the second factor
	touchEvery     = time.Minute         // how exact the last use is
	maxSessions    = 50                  // of a user, and as many that wait for the second factor; the oldest ends
)

// ConfirmFor is how long after a proof a user may change how they sign in, or delete the account.
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

// Fresh reports whether the user has proved who they are recently.
func (s *Session) Fresh(now time.Time) bool { return now.Sub(s.Confirmed) < ConfirmFor }

// SignIn starts a session of a user who has proved who they are, and returns its token, or
// ErrChanged. complete is false if the second factor is still missing. The session with the old
// token, if any, ends: a token that somebody knew before the sign-in is worth nothing after it.
func (i *Identity) SignIn(ctx context.Context, u User, old, client string, complete bool) (token string, err error) {
	token = newToken()
	life := sessionIdle
	if !complete {
		life = sessionPending
	}
	c := change{as: &u, then: statements{
		statement("delete_expired_sessions", after(0)),
		statement("delete_session_by_hash", hashOf(old)),
		statement("create_session", hashOf(token), u.Account, client, after(0), after(life), after(0), complete),
		statement("trim_sessions", u.Account, maxSessions, complete),
	}}
	if complete {
		c.log = &line{u.Account, "session.sign-in", client}
	}
	return token, i.write(ctx, c)
}

// Session returns the session with a token, or ErrNoSession.
func (i *Identity) Session(ctx context.Context, token string) (Session, error) {
	list, now, err := i.sessions(ctx, "read_session", hashOf(token))
	if err == nil && len(list) == 0 {
		err = ErrNoSession
	}
	if err != nil {
		return Session{}, err
	}
	s := list[0]
	if now.Sub(s.Seen) <= touchEvery || !s.Complete {
		return s, nil
	}
	s.Seen, s.Expires = now, now.Add(sessionIdle)
	if end := s.Created.Add(sessionLife); end.Before(s.Expires) {
		s.Expires = end
	}
	touch := statement("touch_session", s.ID, s.Seen.UnixNano(), s.Expires.UnixNano())
	return s, i.write(ctx, change{then: statements{touch}})
}

// Sessions returns a user's sessions, the one used last first.
func (i *Identity) Sessions(ctx context.Context, account int64) ([]Session, error) {
	list, _, err := i.sessions(ctx, "list_sessions", account)
	return list, err
}

func (i *Identity) sessions(ctx context.Context, query string, of any) (list []Session, now time.Time, err error) {
	now, err = i.ledger.Now(ctx)
	if err != nil {
		return nil, now, err
	}
	read := statement(query, of, now.UnixNano())
	read.Scan = func(r store.Row) error {
		var s Session
		var created, seen, expires, confirmed int64
		err := r.Scan(&s.ID, &s.Client, &created, &seen, &expires, &confirmed, &s.Complete, &s.Account)
		s.Created, s.Seen, s.Expires, s.Confirmed = timeOf(created), timeOf(seen), timeOf(expires), timeOf(confirmed)
		list = append(list, s)
		return err
	}
	err = i.query(ctx, read)
	return list, now, err
}

// Confirm records that the user of a session has just proved who they are.
func (i *Identity) Confirm(ctx context.Context, s Session) error {
	return i.write(ctx, change{then: statements{statement("confirm_session", s.ID, after(0))}})
}

// EndSession ends one of an account's sessions, or returns ErrNoSession.
func (i *Identity) EndSession(ctx context.Context, account, id int64) error {
	return i.write(ctx, change{needs: statement("delete_session", account, id), missing: ErrNoSession,
		log: &line{account, "session.sign-out", ""}})
}

// EndSessions ends all of an account's sessions, except the one with the ID keep.
func (i *Identity) EndSessions(ctx context.Context, account, keep int64) error {
	return i.write(ctx, change{needs: statement("delete_sessions", account, keep),
		log: &line{account, "session.sign-out-everywhere", ""}})
}
