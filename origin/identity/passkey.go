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

	"github.com/addrspec/addrspec/origin/ledger/store"
)

const maxPasskeys = 20 // of a user

var (
	ErrNoPasskeys  = errors.New("passkeys need a host name: open the service under one, such as localhost, instead of an IP address")
	ErrNoPasskey   = errors.New("there is no such passkey")
	ErrPasskey     = errors.New("this passkey was not accepted; it may have been removed here, or belong to another site")
	ErrClonedKey   = errors.New("this passkey was used on another device since, so it may have been copied; sign in another way and remove it")
	ErrMorePasskey = fmt.Errorf("the passkey is registered already, or there are %d: remove one first", maxPasskeys)
)

// A Passkey is a credential with which a user signs in.
type Passkey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"last_used,omitzero"` // zero if never

	credential webauthn.Credential
}

// Passkeys registers passkeys and verifies sign-ins with them, for the site at one
// URL. A passkey counts as both factors, because user verification is required.
type Passkeys struct {
	*Identity
	web *webauthn.WebAuthn
}

// Passkeys returns the Passkeys of the site at a URL, or ErrNoPasskeys if its host is an IP
// address (Web Authentication section 5.1.2: an RP ID is a domain).
func (i *Identity) Passkeys(public *url.URL) (*Passkeys, error) {
	if _, err := netip.ParseAddr(public.Hostname()); err == nil {
		return nil, ErrNoPasskeys
	}
	web, err := webauthn.New(&webauthn.Config{
		RPID: public.Hostname(), RPDisplayName: "addrspec", RPOrigins: []string{public.Scheme + "://" + public.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{RequireResidentKey: new(true),
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired},
	})
	if err != nil {
		return nil, err
	}
	return &Passkeys{i, web}, nil
}

// passkeyUser is a user as the library needs them.
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
	read := statement("list_passkeys", account)
	read.Scan = func(r store.Row) error {
		var p Passkey
		var text string
		var created, used int64
		if err := r.Scan(&p.ID, &p.Name, &text, &created, &used); err != nil {
			return err
		}
		p.Created = timeOf(created)
		if used != 0 {
			p.Used = timeOf(used)
		}
		err := json.Unmarshal([]byte(text), &p.credential)
		list = append(list, p)
		return err
	}
	err := i.query(ctx, read)
	return list, err
}

// BeginRegister returns the options of navigator.credentials.create, and a state for FinishRegister.
func (p *Passkeys) BeginRegister(ctx context.Context, browser string, u User) (options json.RawMessage, state string, err error) {
	user, err := p.passkeyUser(ctx, u)
	if err == nil && len(user.list) >= maxPasskeys {
		err = ErrMorePasskey // before the device stores one
	}
	if err != nil {
		return nil, "", err
	}
	exclude := webauthn.Credentials(user.WebAuthnCredentials()).CredentialDescriptors()
	creation, session, err := p.web.BeginRegistration(user, webauthn.WithExclusions(exclude))
	if err != nil {
		return nil, "", err
	}
	return p.began(ctx, "register passkey", browser, creation, session)
}

func (p *Passkeys) began(ctx context.Context, purpose, browser string, options, session any) (
	text json.RawMessage, state string, err error) {
	text, err = json.Marshal(options)
	if err == nil {
		state, err = p.begin(ctx, purpose, browser, session)
	}
	return text, state, err
}

func (i *Identity) passkeyUser(ctx context.Context, u User) (*passkeyUser, error) {
	list, err := i.ListPasskeys(ctx, u.Account)
	return &passkeyUser{u, list}, err
}

// FinishRegister stores a new passkey (Web Authentication section 7.1), which the browser's
// navigator.credentials.create returned as response.
func (p *Passkeys) FinishRegister(ctx context.Context, browser string, u User, state, name, response string) error {
	if err := CheckPasskeyName(name); err != nil {
		return err
	}
	var session webauthn.SessionData
	if err := p.finish(ctx, "register passkey", browser, state, &session); err != nil {
		return err
	}
	user, err := p.passkeyUser(ctx, u)
	if err != nil {
		return err
	}
	var credential *webauthn.Credential
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(response))
	if err == nil {
		credential, err = p.web.CreateCredential(user, session, parsed)
	}
	if err != nil {
		return ErrPasskey
	}
	credential.Attestation = webauthn.CredentialAttestation{} // not asked for, not needed again
	text, err := json.Marshal(credential)
	if err != nil {
		return err
	}
	create := statement("create_passkey", passkeyID(credential.ID), u.Account, name, string(text), after(0), maxPasskeys)
	return p.write(ctx, change{as: &u, needs: create, missing: ErrMorePasskey, log: &line{u.Account, "passkey.add", name}})
}

// CheckPasskeyName returns an *InputError if no passkey can have the name.
func CheckPasskeyName(name string) error {
	if name == "" {
		return &InputError{"name", "The passkey needs a name, such as that of the device."}
	}
	return checkName(name, maxPasskeyName)
}

func passkeyID(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// BeginUse returns the options of navigator.credentials.get, and a state for FinishUse. It names no
// user, because authenticators know their passkeys, so nothing can be learned about accounts.
func (p *Passkeys) BeginUse(ctx context.Context, browser string) (options json.RawMessage, state string, err error) {
	assertion, session, err := p.web.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, "", err
	}
	return p.began(ctx, "use passkey", browser, assertion, session)
}

// FinishUse returns the user whose passkey has signed the challenge in response, which the
// browser's navigator.credentials.get returned.
func (p *Passkeys) FinishUse(ctx context.Context, browser, state, response string) (User, error) {
	var session webauthn.SessionData
	if err := p.finish(ctx, "use passkey", browser, state, &session); err != nil {
		return User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(response))
	if err != nil {
		return User{}, ErrPasskey
	}
	id := passkeyID(parsed.RawID)
	u, err := p.userOf(ctx, ErrPasskey, "read_passkey", id)
	if err != nil {
		return User{}, err
	}
	user, err := p.passkeyUser(ctx, u)
	if err != nil {
		return User{}, err
	}
	find := func(_, _ []byte) (webauthn.User, error) { return user, nil }   // the library compares the handle
	_, credential, err := p.web.ValidatePasskeyLogin(find, session, parsed) // section 7.2
	switch {
	case err != nil:
		return User{}, ErrPasskey
	case credential.Authenticator.CloneWarning: // a counter that did not grow is a sign of a copy (section 6.1.1)
		return User{}, ErrClonedKey
	}
	text, err := json.Marshal(credential)
	if err != nil {
		return User{}, err
	}
	use := statement("use_passkey", u.Account, id, string(text), after(0))
	return u, p.write(ctx, change{as: &u, needs: use, missing: ErrPasskey})
}

// RemovePasskey removes a passkey, or returns ErrNoPasskey, and ends the user's other sessions.
func (i *Identity) RemovePasskey(ctx context.Context, u User, id string) error {
	log, remove := line{u.Account, "passkey.remove", ""}, statement("delete_passkey", u.Account, id)
	remove.Scan = func(r store.Row) error { return r.Scan(&log.subject) } // its name
	return i.write(ctx, change{as: &u, needs: remove, missing: ErrNoPasskey, log: &log, then: statements{u.endOthers()}})
}
