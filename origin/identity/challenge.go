package identity

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// ChallengeLife is how long a ceremony may take: registering or using a passkey,
// or signing in at an OpenID provider.
const ChallengeLife = 5 * time.Minute

// ErrChallenge means that a ceremony cannot be finished.
var ErrChallenge = errors.New("this attempt has expired, was finished already or began in another browser; start again")

// A Ceremony is something that begins in one request and is finished once, in
// another request of the same browser, on any replica.
type Ceremony struct {
	Purpose string // such as "passkey"
	Browser string // the token of the browser's cookie
}

// begin stores what finish returns, and returns the state that the browser must
// bring back. Only its hash is stored, with the purpose and the cookie: a state
// that was given to one browser is worth nothing in another.
func (i *Identity) begin(ctx context.Context, c Ceremony, data any) (state string, err error) {
	state = newToken()
	text, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	return state, i.write(ctx, func(now time.Time) []store.Statement {
		return []store.Statement{
			{Name: "delete_expired_challenges", Args: []any{now.UnixNano()}},
			{Name: "create_challenge", Args: []any{c.hash(state), string(text), now.Add(ChallengeLife).UnixNano()}},
		}
	})
}

// finish ends a ceremony and reads what begin stored, or returns ErrChallenge.
func (i *Identity) finish(ctx context.Context, c Ceremony, state string, data any) error {
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	var text string
	take := store.Statement{Name: "take_challenge", Args: []any{c.hash(state), now.UnixNano()},
		Scan: func(r store.Row) error { return r.Scan(&text) }}
	err = i.writeIf(ctx, ErrChallenge, take, func(now time.Time) []store.Statement {
		return []store.Statement{{Name: "delete_expired_challenges", Args: []any{now.UnixNano()}}}
	})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), data)
}

func (c Ceremony) hash(state string) string {
	return hashOf(c.Purpose + "\x00" + c.Browser + "\x00" + state)
}
