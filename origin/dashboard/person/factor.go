package person

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"github.com/boombuler/barcode/qr" // of the module that the OTP library uses; ISO/IEC 18004

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
)

// TOTPView is the page that sets up an authenticator app.
type TOTPView struct {
	Secret string  `json:"secret,omitempty"`
	URL    string  `json:"url,omitempty"`
	QR     *qrCode `json:"-"`
}

// SpacedSecret returns the secret in groups, for people who type it.
func (t TOTPView) SpacedSecret() string {
	return strings.TrimSpace(four.ReplaceAllString(t.Secret, "$0 "))
}

var four = regexp.MustCompile(".{4}")

// totpPage shows a new secret. The form brings it back, so nothing is stored
// before a code shows that the app has it; after a wrong code it is the same.
func totpPage(v *page.Visit) (any, error) {
	secret, url, err := identity.NewTOTP(v.User.Email, v.Form.Get("secret"))
	if err != nil {
		return nil, err
	}
	qr, err := newQRCode(url)
	return TOTPView{Secret: secret, URL: url, QR: qr}, err
}

func setTOTP(v *page.Visit) (*page.Outcome, error) {
	codes, err := v.Identity.SetTOTP(v.Context(), *v.User, v.Form.Get("secret"), v.Form.Get("code"))
	if err != nil {
		return nil, err
	}
	rememberAgain(v)
	return showCodes(v, "totp-set", codes)
}

func removeTOTP(v *page.Visit) (*page.Outcome, error) {
	if err := v.Identity.RemoveTOTP(v.Context(), *v.User); err != nil {
		return nil, err
	}
	rememberAgain(v)
	return page.Redirect("/dashboard/settings", "totp-removed"), nil
}

type recoveryView struct {
	Left  int      `json:"left"`
	Codes []string `json:"recovery_codes,omitempty"`
}

const recoveryPath = "/dashboard/settings/recovery-codes"

func recoveryPage(v *page.Visit) (any, error) {
	left, err := v.Identity.RecoveryCodesLeft(v.Context(), v.User.Account)
	if err != nil { // the codes are shown when the page is loaded again
		return nil, err
	}
	return recoveryView{left, v.ShownOnce()}, nil
}

func renewRecovery(v *page.Visit) (*page.Outcome, error) {
	codes, err := v.Identity.RenewRecoveryCodes(v.Context(), *v.User)
	if err != nil {
		return nil, err
	}
	return showCodes(v, "", codes)
}

func showCodes(v *page.Visit, done string, codes []string) (*page.Outcome, error) {
	data := func() (any, error) { return recoveryView{len(codes), codes}, nil }
	return v.ShowOnce(page.Redirect(recoveryPath, done), data, codes...)
}

// A qrCode is a QR code as the path of an SVG: an image of our own, since the page
// must not send the secret to a service that draws it.
type qrCode struct {
	Size int // of the view box, with the quiet zone
	Path string
}

// quietZone is the margin around a QR code, in modules (ISO/IEC 18004 section 6.3.8).
const quietZone = 4

func newQRCode(text string) (*qrCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, err
	}
	var path strings.Builder
	size := code.Bounds().Dx()
	dark := func(x, y int) bool { return color.GrayModel.Convert(code.At(x, y)).(color.Gray).Y < 128 }
	for y := range size {
		for x := 0; x < size; x++ {
			run := 0 // dark modules that follow each other
			for x+run < size && dark(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return &qrCode{size + 2*quietZone, path.String()}, nil
}

// PasskeyView is the page of a ceremony with a passkey. A POST without a state
// begins one and returns State and Options; the module passkey.js hands Options to
// the browser, and a second POST brings back State and what the browser returned.
type PasskeyView struct {
	To          string          `json:"to,omitempty"`
	Path        string          `json:"-"`                     // of the ceremony's POSTs
	Unavailable string          `json:"unavailable,omitempty"` // why there are no passkeys here
	State       string          `json:"state,omitempty"`
	Options     json.RawMessage `json:"options,omitempty"`
}

// A passkeyForm is a form that passkey.js takes over.
type passkeyForm struct {
	Frame         *page.Frame
	Action, Label string
	To            string // the page that follows
	Autofill      bool   // offer passkeys in the autofill of another form
}

func NewPasskeyForm(f *page.Frame, action, label, to string, autofill bool) passkeyForm {
	return passkeyForm{f, action, label, to, autofill}
}

// passkeySignIn is the page on which a passkey signs in.
const passkeySignIn = "/sign-in/passkey"

func passkeyPage(v *page.Visit) (any, error) {
	return PasskeyView{To: v.ReturnTo(), Path: v.Request.URL.Path, Unavailable: noPasskeys(v.Server)}, nil
}

// noPasskeys returns why passkeys cannot be used at this URL, or "".
func noPasskeys(d *page.Server) string {
	if d.Passkeys == nil {
		return page.Sentence(identity.ErrNoPasskeys)
	}
	return ""
}

// usePasskey begins a ceremony, or finishes the one that the form names. A passkey signs in alone: it is both
// factors, since the authenticator has verified its user. On another page than that of the sign-in it proves
// again who is signed in, of which another account's passkey proves nothing.
func usePasskey(v *page.Visit) (*page.Outcome, error) {
	ctx, state := v.Context(), v.Form.Get("state")
	if v.Passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	if state == "" {
		return beginPasskey(v, func() (json.RawMessage, string, error) { return v.Passkeys.BeginUse(ctx, v.Token) })
	}
	user, err := v.Passkeys.FinishUse(ctx, v.Token, state, v.Form.Get("credential"))
	switch {
	case err != nil:
		return nil, err
	case v.Request.URL.Path == passkeySignIn:
		return open(v, user, v.ReturnTo(), true)
	case user.Account != v.User.Account:
		return nil, identity.ErrPasskey
	}
	return page.Redirect(v.ReturnTo(), "confirmed"), v.Identity.Confirm(ctx, *v.Session)
}

func addPasskey(v *page.Visit) (*page.Outcome, error) {
	ctx, state := v.Context(), v.Form.Get("state")
	if v.Passkeys == nil {
		return nil, identity.ErrNoPasskeys
	}
	if state == "" {
		return beginPasskey(v, func() (json.RawMessage, string, error) {
			return v.Passkeys.BeginRegister(ctx, v.Token, *v.User)
		})
	}
	name := strings.TrimSpace(v.Form.Get("name"))
	return page.Redirect("/dashboard/settings", "passkey-added"),
		v.Passkeys.FinishRegister(ctx, v.Token, *v.User, state, name, v.Form.Get("credential"))
}

func beginPasskey(v *page.Visit, begin func() (json.RawMessage, string, error)) (*page.Outcome, error) {
	if err := v.Identity.Attempt(v.Context(), identity.Challenges, v.From()); err != nil {
		return nil, err
	}
	options, state, err := begin()
	return page.Show(PasskeyView{To: v.ReturnTo(), Path: v.Request.URL.Path, State: state, Options: options}), err
}

func passkeyToRemove(v *page.Visit) (any, error) {
	passkeys, err := v.Identity.ListPasskeys(v.Context(), v.User.Account)
	for _, p := range passkeys {
		if p.ID == v.Request.PathValue("credential") {
			return p, nil
		}
	}
	return nil, cmp.Or(err, error(page.ErrNotFound))
}

func removePasskey(v *page.Visit) (*page.Outcome, error) {
	return page.Redirect("/dashboard/settings", "passkey-removed"),
		v.Identity.RemovePasskey(v.Context(), *v.User, v.Request.PathValue("credential"))
}
