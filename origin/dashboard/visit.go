package dashboard

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

// A visit is one request with who makes it.
type visit struct {
	*Dashboard
	w       http.ResponseWriter
	r       *http.Request
	json    bool              // the caller wants JSON
	user    *identity.User    // nil without a session
	session *identity.Session // likewise
	token   string            // of the session, or of the form cookie
	form    url.Values        // of a POST

	hasPolicySlot bool
}

// visit reads who makes a request, and refuses it if they may not.
func (d *Dashboard) visit(w http.ResponseWriter, r *http.Request, route route) (*visit, error) {
	v := &visit{Dashboard: d, w: w, r: r, json: wantsJSON(r)}
	if err := v.identifyFor(route); err != nil {
		return v, err
	}
	v.r = r.WithContext(book.WithActor(r.Context(), route.access.actor()))
	switch {
	case route.access <= public:
		return v, nil
	case v.user == nil:
		return v, errSignIn
	case !v.session.Complete && !route.incomplete():
		return v, errSecondFactor
	case route.access == operator && !v.user.Operator:
		return v, errNotFound
	}
	return v, nil
}

// actor returns who changes something, for the audit log.
func (a access) actor() book.Actor {
	if a == operator {
		return book.Operator
	}
	return book.Owner
}

// incomplete reports whether the page serves a session whose second factor is
// missing.
func (r route) incomplete() bool { return r.file == "second-factor" }

// knownTime is how long a page that needs no database waits to know who reads it.
const knownTime = time.Second

// identifyFor finds who makes the request. A page that needs no database is shown as
// to a stranger if that cannot be found out.
func (v *visit) identifyFor(route route) error {
	if !route.standsAlone(v.r.Method) {
		return v.identify(v.r.Context())
	}
	v.identifyBriefly()
	return nil
}

// identifyBriefly finds who makes the request if that is soon known.
func (v *visit) identifyBriefly() {
	ctx, cancel := context.WithTimeout(v.r.Context(), knownTime)
	defer cancel()
	if v.identify(ctx) != nil {
		v.user, v.session = nil, nil
	}
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
	user.Device = v.cookie(deviceCookie)
	user.Operator = user.Operator && !user.Suspended
	v.session, v.user = &session, &user
	return nil
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

// wantsJSON reports whether a request prefers JSON to HTML.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") || isJSON(r) && !strings.Contains(accept, "text/html")
}

func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

// readForm reads the fields of a POST, from a form or from a JSON object of
// strings, numbers, booleans and lists of strings.
func (v *visit) readForm() error {
	limit := formLimit(v.r)
	if limit > maxForm {
		if err := v.takePolicySlot(); err != nil { // before the form takes memory
			return err
		}
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, limit)
	if !isJSON(v.r) {
		if err := v.r.ParseForm(); err != nil {
			return badForm(err)
		}
		v.form = v.r.PostForm
		return nil
	}
	text, err := io.ReadAll(v.r.Body)
	if err != nil {
		return badForm(err)
	}
	v.form, err = parseJSONForm(text)
	return err
}

// maxCommas limits the elements of a form in JSON, because an element takes 20 times its
// bytes once decoded. A policy may have 10,000 entries. url.ParseQuery has a limit of 10,000
// fields itself.
const maxCommas = 20_000

func parseJSONForm(text []byte) (url.Values, error) {
	form := url.Values{}
	if len(text) == 0 {
		return form, nil
	}
	if bytes.Count(text, []byte(",")) > maxCommas {
		return nil, badForm(errors.New("too many elements"))
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, badForm(err)
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

func badForm(err error) error {
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &problem{status: http.StatusRequestEntityTooLarge, code: "BODY_TOO_LARGE", sentence: "The form is larger than " + strconv.FormatInt(over.Limit>>10, 10) + " KiB."}
	}
	return &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form cannot be read: send application/x-www-form-urlencoded, or a JSON object."}
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

// clientName describes a browser from its User-Agent, for the list of sessions.
// The string itself is not stored: it is long, and anybody can write it.
func clientName(userAgent string) string {
	browser := firstOf(userAgent, "an unknown program", []string{
		"Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "FxiOS/", "Firefox", "Chrome/", "Chrome", "CriOS/", "Chrome", "Safari/", "Safari", "curl/", "curl"})
	system := firstOf(userAgent, "", []string{
		"iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows", "Mac OS X", "macOS", "CrOS", "ChromeOS", "Linux", "Linux"})
	if system == "" {
		return browser
	}
	return browser + " on " + system
}

// firstOf returns the name after the first part that text contains.
func firstOf(text, otherwise string, partsAndNames []string) string {
	for i := 0; i < len(partsAndNames); i += 2 {
		if strings.Contains(text, partsAndNames[i]) {
			return partsAndNames[i+1]
		}
	}
	return otherwise
}

// callerAddress returns the network whose attempts are counted together: an IPv4
// address, or an IPv6 /64, which one subscriber has.
func (d *Dashboard) callerAddress(r *http.Request) string { return networkOf(d.caller(r), 32) }

// callerNetwork is callerAddress with an IPv4 /24, in which an attacker can easily have
// many addresses.
func (d *Dashboard) callerNetwork(r *http.Request) string { return networkOf(d.caller(r), 24) }

func networkOf(at netip.Addr, bits int) string {
	if at.Is6() {
		bits = 64
	}
	network, _ := at.WithZone("").Prefix(bits)
	return network.String()
}

// caller returns the address that a request is from. X-Forwarded-For is believed as far
// as trusted proxies have written it.
func (d *Dashboard) caller(r *http.Request) netip.Addr {
	at := parseAddress(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && d.trusts(at); i-- {
		hop := parseAddress(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			break
		}
		at = hop
	}
	return at
}

func (d *Dashboard) trusts(at netip.Addr) bool {
	for _, network := range d.TrustedProxies {
		if at.IsValid() && network.Contains(at.WithZone("")) {
			return true
		}
	}
	return false
}

// parseAddress parses an address with or without a port.
func parseAddress(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap()
	}
	at, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return at.Unmap()
}
