package identity

import (
	"net/url"
	"strconv"
	"testing"

	vw "github.com/descope/virtualwebauthn" // an authenticator in software, for tests
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/passkeytest"
)

var site = vw.RelyingParty{ID: "addrspec.example", Name: "addrspec", Origin: "https://addrspec.example"}

type device = passkeytest.Device

func newDevice() *device { return passkeytest.NewDevice(site) }

func (f *fixture) passkeys(t *testing.T) *Passkeys {
	return must(f.Passkeys(must(url.Parse(site.Origin))(t)))(t)
}

func (f *fixture) register(t *testing.T, d *device, name string) {
	p := f.passkeys(t)
	u := f.user(t)
	options, state, err := p.BeginRegister(t.Context(), "browser", u)
	require.NoError(t, err)
	require.NoError(t, p.FinishRegister(t.Context(), "browser", u, state, name, d.Create(t, options)))
}

func TestPasskeySignsIn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, p, d := t.Context(), f.passkeys(t), newDevice()
		f.withUser(t)
		f.register(t, d, "phone")
		for range 2 {
			options, state, err := p.BeginUse(ctx, "browser")
			require.NoError(t, err)
			require.Contains(t, string(options), `"userVerification":"required"`)
			replica := &Passkeys{New(f.ledger), p.web}
			u := must(replica.FinishUse(ctx, "browser", state, d.Sign(t, options)))(t)
			require.Equal(t, f.account, u.Account)
		}
		list := must(f.ListPasskeys(ctx, f.account))(t)
		require.Equal(t, "phone", list[0].Name)
		require.EqualValues(t, 2, list[0].credential.Authenticator.SignCount)
		require.False(t, list[0].Used.IsZero())
	})
}

func TestPasskeysThatAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, p, d := t.Context(), f.passkeys(t), newDevice()
		f.withUser(t)
		f.register(t, d, "phone")
		begin := func() ([]byte, string) {
			options, state, err := p.BeginUse(ctx, "browser")
			require.NoError(t, err)
			return options, state
		}
		use := func(state, response string) error { return errOf(p.FinishUse(ctx, "browser", state, response)) }
		options, state := begin()
		response := d.Sign(t, options)
		require.ErrorIs(t, errOf(p.FinishUse(ctx, "another browser", state, response)), ErrChallenge, "another browser")
		require.NoError(t, use(state, response))
		require.ErrorIs(t, use(state, response), ErrChallenge, "used twice")
		options, state = begin()
		f.advance(challengeLife)
		require.ErrorIs(t, use(state, d.Sign(t, options)), ErrChallenge, "expired")
		first, _ := begin()
		for _, c := range []struct {
			name   string
			change func(*device)
			want   error
		}{
			{"signed for another origin", func(d *device) { d.Site.Origin = "https://evil.example" }, ErrPasskey},
			{"without user verification", func(d *device) { d.Authenticator.Options.UserNotVerified = true }, ErrPasskey},
			{"a counter that did not grow", func(d *device) { d.Credential.Counter = 0 }, ErrClonedKey},
			{"another user's handle", func(d *device) { d.Authenticator.Options.UserHandle = []byte("another's") }, ErrPasskey},
			{"unknown", func(d *device) { *d = *newDevice() }, ErrPasskey},
			{"still in order", func(*device) {}, nil},
		} {
			options, state = begin()
			changed := *d
			c.change(&changed)
			require.ErrorIs(t, use(state, changed.Sign(t, options)), c.want, c.name)
		}
		_, state = begin()
		require.ErrorIs(t, use(state, d.Sign(t, first)), ErrPasskey, "another challenge's signature")
		_, state = begin()
		require.ErrorIs(t, use(state, `{"id":`), ErrPasskey, "no JSON")
		list := must(f.ListPasskeys(ctx, f.account))(t)
		require.ErrorIs(t, f.RemovePasskey(ctx, User{Account: f.account + 1}, list[0].ID), ErrNoPasskey, "another account's")
		require.NoError(t, f.RemovePasskey(ctx, f.user(t), list[0].ID))
		require.Equal(t, "phone", must(f.ledger.AuditLog(ctx, f.account, 0, 1))(t)[0].Subject)
		options, state = begin()
		require.ErrorIs(t, use(state, d.Sign(t, options)), ErrPasskey, "removed")
	})
}

func TestPasskeysAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, p := t.Context(), f.passkeys(t)
		u := f.withUser(t)
		var states, responses []string
		for range maxPasskeys + 4 {
			options, state, err := p.BeginRegister(ctx, "browser", u)
			require.NoError(t, err)
			states, responses = append(states, state), append(responses, newDevice().Create(t, options))
		}
		require.Equal(t, maxPasskeys, atOnce(len(states), func(n int) error {
			return p.FinishRegister(ctx, "browser", u, states[n], "device "+strconv.Itoa(n), responses[n])
		}))
		require.Equal(t, maxPasskeys, f.user(t).Passkeys)
		_, _, err := p.BeginRegister(ctx, "browser", u)
		require.ErrorIs(t, err, ErrMorePasskey, "before the device stores one")
		for _, name := range []string{"", "\u202e", string(make([]byte, 65))} {
			require.ErrorAs(t, p.FinishRegister(ctx, "browser", u, "", name, ""), new(*InputError), "%q", name)
		}
	})
}

func TestPasskeysNeedAHostName(t *testing.T) {
	for host, want := range map[string]error{"http://127.0.0.1:8080": ErrNoPasskeys, "http://[::1]:8080": ErrNoPasskeys, "http://localhost:8080": nil, "https://addrspec.example": nil} {
		require.ErrorIs(t, errOf(new(Identity).Passkeys(must(url.Parse(host))(t))), want, host)
	}
}

func TestLinkedIdentities(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		ctx, issuer := t.Context(), "https://id.example"
		f.withUser(t)
		other := must(f.SignUp(ctx, "other@example.com", "correct horse battery"))(t)
		require.NoError(t, f.Link(ctx, f.user(t), issuer, "ada"))
		require.ErrorIs(t, f.Link(ctx, other, issuer, "ada"), ErrMoreLinked, "one account each")
		u := must(f.LinkedUser(ctx, issuer, "ada"))(t)
		require.Equal(t, f.account, u.Account)
		require.ErrorIs(t, errOf(f.LinkedUser(ctx, "https://evil.example", "ada")), ErrNoLinked)
		require.ErrorIs(t, f.Unlink(ctx, other, issuer, "ada"), ErrNoLinked, "another account's")
		require.Equal(t, maxLinked-1, atOnce(maxLinked+3, func(n int) error { return f.Link(ctx, u, issuer, "eve"+strconv.Itoa(n)) }))
		require.Len(t, must(f.ListLinked(ctx, f.account))(t), maxLinked)
		require.NoError(t, f.Unlink(ctx, f.user(t), issuer, "ada"))
		require.ErrorIs(t, errOf(f.LinkedUser(ctx, issuer, "ada")), ErrNoLinked)
	})
}
