package identity

import (
	"context"
	"strconv"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// A Limit is how often something may be attempted: a token bucket that holds
// Burst tokens and gains one every Every.
type Limit struct {
	What  string
	Burst int
	Every time.Duration
}

// The limits of attempts. An account's is generous enough for a person and slow
// enough against guessing: 10, then 2,880 a day.
var (
	PasswordsOfAccount = Limit{"password of account", 10, 30 * time.Second}
	PasswordsOfAddress = Limit{"password from address", 30, 10 * time.Second}
	// 10, then 288 a day, of which each has three chances in a million.
	CodesOfAccount = Limit{"code of account", 10, 5 * time.Minute}
	LinksOfAddress = Limit{"link from address", 30, 10 * time.Second}
	// A sign-in page takes one for passkeys in autofill.
	ChallengesOfAddress = Limit{"challenge from address", 60, 5 * time.Second}
	// Bounds the table of challenges if they come from many addresses: to 16,000
	// rows of about a kilobyte.
	Challenges       = Limit{"challenge", 1000, 20 * time.Millisecond}
	SignUpsOfAddress = Limit{"sign-up from address", 3, 8 * time.Hour}
	SignUpsOfDay     = Limit{"sign-up", 200, 24 * time.Hour / 200}
)

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
	take := store.Statement{Name: "take_attempt", Args: []any{at, now.UnixNano(), every, every * int64(limit.Burst-1)}}
	err = i.writeIf(ctx, errTooMany, take, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "delete_old_attempts", Args: []any{now.UnixNano()}}}
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
