// Package identity knows the people who sign in to the dashboard. Each account has one user.
// Nothing here proves that an email address belongs to a user; rights come from a password, a link
// that an operator made, or a linked identity. Package dashboard has HTTP, cookies and HTML.
//
// All of it is in the ledger's database, so replicas need no sticky connections. Tokens of sessions
// and links are stored as SHA-256 only, because they have 256 random bits.
//
// A session outlives no way of signing in that may have opened it. So the other sessions of an
// account end, but not the session that makes the change, with a new password, a new authenticator
// app, its removal, new recovery codes, and the removal of a passkey or of a linked identity. All
// end with ResetFactors and the first link of UseLink. A passkey or an identity that is added ends
// no session, because each session is as good as before.
package identity

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/limit"
)

// Errors of people's requests. Each is a complete sentence for them.
var (
	ErrNoUser        = errors.New("nobody can sign in to this account yet")
	ErrNoSession     = errors.New("the session has ended")
	ErrWrongPassword = errors.New("the email or the password is wrong")
	ErrLinkUsed      = errors.New("the link was used already or has expired")
	ErrChanged       = errors.New("the password, the authenticator app or the user was changed meanwhile; sign in again")
)

// An InputError is a value that cannot be used, with a sentence that says why.
type InputError struct{ Field, Sentence string }

func (e *InputError) Error() string { return e.Sentence }

// Identity stores users and sessions in the ledger's database. It is safe for concurrent use.
type Identity struct {
	ledger  *ledger.Ledger
	store   store.Store
	hashing *limit.Limiter[string] // of the passwords that are hashed, by network
	sealer  *store.Sealer          // of the secrets of authenticator apps; nil stores them as they are
}

// New returns an Identity on the ledger's database.
func New(l *ledger.Ledger) *Identity {
	return &Identity{ledger: l, store: l.Store(), hashing: newHashing()}
}

// WithSealer makes i seal the secrets of authenticator apps.
func (i *Identity) WithSealer(s *store.Sealer) *Identity {
	i.sealer = s
	return i
}

type change struct {
	// as makes the change, which is refused with ErrChanged if the user's proof has changed
	// since as was read: a request that is on its way must not survive what has ended the
	// sessions. An as without a handle was not read.
	as *User
	// needs runs first and returns a row, or the change is refused with missing, which may be nil.
	needs   store.Statement
	missing error
	then    statements
	log     *line
}

// A line is what an account's audit log says of a change.
type line struct {
	account         int64
	action, subject string
}

type statements = []store.Statement

// after is an argument of a change's statement: a time after the database's, which replicas share.
type after time.Duration

func statement(name string, args ...any) store.Statement {
	return store.Statement{Name: name, Args: args}
}

func setTimes(now time.Time, list ...store.Statement) {
	for _, s := range list {
		for n, arg := range s.Args {
			if d, ok := arg.(after); ok {
				s.Args[n] = now.Add(time.Duration(d)).UnixNano()
			}
		}
	}
}

func (i *Identity) write(ctx context.Context, c change) error {
	now, err := i.ledger.Now(ctx)
	if err != nil {
		return err
	}
	setTimes(now, c.needs)
	var current User
	var found bool
	var refusal error
	err = i.store.Transact(ctx, store.Transaction{
		Reads: func() (reads statements) {
			if c.as != nil { // first, so that no two changes of a user wait for each other
				reads = statements{statement("lock_user", c.as.Account), i.readUser(&current, c.as.Account, "")}
			}
			needs := c.needs
			found = needs.Name == ""
			if found {
				return reads
			}
			needs.Scan = func(r store.Row) error {
				found = true
				if c.needs.Scan == nil {
					return nil
				}
				return c.needs.Scan(r)
			}
			return append(reads, needs)
		},
		Decide: func(now time.Time) (statements, error) {
			setTimes(now, c.then...) // after the locks
			switch {
			case c.as != nil && c.as.handle != "" && !bytes.Equal(c.as.proof(), current.proof()):
				refusal = ErrChanged
				return nil, nil
			case !found:
				refusal = c.missing
				return nil, nil
			case c.log != nil:
				return book.Audit(ctx, c.log.account, now, c.log.action, c.log.subject, c.then...), nil
			case c.then == nil:
				return statements{statement("ping")}, nil // because a transaction without statements is rolled back
			}
			return c.then, nil
		},
	})
	if refusal != nil {
		return refusal
	}
	return unavailable(err)
}

func (i *Identity) query(ctx context.Context, s store.Statement, into ...any) error {
	if len(into) > 0 {
		s.Scan = func(r store.Row) error { return r.Scan(into...) }
	}
	return unavailable(i.store.Query(ctx, s))
}

// unavailable wraps errors of the database, but those of rows that it rejects.
func unavailable(err error) error {
	if err == nil || errors.Is(err, store.ErrData) {
		return err
	}
	return store.Unavailable(err)
}

func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// newToken returns 256 random bits.
func newToken() string {
	var random [32]byte
	rand.Read(random[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// hashOf returns the form in which a token is stored.
func hashOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }
