package dashboard

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
)

// A visit is one request with who makes it.
type visit struct {
	*server
	w       http.ResponseWriter
	r       *http.Request     // its context ends after the time of a page
	whole   context.Context   // of the request, without that limit
	json    bool              // the caller wants JSON
	user    *identity.User    // nil without a session
	session *identity.Session // likewise
	token   string            // of the session, or of the form cookie
	body    []byte            // of a POST with a form
	form    url.Values        // in body

	release func() // frees what the visit holds of the limits
	kept    bool   // it is held until the response is sent
}

// knownTime is how long a page that needs no database waits to know who reads it.
const knownTime = time.Second

// enter takes a place and reads who makes the request. It refuses those who may not visit the route.
func (v *visit) enter(route route) error {
	network := v.callerNetwork(v.r)
	if route.access == byAll && v.r.Method != http.MethodPost {
		if err := v.hold(v.limits.offline, network, 1, errBusyNetwork); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(v.r.Context(), knownTime)
		defer cancel()
		if v.identify(ctx) != nil { // the page is shown as to a stranger
			v.user, v.session = nil, nil
		}
		return nil
	}
	if err := v.hold(v.limits.pages, network, 1, errBusyNetwork); err != nil {
		return err
	}
	if err := v.identify(v.r.Context()); err != nil {
		return err
	}
	switch {
	case route.access <= byPublic:
		return nil
	case v.user == nil:
		return errSignIn
	case !v.session.Complete && route.file != "second-factor":
		return errSecondFactor
	case route.access == byOperator && !v.user.Operator:
		return errNotFound
	}
	return nil
}

// identify finds the session of the request's cookie, if there is one.
func (v *visit) identify(ctx context.Context) error {
	v.token = v.cookie(sessionCookie)
	if v.token == "" {
		v.token = v.formCookie()
		return nil
	}
	session, err := v.Identity.Session(ctx, v.token)
	if errors.Is(err, identity.ErrNoSession) {
		v.clearCookie(sessionCookie)
		v.token = v.formCookie()
		return nil
	}
	if err != nil {
		return err
	}
	user, err := v.Identity.User(ctx, session.Account)
	if err != nil {
		return err
	}
	user.From = v.from()
	user.From.Session = session.ID
	user.Operator = user.Operator && !user.Suspended
	v.session, v.user = &session, &user
	return nil
}

// from returns the browser whose attempts are counted.
func (v *visit) from() identity.Caller {
	return identity.Caller{Address: v.callerAddress(v.r), Network: v.callerNetwork(v.r), Device: v.cookie(deviceCookie)}
}

// signedIn reports whether the session is complete.
func (v *visit) signedIn() bool { return v.user != nil && v.session.Complete }

// confirmed returns an error that leads to the page "Confirm that it is you", if
// the user has not proved recently who they are.
func (v *visit) confirmed() error {
	now, err := v.Ledger.Now(v.r.Context())
	if err == nil && !v.session.Fresh(now) {
		err = errConfirm
	}
	return err
}

// id returns the number in the path.
func (v *visit) id() (int64, error) {
	n, err := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, errNotFound
	}
	return n, nil
}

func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

// tokenField and tokenHeader carry the token that proves that a POST comes from
// one of our pages.
const (
	tokenField  = "form_token"
	tokenHeader = "X-Form-Token"
)

// guard refuses a POST that did not come from our own pages: by Fetch metadata or
// Origin (the Fetch standard; net/http.CrossOriginProtection), and by a token
// that only they know. It parses the form, if there is one.
func (v *visit) guard() error {
	if v.origins.Check(v.r) != nil {
		return errCrossOrigin
	}
	var err error
	if isJSON(v.r) {
		v.form, err = parseJSONForm(v.body)
	} else if v.form, err = url.ParseQuery(string(v.body)); err != nil {
		err = errForm
	}
	if err != nil {
		return err
	}
	given := v.r.Header.Get(tokenHeader)
	if given == "" {
		given = v.form.Get(tokenField)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(given), []byte(v.formToken())) == 1:
		return nil
	case !v.json && v.cookie(formCookie) == "" && v.cookie(sessionCookie) == "":
		return errNoCookie // because loading the page again would not help
	}
	return errFormToken
}

// formToken returns the token of forms, which is bound to the session or, before
// sign-in, to a cookie of its own.
func (v *visit) formToken() string {
	sum := sha256.Sum256([]byte("form token of " + v.token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// maxCommas limits the elements of a form in JSON, because an element takes 20 times its
// bytes once decoded. A policy may have 10,000 entries. url.ParseQuery has a limit of 10,000
// fields itself.
const maxCommas = 20_000

var errForm = &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST",
	sentence: "The form cannot be read: send application/x-www-form-urlencoded, or a JSON object."}

// parseJSONForm reads a form from a JSON object of strings, numbers, booleans and lists of them.
func parseJSONForm(text []byte) (url.Values, error) {
	form, fields := url.Values{}, map[string]any{}
	if len(text) == 0 {
		return form, nil
	}
	if bytes.Count(text, []byte(",")) > maxCommas || json.Unmarshal(text, &fields) != nil {
		return nil, errForm
	}
	for name, value := range fields {
		if err := addField(form, name, value); err != nil {
			return nil, err
		}
	}
	return form, nil
}

func addField(form url.Values, name string, value any) error {
	switch value := value.(type) {
	case nil:
	case string:
		form.Add(name, value)
	case float64:
		form.Add(name, strconv.FormatFloat(value, 'f', -1, 64))
	case bool:
		if value {
			form.Add(name, "on") // as a checkbox
		}
	case []any:
		for _, one := range value {
			if err := addField(form, name, one); err != nil {
				return err
			}
		}
	default:
		return inputProblem(name, "The field "+strconv.Quote(name)+" must be a string, a number, a boolean or a list of them.")
	}
	return nil
}

// Cookies, by purpose.
const (
	sessionCookie = "addrspec"        // the session's token
	formCookie    = "addrspec-form"   // binds forms of people who are not signed in
	deviceCookie  = "addrspec-device" // marks a browser in which the user has signed in
)

// cookieLife is how long a browser keeps a cookie; the session in the database may
// end earlier.
const cookieLife = 30 * 24 * time.Hour

// deviceLife is the longest time that browsers allow (RFC 6265bis section 5.5).
const deviceLife = 400 * 24 * time.Hour

// cookieName adds the prefix with which browsers insist on Secure, no Domain and
// Path=/ (RFC 6265bis section 4.1.3.2).
func (s *server) cookieName(purpose string) string {
	if s.secure() {
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

func (v *visit) clearCookie(purpose string) { v.setCookie(purpose, "", -time.Second) }

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

// returnTo returns the page given in the field or query "to" if it is one of the
// dashboard's own, and the Overview otherwise: a link must not lead people
// elsewhere after they sign in.
func (v *visit) returnTo() string {
	to := v.form.Get("to")
	if to == "" {
		to = v.r.URL.Query().Get("to")
	}
	parsed, err := url.Parse(to)
	own := err == nil && parsed.Scheme == "" && parsed.Host == "" && parsed.User == nil && !strings.ContainsAny(to, "\\\r\n\t") &&
		(parsed.Path == "/dashboard" || strings.HasPrefix(parsed.Path, "/dashboard/"))
	if !own {
		return "/dashboard"
	}
	return to
}

// callerAddress returns the network whose attempts are counted together: an IPv4
// address, or an IPv6 /64, which one subscriber has.
func (s *server) callerAddress(r *http.Request) string { return networkOf(s.caller(r), 32, 64) }

// callerNetwork returns the network in which an attacker can easily have many of them: an
// IPv4 /24, or an IPv6 /48, which one site has.
func (s *server) callerNetwork(r *http.Request) string { return networkOf(s.caller(r), 24, 48) }

func networkOf(at netip.Addr, bits, bits6 int) string {
	if at.Is6() {
		bits = bits6
	}
	network, _ := at.WithZone("").Prefix(bits)
	return network.String()
}

// caller returns the address that a request is from. X-Forwarded-For is believed as far
// as trusted proxies have written it.
func (s *server) caller(r *http.Request) netip.Addr {
	at := parseAddress(r.RemoteAddr)
	trusted := func(network netip.Prefix) bool { return network.Contains(at.WithZone("")) }
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && slices.ContainsFunc(s.TrustedProxies, trusted); i-- {
		hop := parseAddress(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		at = hop
	}
	return at
}

// parseAddress parses an address with or without a port.
func parseAddress(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap()
	}
	at, _ := netip.ParseAddr(text)
	return at.Unmap()
}
