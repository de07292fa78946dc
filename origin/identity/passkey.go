package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol" // Web Authentication Level 3: parses and verifies what authenticators sign
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The bounds of passkeys.
const (
	maxPasskeys    = 20 // of a user
	maxPasskeyName = 64 // bytes
)

// Errors of passkeys.
var (
	ErrNoPasskeys  = errors.New("passkeys need a host name: open the service under one, such as localhost, instead of an IP address")
	ErrNoPasskey   = errors.New("there is no such passkey")
	ErrPasskey     = errors.New("this passkey was not accepted; it may have been removed here, or belong to another site")
	ErrClonedKey   = errors.New("this passkey was used on another device since, so it may have been copied; sign in another way and remove it")
	ErrMorePasskey = fmt.Errorf("the passkey is registered already, or there are %d: remove one first", maxPasskeys)
)

// A Passkey is a credential of Web Authentication with which a user signs in.
type Passkey struct {
	ID      string
	Name    string
	Created time.Time
	Used    time.Time // zero if never

	credential webauthn.Credential
}

// Passkeys registers passkeys and verifies sign-ins with them, for the site at one
// URL. A passkey counts as both factors: user verification is required, so it
// proves the device and the person.
type Passkeys struct {
	*Identity
	web *webauthn.WebAuthn
}

// Passkeys returns the Passkeys of the site at a URL, or ErrNoPasskeys if its host
// is an IP address (Web Authentication section 5.1.2: an RP ID is a domain).
func (i *Identity) Passkeys(public *url.URL) (*Passkeys, error) {
	if _, err := netip.ParseAddr(public.Hostname()); err == nil {
		return nil, ErrNoPasskeys
	}
	required := true
	web, err := webauthn.New(&webauthn.Config{
		RPID: public.Hostname(), RPDisplayName: "addrspec", RPOrigins: []string{public.Scheme + "://" + public.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{RequireResidentKey: &required,
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
	})
	if err != nil {
		return nil, err
	}
	return &Passkeys{i, web}, nil
}

// passkeyUser is a user as the library sees them.
type passkeyUser struct {
	User
	list []Passkey
}

func (u *passkeyUser) WebAuthnID() []byte          { return []byte(u.handle) }
func (u *passkeyUser) WebAuthnName() string        { return u.Email }
func (u *passkeyUser) WebAuthnDisplayName() string { return u.Email }
func (u *passkeyUser) WebAuthnCredentials() (list []webauthn.Credential) {
	for _, p := range u.list {
		list = append(list, p.credential)
	}
	return list
}

// ListPasskeys returns a user's passkeys, the oldest first.
func (i *Identity) ListPasskeys(ctx context.Context, account int64) ([]Passkey, error) {
	var list []Passkey
	err := i.store.Query(ctx, store.Statement{Name: "list_passkeys", Args: []any{account}, Scan: func(r store.Row) error {
		p, err := scanPasskey(r)
		list = append(list, p)
		return err
	}})
	return list, err
}

func scanPasskey(r store.Row) (p Passkey, err error) {
	var text string
	var created, used int64
	if err := r.Scan(&p.ID, &p.Name, &text, &created, &used); err != nil {
		return p, err
	}
	p.Created = timeOf(created)
	if used != 0 {
		p.Used = timeOf(used)
	}
	return p, json.Unmarshal([]byte(text), &p.credential)
}

// BeginRegister returns the options of navigator.credentials.create as JSON, and
// the state that FinishRegister needs.
func (p *Passkeys) BeginRegister(ctx context.Context, browser string, u User) (options json.RawMessage, state string, err error) {
	user, err := p.passkeyUser(ctx, u)
	if err != nil {
		return nil, "", err
	}
	if len(user.list) >= maxPasskeys {
		return nil, "", ErrMorePasskey // before the device stores one
	}
	exclude := webauthn.Credentials(user.WebAuthnCredentials()).CredentialDescriptors()
	creation, session, err := p.web.BeginRegistration(user, webauthn.WithExclusions(exclude))
	if err != nil {
		return nil, "", err
	}
	return p.began(ctx, ceremony{"register passkey", browser}, creation, session)
}

// began stores the state of a ceremony of the library.
func (p *Passkeys) began(ctx context.Context, c ceremony, options, session any) (json.RawMessage, string, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return nil, "", err
	}
	state, err := p.begin(ctx, c, session)
	return text, state, err
}

func (i *Identity) passkeyUser(ctx context.Context, u User) (*passkeyUser, error) {
	list, err := i.ListPasskeys(ctx, u.Account)
	return &passkeyUser{u, list}, err
}

// FinishRegister stores a new passkey. response is what the browser's
// navigator.credentials.create returned, as JSON.
func (p *Passkeys) FinishRegister(ctx context.Context, browser string, u User, state, name, response string) error {
	if err := CheckPasskeyName(name); err != nil {
		return err
	}
	var session webauthn.SessionData
	if err := p.finish(ctx, ceremony{"register passkey", browser}, state, &session); err != nil {
		return err
	}
	user, err := p.passkeyUser(ctx, u)
	if err != nil {
		return err
	}
	credential, err := p.created(user, session, response)
	if err != nil {
		return ErrPasskey
	}
	return p.add(ctx, u.Account, name, *credential)
}

// CheckPasskeyName returns an *InputError if no passkey can have the name.
func CheckPasskeyName(name string) error {
	if name == "" {
		return &InputError{"name", "The passkey needs a name, such as that of the device."}
	}
	return checkName("name", name, maxPasskeyName)
}

// created verifies the response of a registration (Web Authentication section 7.1).
func (p *Passkeys) created(user *passkeyUser, session webauthn.SessionData, response string) (*webauthn.Credential, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response))
	if err != nil {
		return nil, err
	}
	return p.web.CreateCredential(user, session, parsed)
}

func (i *Identity) add(ctx context.Context, account int64, name string, credential webauthn.Credential) error {
	credential.Attestation = webauthn.CredentialAttestation{} // not asked for, not needed again
	text, err := json.Marshal(credential)
	if err != nil {
		return err
	}
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	create := store.Statement{Name: "create_passkey", Args: []any{passkeyID(credential.ID), account, name, string(text), now.UnixNano(), maxPasskeys}}
	return i.writeIf(ctx, ErrMorePasskey, create, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "passkey.add", name)
	}, store.Statement{Name: "lock_user", Args: []any{account}})
}

func passkeyID(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// BeginUse returns the options of navigator.credentials.get as JSON, and the state
// that FinishUse needs. It names no user: authenticators offer the passkeys that
// they have for this site, so nothing can be learned about accounts.
func (p *Passkeys) BeginUse(ctx context.Context, browser string) (options json.RawMessage, state string, err error) {
	assertion, session, err := p.web.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, "", err
	}
	return p.began(ctx, ceremony{"use passkey", browser}, assertion, session)
}

// FinishUse returns the user whose passkey signed the challenge. response is what
// the browser's navigator.credentials.get returned, as JSON.
func (p *Passkeys) FinishUse(ctx context.Context, browser, state, response string) (User, error) {
	var session webauthn.SessionData
	if err := p.finish(ctx, ceremony{"use passkey", browser}, state, &session); err != nil {
		return User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return User{}, ErrPasskey
	}
	user, err := p.owner(ctx, parsed.RawID)
	if err != nil {
		return User{}, err
	}
	find := func(_, _ []byte) (webauthn.User, error) { return user, nil }   // the library compares the handle
	_, credential, err := p.web.ValidatePasskeyLogin(find, session, parsed) // section 7.2
	if err != nil {
		return User{}, ErrPasskey
	}
	return user.User, p.used(ctx, user.Account, *credential)
}

// owner returns the user of a passkey.
func (i *Identity) owner(ctx context.Context, id []byte) (*passkeyUser, error) {
	var account int64
	err := i.store.Query(ctx, store.Statement{Name: "read_passkey", Args: []any{passkeyID(id)}, Scan: func(r store.Row) error { return r.Scan(&account) }})
	if err == nil && account == 0 {
		err = ErrPasskey
	}
	if err != nil {
		return nil, err
	}
	u, err := i.User(ctx, account)
	if err != nil {
		return nil, err
	}
	return i.passkeyUser(ctx, u)
}

// used stores the signature counter of a passkey. A counter that did not grow is a
// sign of a copy (Web Authentication section 6.1.1).
func (i *Identity) used(ctx context.Context, account int64, credential webauthn.Credential) error {
	if credential.Authenticator.CloneWarning {
		return ErrClonedKey
	}
	text, err := json.Marshal(credential)
	if err != nil {
		return err
	}
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	use := store.Statement{Name: "use_passkey", Args: []any{account, passkeyID(credential.ID), string(text), now.UnixNano()}}
	return i.writeIf(ctx, ErrPasskey, use, func(time.Time) []store.Statement { return unchanged(account) })
}

// RemovePasskey removes one of a user's passkeys. It returns ErrNoPasskey if the user
// has no such passkey.
func (i *Identity) RemovePasskey(ctx context.Context, account int64, id string) error {
	var name string
	remove := store.Statement{Name: "delete_passkey", Args: []any{account, id}, Scan: func(r store.Row) error { return r.Scan(&name) }}
	return i.writeIf(ctx, ErrNoPasskey, remove, func(now time.Time) []store.Statement {
		return book.Audit(ctx, account, now, "passkey.remove", name)
	})
}
