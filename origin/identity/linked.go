package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

const maxLinked = 5 // identities of a user

var (
	ErrNoLinked   = errors.New("there is no such linked identity")
	ErrMoreLinked = fmt.Errorf("the identity is linked already, here or to another account, or there are %d: unlink one first", maxLinked)
)

// A Linked is a person at an OpenID provider who may sign in as a user. Issuer and subject identify
// them for ever (OpenID Connect Core section 5.7); an email does not, so none is looked at.
type Linked struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Created time.Time `json:"created"`
}

// LinkedUser returns the user to whom an identity is linked, or ErrNoLinked.
func (i *Identity) LinkedUser(ctx context.Context, issuer, subject string) (User, error) {
	return i.userOf(ctx, ErrNoLinked, "read_identity", issuer, subject)
}

// ListLinked returns the identities that are linked to a user.
func (i *Identity) ListLinked(ctx context.Context, account int64) ([]Linked, error) {
	var list []Linked
	read := statement("list_identities", account)
	read.Scan = func(r store.Row) error {
		var l Linked
		var created int64
		err := r.Scan(&l.Issuer, &l.Subject, &created)
		l.Created = timeOf(created)
		list = append(list, l)
		return err
	}
	err := i.query(ctx, read)
	return list, err
}

// Link links an identity to a user, or returns ErrMoreLinked or ErrChanged.
func (i *Identity) Link(ctx context.Context, u User, issuer, subject string) error {
	create := statement("create_identity", issuer, subject, u.Account, after(0), maxLinked)
	return i.write(ctx, change{as: &u, needs: create, missing: ErrMoreLinked,
		log: &line{u.Account, "identity.link", issuer}})
}

// Unlink ends a link, or returns ErrNoLinked, and ends the user's other sessions.
func (i *Identity) Unlink(ctx context.Context, u User, issuer, subject string) error {
	remove := statement("delete_identity", u.Account, issuer, subject)
	return i.write(ctx, change{as: &u, needs: remove, missing: ErrNoLinked, then: statements{u.endOthers()},
		log: &line{u.Account, "identity.unlink", issuer}})
}

// A Detour is a visit to an OpenID provider, from which the browser returns with its state.
type Detour struct {
	Purpose  string    `json:"purpose"` // such as "sign in"
	To       string    `json:"to"`      // the page that follows
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Began    time.Time `json:"began"`
}

// BeginDetour stores a detour and returns its state.
func (i *Identity) BeginDetour(ctx context.Context, browser string, d Detour) (state string, err error) {
	d.Began, err = i.ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	return i.begin(ctx, "openid", browser, d)
}

// FinishDetour returns the detour of a state, once.
func (i *Identity) FinishDetour(ctx context.Context, browser, state string) (d Detour, err error) {
	err = i.finish(ctx, "openid", browser, state, &d)
	return d, err
}

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
