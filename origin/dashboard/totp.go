package dashboard

import (
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
)

// totpView is the page that sets up an authenticator app.
type totpView struct {
	Secret string  `json:"secret,omitempty"`
	URL    string  `json:"url,omitempty"`
	QR     *qrCode `json:"-"`
	// Recovery are the recovery codes, which are shown only this once.
	Recovery []string `json:"recovery_codes,omitempty"`
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
	secret := v.form.Get("secret")
	url, err := identity.TOTPURL(v.user.Email, secret)
	if err != nil {
		if secret, url, err = identity.NewTOTP(v.user.Email); err != nil {
			return nil, err
		}
	}
	qr, err := newQRCode(url)
	return totpView{Secret: secret, URL: url, QR: qr}, err
}

// setTOTP shows the recovery codes as the answer to the POST itself, as createKey
// shows a secret.
func (d *Dashboard) setTOTP(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	codes, err := d.Identity.SetTOTP(v.r.Context(), *v.user, v.form.Get("secret"), v.form.Get("code"))
	if err != nil {
		return nil, err
	}
	return show(totpView{Recovery: codes}), nil
}

func (d *Dashboard) removeTOTP(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return redirect("/dashboard/settings", "totp-removed"), d.Identity.RemoveTOTP(v.r.Context(), v.user.Account)
}

// recoveryView is the page of recovery codes.
type recoveryView struct {
	Left  int      `json:"left"`
	Codes []string `json:"recovery_codes,omitempty"`
}

func (d *Dashboard) recoveryPage(v *visit) (any, error) {
	left, err := d.Identity.RecoveryCodesLeft(v.r.Context(), v.user.Account)
	return recoveryView{Left: left}, err
}

func (d *Dashboard) renewRecovery(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	codes, err := d.Identity.RenewRecoveryCodes(v.r.Context(), *v.user)
	if err != nil {
		return nil, err
	}
	return show(recoveryView{len(codes), codes}), nil
}
