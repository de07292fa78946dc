// Package identity knows the people who sign in to the dashboard: passwords,
// sessions, one-time links and how often somebody may try. Each account has one
// user. Nothing here proves that an email address belongs to a user; rights come
// from a password, a link that an operator made, or a linked identity.
//
// All of it is in the ledger's database, so any replica knows every session and
// replicas need no sticky connections. Tokens of sessions and links are stored as
// SHA-256 only: they have 256 random bits, so there is no dictionary to try.
// Passwords are stored as Argon2id (RFC 9106). Secrets of authenticator apps are sealed
// if there is a key for it (see store.Sealer).
//
// The package leaves out HTTP, cookies and HTML (package dashboard), and what an
// account may use (package ledger).
package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Errors of people's requests. Each is a complete sentence for them.
var (
	ErrNoUser        = errors.New("nobody can sign in to this account yet")
	ErrNoSession     = errors.New("the session has ended")
	ErrWrongPassword = errors.New("the email or the password is wrong")
	ErrLinkUsed      = errors.New("the link was used already or has expired")
	ErrChanged       = errors.New("the password or the user was changed meanwhile; sign in again")
)

// Identity stores users and sessions in the ledger's database. It is safe for
// concurrent use.
type Identity struct {
	ledger *ledger.Ledger
	store  store.Store
	hasher hasher
	sealer *store.Sealer // of the secrets of authenticator apps; nil stores them as they are
}

// New returns an Identity on the ledger's database.
func New(l *ledger.Ledger) *Identity {
	return &Identity{ledger: l, store: database{l.Store()}, hasher: newHasher()}
}

// A database is a store whose errors wrap store.ErrUnavailable, but those of Decide
// and of rows that it rejects, which are not due to its state.
type database struct{ store.Store }

func (d database) Query(ctx context.Context, st store.Statement) error {
	return unavailable(d.Store.Query(ctx, st))
}

func (d database) Transact(ctx context.Context, t store.Transaction) error {
	var refusal error
	decide := t.Decide
	t.Decide = func(now time.Time) (list []store.Statement, err error) {
		list, refusal = decide(now)
		return list, refusal
	}
	err := d.Store.Transact(ctx, t)
	if refusal != nil {
		return refusal
	}
	return unavailable(err)
}

func unavailable(err error) error {
	if err == nil || errors.Is(err, store.ErrData) {
		return err
	}
	return store.Unavailable(err)
}

// WithSealer makes i seal the secrets of authenticator apps.
func (i *Identity) WithSealer(s *store.Sealer) *Identity {
	i.sealer = s
	return i
}

// now returns the time of the database's clock, which replicas share.
func (i *Identity) now(ctx context.Context) (time.Time, error) { return i.ledger.Now(ctx) }

// write runs the statements that decide returns in a transaction.
func (i *Identity) write(ctx context.Context, decide func(now time.Time) []store.Statement) error {
	return i.store.Transact(ctx, store.Transaction{Decide: func(now time.Time) ([]store.Statement, error) {
		return decide(now), nil
	}})
}

// writeIf runs first, which returns the one row that it changes, and then the
// statements of rest, in one transaction. If first changed no row, nothing is
// changed and missing is returned. The statements of before run earlier.
func (i *Identity) writeIf(ctx context.Context, missing error, first store.Statement, rest func(now time.Time) []store.Statement, before ...store.Statement) error {
	changed, scan := false, first.Scan
	first.Scan = func(r store.Row) error {
		changed = true
		if scan == nil {
			return nil
		}
		return scan(r)
	}
	return i.store.Transact(ctx, store.Transaction{
		Reads: func() []store.Statement { changed = false; return append(slices.Clip(before), first) },
		Decide: func(now time.Time) ([]store.Statement, error) {
			if !changed {
				return nil, missing
			}
			return rest(now), nil
		},
	})
}

// writeAs is write for what u does, who was read before. It returns ErrChanged if the
// user was replaced since (see UseLink) or the password was changed: a request that is
// on its way must not survive what has ended all sessions.
func (i *Identity) writeAs(ctx context.Context, u User, decide func(now time.Time) []store.Statement, before ...store.Statement) error {
	lock := store.Statement{Name: "lock_user_as", Args: []any{u.Account, u.handle, u.password}}
	return i.writeIf(ctx, ErrChanged, lock, decide, before...)
}

// late is how much later than the clock that a request has read another one's may be.
// A stored time that no clock since then can have led to was written while the clock
// was ahead. It must neither lock anybody out until that time nor live until then.
const late = time.Minute

// latest returns the latest time that can have been stored for something that ends
// after life.
func latest(now time.Time, life time.Duration) int64 { return now.Add(life + late).UnixNano() }

// timeOf converts a Unix time in nanoseconds.
func timeOf(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// newToken returns 256 random bits in base64url.
func newToken() string {
	var random [32]byte
	rand.Read(random[:]) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// hashOf returns the form in which a token is stored.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// A Limit is how often something may be attempted: a token bucket that holds
// Burst tokens and gains one every Every.
type Limit struct {
	What  string
	Burst int
	Every time.Duration
}

// The limits of attempts. A network's are generous enough for a person and slow enough
// against guessing. An account's is wider, so that no single network uses it up.
var (
	PasswordsOfAddress = Limit{"password from address", 30, 10 * time.Second}
	// For an account from one network: 10, then 720 a day.
	PasswordsOfNetwork = Limit{"password of account from network", 10, 2 * time.Minute}
	// For an account from all networks: 50, then 2,880 a day.
	PasswordsOfAccount = Limit{"password of account", 50, 30 * time.Second}
	// In a browser in which the owner has signed in before: 10, then 720 a day. What
	// others try does not count there.
	PasswordsOfDevice      = Limit{"password from device", 10, 2 * time.Minute}
	ConfirmationsOfSession = Limit{"password of session", 10, 2 * time.Minute}
	// 10, then 288 a day, of which each has three chances in a million; a device's is
	// as for passwords.
	CodesOfAccount = Limit{"code of account", 10, 5 * time.Minute}
	CodesOfDevice  = Limit{"code from device", 10, 5 * time.Minute}
	LinksOfAddress = Limit{"link from address", 30, 10 * time.Second}
	// A sign-in page takes one for passkeys in autofill.
	ChallengesOfAddress = Limit{"challenge from address", 60, 5 * time.Second}
	// Bounds the table of challenges if they come from many addresses: to 16,000
	// rows of about a kilobyte.
	Challenges       = Limit{"challenge", 1000, 20 * time.Millisecond}
	SignUpsOfAddress = Limit{"sign-up from address", 3, 8 * time.Hour}
	SignUpsOfDay     = Limit{"sign-up", 200, 24 * time.Hour / 200}
)

// A Caller is who gives a password.
type Caller struct {
	Address string // as the subject of Attempt
	Network string // in which an attacker can easily have many addresses: an IPv4 /24, an IPv6 /64
	Device  string // the browser's device token, if it has one
}

// AttemptPassword counts an attempt at a password, whether there is an account or not.
// A browser in which the owner has signed in has a bucket of its own, so nobody can
// lock the owner out there (OWASP, Slow Down Online Guessing Attacks with Device
// Cookies). For all others the narrow limits come first: what they refuse takes no
// token of the account.
func (i *Identity) AttemptPassword(ctx context.Context, email string, from Caller) error {
	device, err := i.deviceOf(ctx, email, from.Device)
	if err != nil {
		return err
	}
	if device != "" {
		return i.Attempt(ctx, PasswordsOfDevice, device)
	}
	for _, at := range []struct {
		limit   Limit
		subject string
	}{{PasswordsOfAddress, from.Address}, {PasswordsOfNetwork, from.Network + "\x00" + email}, {PasswordsOfAccount, email}} {
		if err := i.Attempt(ctx, at.limit, at.subject); err != nil {
			return err
		}
	}
	return nil
}

// longestLimit is the longest time of a limit above, from empty to full.
const longestLimit = 24 * time.Hour

// full returns how long an empty bucket takes to be full again.
func (l Limit) full() time.Duration { return l.Every * time.Duration(l.Burst) }

// A TooManyError refuses an attempt.
type TooManyError struct{ Wait time.Duration }

func (e *TooManyError) Error() string {
	seconds := int64((e.Wait + time.Second - 1) / time.Second)
	return "there were too many attempts; try again in " + strconv.FormatInt(max(1, seconds), 10) + " seconds"
}

// Attempt counts an attempt by or at a subject, such as an account or a network
// address, which is stored as a hash. It returns a *TooManyError if the limit is
// reached, on whichever replica.
func (i *Identity) Attempt(ctx context.Context, limit Limit, subject string) error {
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	at, every := hashOf(limit.What+"\x00"+subject), limit.Every.Nanoseconds()
	take := store.Statement{Name: "take_attempt", Args: []any{at, now.UnixNano(), every, every * int64(limit.Burst-1), latest(now, limit.full())}}
	err = i.writeIf(ctx, errTooMany, take, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "delete_old_attempts", Args: []any{now.UnixNano(), latest(now, longestLimit)}}}
	})
	if err == errTooMany {
		return &TooManyError{i.waitFor(ctx, at, limit)}
	}
	return err
}

var errTooMany = &TooManyError{}

// waitFor returns the time until a subject has a token.
func (i *Identity) waitFor(ctx context.Context, at string, limit Limit) time.Duration {
	var tat int64
	now, err := i.now(ctx)
	if err != nil {
		return limit.Every
	}
	_ = i.store.Query(ctx, store.Statement{Name: "read_attempt", Args: []any{at}, Scan: func(r store.Row) error { return r.Scan(&tat) }})
	return max(0, timeOf(tat).Sub(now)-limit.Every*time.Duration(limit.Burst-1))
}

// challengeLife is how long a ceremony may take: registering or using a passkey,
// or signing in at an OpenID provider.
const challengeLife = 5 * time.Minute

// ErrChallenge means that a ceremony cannot be finished.
var ErrChallenge = errors.New("this attempt has expired, was finished already or began in another browser; start again")

// A ceremony is something that begins in one request and is finished once, in
// another request of the same browser, on any replica.
type ceremony struct {
	Purpose string // such as "passkey"
	Browser string // the token of the browser's cookie
}

// begin stores what finish returns, and returns the state that the browser must
// bring back. Only its hash is stored, with the purpose and the cookie: a state
// that was given to one browser is worth nothing in another.
func (i *Identity) begin(ctx context.Context, c ceremony, data any) (state string, err error) {
	state = newToken()
	text, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	return state, i.write(ctx, func(now time.Time) []store.Statement {
		return []store.Statement{
			{Name: "delete_expired_challenges", Args: []any{now.UnixNano(), latest(now, challengeLife)}},
			{Name: "create_challenge", Args: []any{c.hash(state), string(text), now.Add(challengeLife).UnixNano()}},
		}
	})
}

// finish ends a ceremony and reads what begin stored, or returns ErrChallenge.
func (i *Identity) finish(ctx context.Context, c ceremony, state string, data any) error {
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	var text string
	take := store.Statement{Name: "take_challenge", Args: []any{c.hash(state), now.UnixNano(), latest(now, challengeLife)},
		Scan: func(r store.Row) error { return r.Scan(&text) }}
	err = i.writeIf(ctx, ErrChallenge, take, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "delete_expired_challenges", Args: []any{now.UnixNano(), latest(now, challengeLife)}}}
	})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), data)
}

func (c ceremony) hash(state string) string {
	return hashOf(c.Purpose + "\x00" + c.Browser + "\x00" + state)
}
