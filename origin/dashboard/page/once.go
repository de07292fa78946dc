package page

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"
)

// A secret that was just made, such as that of a key, is shown once, by the page to
// which the POST redirects: a page that is the response to the POST itself would make
// another secret when it is loaded again. In between the browser has the secret in a
// cookie that is encrypted under the session's token. So any replica can show it and
// none stores it, it is in no address and no log, and it is worth nothing without the
// session. The page that shows it removes the cookie.

// onceCookie begins the name of such a cookie. The address of its page ends it, so
// that secrets made in two windows do not replace each other.
const onceCookie = "addrspec-once-"

const (
	onceLife = 3 * time.Minute // for the redirect
	maxOnce  = 3 << 10         // bytes of the cookie; browsers keep 4 KiB (RFC 6265 section 6.1)
)

type once struct {
	Texts []string  `json:"texts"`
	Until time.Time `json:"until"`
}

// ShowOnce leads to a page that shows texts, once. A program that wants JSON gets the
// data instead, as the response to its POST.
func (v *Visit) ShowOnce(to *Outcome, data func() (any, error), texts ...string) (*Outcome, error) {
	if v.JSON {
		view, err := data()
		return Show(view), err
	}
	if len(texts) == 0 {
		return to, nil
	}
	text, err := json.Marshal(once{texts, time.Now().Add(onceLife)})
	if err != nil {
		return nil, err
	}
	aead, err := onceCipher(v.Token)
	if err != nil {
		return nil, err
	}
	sealed := aead.Seal(nil, nil, text, []byte(to.location))
	v.SetCookie(onceName(to.location), base64.RawURLEncoding.EncodeToString(sealed), onceLife)
	return to, nil
}

// ShownOnce returns the texts that the page has to show, and removes their cookie. It
// is nil if there are none.
func (v *Visit) ShownOnce() []string {
	address := v.Request.URL.RequestURI()
	c, err := v.Request.Cookie(v.cookieName(onceName(address)))
	if err != nil || len(c.Value) > maxOnce || v.Request.Method != http.MethodGet {
		return nil
	}
	v.ClearCookie(onceName(address))
	return unseal(v.Token, address, c.Value, time.Now())
}

func onceName(address string) string {
	sum := sha256.Sum256([]byte(address))
	return onceCookie + base64.RawURLEncoding.EncodeToString(sum[:9])
}

// unseal returns the texts of a cookie, or nil if it is not of this session and
// address, or too old. A cookie that lasts too long was sealed by a clock that was wrong.
func unseal(token, address, sealed string, now time.Time) []string {
	aead, err := onceCipher(token)
	raw, wrong := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || wrong != nil {
		return nil
	}
	var o once
	text, err := aead.Open(nil, nil, raw, []byte(address))
	if err != nil || json.Unmarshal(text, &o) != nil {
		return nil
	}
	if left := o.Until.Sub(now); left <= 0 || left > 2*onceLife {
		return nil
	}
	return o.Texts
}

// onceCipher returns AES-256-GCM under a key of its own for the session (RFC 5869).
func onceCipher(token string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "addrspec secret shown once", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
