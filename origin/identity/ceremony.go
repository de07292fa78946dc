package identity

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

const challengeLife = 5 * time.Minute // of a ceremony

// ErrChallenge means that a ceremony cannot be finished.
var ErrChallenge = errors.New("this attempt has expired, was finished already or began in another browser; start again")

// begin begins a ceremony, which is finished once in another request of the same browser,
// on any replica. It stores what finish returns, and returns the state that the browser must
// bring back. browser is the token of the browser's cookie. Only a hash of state, purpose
// and cookie is stored, so a state is worth nothing in another browser.
func (i *Identity) begin(ctx context.Context, purpose, browser string, data any) (state string, err error) {
	state = newToken()
	text, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	return state, i.write(ctx, change{then: statements{
		statement("delete_expired_challenges", after(0)),
		statement("create_challenge", hashOf(purpose+"\x00"+browser+"\x00"+state), string(text), after(challengeLife)),
	}})
}

// finish ends a ceremony and reads what begin stored, or returns ErrChallenge.
func (i *Identity) finish(ctx context.Context, purpose, browser, state string, data any) error {
	var text string
	take := statement("take_challenge", hashOf(purpose+"\x00"+browser+"\x00"+state), after(0))
	take.Scan = func(r store.Row) error { return r.Scan(&text) }
	if err := i.write(ctx, change{needs: take, missing: ErrChallenge}); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), data)
}
