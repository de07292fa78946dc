package dashboard

import (
	"crypto/rand"
	"net/http"
	"time"
)

// Cookies, by purpose.
const (
	sessionCookie = "addrspec"      // the session's token
	formCookie    = "addrspec-form" // binds forms of people who are not signed in
)

// cookieLife is how long a browser keeps a cookie; the session in the database may
// end earlier.
const cookieLife = 30 * 24 * time.Hour

// cookieName adds the prefix with which browsers insist on Secure, no Domain and
// Path=/ (RFC 6265bis section 4.1.3.2).
func (d *Dashboard) cookieName(purpose string) string {
	if d.secure() {
		return "__Host-" + purpose
	}
	return purpose
}

func (v *visit) cookie(purpose string) string {
	c, err := v.r.Cookie(v.cookieName(purpose))
	if err != nil || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}

// setCookie sets a cookie that scripts cannot read and other sites cannot send
// with a POST.
func (v *visit) setCookie(purpose, value string, life time.Duration) {
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(purpose), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode})
}

func (v *visit) clearCookie(purpose string) {
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(purpose), Path: "/", MaxAge: -1,
		HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode})
}

// formCookie returns the value that forms are bound to without a session. It sets
// the cookie if there is none.
func (v *visit) formCookie() string {
	value := v.cookie(formCookie)
	if value == "" {
		value = rand.Text()
		v.setCookie(formCookie, value, cookieLife)
	}
	return value
}
