package dashboard

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// tokenField and tokenHeader carry the token that proves that a POST comes from
// one of our pages.
const (
	tokenField  = "form_token"
	tokenHeader = "X-Form-Token"
)

// guard refuses a POST that did not come from our own pages: by Fetch metadata or
// Origin (the Fetch standard; net/http.CrossOriginProtection), and by a token
// that only they know. It reads the form.
func (d *Dashboard) guard(v *visit) error {
	if err := d.origins.Check(v.r); err != nil {
		return errCrossOrigin
	}
	if err := v.readForm(); err != nil {
		return err
	}
	given := v.r.Header.Get(tokenHeader)
	if given == "" {
		given = v.form.Get(tokenField)
	}
	return v.checkToken(given)
}

// guardHeader is guard for a POST whose body is not a form.
func (d *Dashboard) guardHeader(v *visit) error {
	if err := d.origins.Check(v.r); err != nil {
		return errCrossOrigin
	}
	return v.checkToken(v.r.Header.Get(tokenHeader))
}

func (v *visit) checkToken(given string) error {
	if subtle.ConstantTimeCompare([]byte(given), []byte(v.formToken())) != 1 {
		return errFormToken
	}
	return nil
}

// formToken returns the token of forms, which is bound to the session or, before
// sign-in, to a cookie of its own.
func (v *visit) formToken() string {
	sum := sha256.Sum256([]byte("form token of " + v.token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
