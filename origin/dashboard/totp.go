package dashboard

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode"    // the module that the OTP library uses for QR codes
	"github.com/boombuler/barcode/qr" // ISO/IEC 18004

	"github.com/addrspec/addrspec/origin/identity"
)

// totpView is the page that sets up an authenticator app.
type totpView struct {
	Secret string  `json:"secret,omitempty"`
	URL    string  `json:"url,omitempty"`
	QR     *qrCode `json:"-"`
}

// SpacedSecret returns the secret in groups, for people who type it.
func (t totpView) SpacedSecret() string {
	var b strings.Builder
	for i, c := range t.Secret {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// totpPage shows a new secret. The form brings it back, so nothing is stored
// before a code shows that the app has it; after a wrong code it is the same.
func (d *Dashboard) totpPage(v *visit) (any, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	secret, url, err := identity.NewTOTP(v.user.Email, v.form.Get("secret"))
	if err != nil {
		return nil, err
	}
	qr, err := newQRCode(url)
	return totpView{Secret: secret, URL: url, QR: qr}, err
}

// setTOTP leads to the page that shows the recovery codes.
func (d *Dashboard) setTOTP(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	codes, err := d.Identity.SetTOTP(v.r.Context(), *v.user, v.form.Get("secret"), v.form.Get("code"))
	if err != nil {
		return nil, err
	}
	v.rememberAgain()
	return v.showCodes("totp-set", codes)
}

func (d *Dashboard) removeTOTP(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	if err := d.Identity.RemoveTOTP(v.r.Context(), *v.user); err != nil {
		return nil, err
	}
	v.rememberAgain()
	return redirect("/dashboard/settings", "totp-removed"), nil
}

// recoveryView is the page of recovery codes.
type recoveryView struct {
	Left  int      `json:"left"`
	Codes []string `json:"recovery_codes,omitempty"`
}

const recoveryPath = "/dashboard/settings/recovery-codes"

func (d *Dashboard) recoveryPage(v *visit) (any, error) {
	left, err := d.Identity.RecoveryCodesLeft(v.r.Context(), v.user.Account)
	if err != nil {
		return nil, err
	}
	return recoveryView{left, v.shownOnce()}, nil
}

func (d *Dashboard) renewRecovery(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	codes, err := d.Identity.RenewRecoveryCodes(v.r.Context(), *v.user)
	if err != nil {
		return nil, err
	}
	return v.showCodes("", codes)
}

// showCodes leads to the page that shows new recovery codes.
func (v *visit) showCodes(done string, codes []string) (*outcome, error) {
	return v.showOnce(redirect(recoveryPath, done), func() (any, error) { return recoveryView{len(codes), codes}, nil }, codes...)
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
	for y := range size {
		for x := 0; x < size; x++ {
			if run := darkRun(code, x, y, size); run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return &qrCode{size + 2*quietZone, path.String()}, nil
}

// darkRun returns how many dark modules follow each other in a row.
func darkRun(code barcode.Barcode, x, y, size int) (run int) {
	for x+run < size && color.GrayModel.Convert(code.At(x+run, y)).(color.Gray).Y < 128 {
		run++
	}
	return run
}

// factorRoutes has the pages of how people sign in, beside password and link.
func (d *Dashboard) factorRoutes() map[string]route {
	list := map[string]route{
		"/sign-in/code":    signedIn("Your second factor", "second-factor", d.codePage, d.giveCode),
		"/sign-in/passkey": offline("Sign in with a passkey", "passkey", d.passkeyPage, d.signInWithPasskey),
		"/confirm/passkey": signedIn("Confirm with a passkey", "passkey", d.passkeyPage, d.confirmWithPasskey),

		"/dashboard/settings/totp":        signedIn("Set up an authenticator app", "totp", d.totpPage, d.setTOTP),
		"/dashboard/settings/totp/remove": signedIn("Remove the authenticator app", "totp-remove", nothing, d.removeTOTP),
		recoveryPath:                      signedIn("Recovery codes", "recovery-codes", d.recoveryPage, d.renewRecovery),

		"/dashboard/settings/passkeys":                     signedIn("Add a passkey", "passkey-add", d.passkeyAddPage, d.addPasskey),
		"/dashboard/settings/passkeys/{credential}/remove": signedIn("Remove a passkey", "passkey-remove", d.passkeyToRemove, d.removePasskey),

		provedPath: signedIn("The account is yours", "proved", d.provedPage, d.revokeBefore),
	}
	if d.SignUp {
		list["/sign-up"] = offline("Create an account", "sign-up", d.signUpPage, d.signUp)
	}
	if d.OpenID != nil {
		d.addOpenIDRoutes(list)
	}
	return list
}

func (d *Dashboard) addOpenIDRoutes(list map[string]route) {
	list["/sign-in/openid"] = public("Sign in", "openid", d.signInWithOpenID, nil)
	list["/sign-in/openid/callback"] = public("Sign in", "openid", d.openIDCallback, nil)
	list["/confirm/openid"] = signedIn("Confirm that it is you", "openid", d.openIDPage, d.confirmWithOpenID)
	list["/dashboard/settings/identities"] = signedIn("Link an identity", "openid", d.openIDPage, d.linkIdentity)
	list["/dashboard/settings/identities/remove"] = signedIn("Settings", "settings", d.settings, d.unlinkIdentity)
}
