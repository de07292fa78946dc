package page

import (
	"bytes"
	"cmp"
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
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/limit"
)

// knownTime is how long a page that needs no database waits to know who reads it.
const knownTime = time.Second

// enter takes a place and reads who makes the request. It refuses those who may not visit the route.
func (v *Visit) enter(route Route) error {
	network := v.CallerNetwork(v.Request)
	if route.Access == Offline && v.Request.Method != http.MethodPost {
		if err := v.Hold(v.Limits.Offline, network, 1, ErrBusyNetwork); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(v.Context(), knownTime)
		defer cancel()
		if v.identify(ctx) != nil { // the page is shown as to a stranger
			v.User, v.Session = nil, nil
		}
		return nil
	}
	if err := v.Hold(v.Limits.Pages, network, 1, ErrBusyNetwork); err != nil {
		return err
	}
	if err := v.identify(v.Context()); err != nil {
		return err
	}
	switch {
	case route.Access <= Public:
		return nil
	case v.User == nil:
		return ErrSignIn
	case !v.Session.Complete && route.file != "second-factor":
		return ErrSecondFactor
	case route.Access == Operator && !v.User.Operator:
		return ErrNotFound
	}
	return nil
}

func (v *Visit) identify(ctx context.Context) error {
	v.Token = v.Cookie(SessionCookie)
	if v.Token == "" {
		v.Token = v.formCookie()
		return nil
	}
	session, err := v.Identity.Session(ctx, v.Token)
	if errors.Is(err, identity.ErrNoSession) {
		v.ClearCookie(SessionCookie)
		v.Token = v.formCookie()
		return nil
	}
	if err != nil {
		return err
	}
	user, err := v.Identity.User(ctx, session.Account)
	if err != nil {
		return err
	}
	user.From = v.From()
	user.From.Session = session.ID
	user.Operator = user.Operator && !user.Suspended
	v.Session, v.User = &session, &user
	return nil
}

// From returns the browser whose attempts are counted.
func (v *Visit) From() identity.Caller {
	return identity.Caller{Address: v.callerAddress(v.Request), Network: v.CallerNetwork(v.Request), Device: v.Cookie(DeviceCookie)}
}

// SignedIn reports whether the session is complete.
func (v *Visit) SignedIn() bool { return v.User != nil && v.Session.Complete }

// Confirmed returns an error that leads to the page "Confirm that it is you", if
// the user has not proved recently who they are.
func (v *Visit) Confirmed() error {
	now, err := v.Ledger.Now(v.Context())
	if err == nil && !v.Session.Fresh(now) {
		err = errConfirm
	}
	return err
}

// ID returns the number in the path.
func (v *Visit) ID() (int64, error) {
	n, err := strconv.ParseInt(v.Request.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, ErrNotFound
	}
	return n, nil
}

// Limit reads a number of a form; nil for none.
func (v *Visit) Limit(field string) (*book.Limit, error) {
	text := strings.TrimSpace(v.Form.Get(field))
	if text == "" {
		return nil, nil
	}
	limit, err := book.ParseLimit(text)
	if err != nil {
		return nil, InputProblem(field, Sentence(err))
	}
	return &limit, nil
}

// LimitField returns a limit as the field of a form.
func LimitField(l *book.Limit) string {
	if l == nil {
		return ""
	}
	return l.String()
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

// Guard refuses a POST that did not come from our own pages: by Fetch metadata or
// Origin (the Fetch standard; net/http.CrossOriginProtection), and by a token
// that only they know. It parses the form, if there is one.
func (v *Visit) Guard() error {
	if v.origins.Check(v.Request) != nil {
		return errCrossOrigin
	}
	var err error
	if isJSON(v.Request) {
		v.Form, err = parseJSONForm(v.body)
	} else if v.Form, err = url.ParseQuery(string(v.body)); err != nil {
		err = errForm
	}
	if err != nil {
		return err
	}
	given := cmp.Or(v.Request.Header.Get(tokenHeader), v.Form.Get(tokenField))
	switch {
	case subtle.ConstantTimeCompare([]byte(given), []byte(v.formToken())) == 1:
		return nil
	case !v.JSON && v.Cookie(FormCookie) == "" && v.Cookie(SessionCookie) == "":
		return errNoCookie // because loading the page again would not help
	}
	return errFormToken
}

// formToken returns the token of forms, which is bound to the session or, before
// sign-in, to a cookie of its own.
func (v *Visit) formToken() string {
	sum := sha256.Sum256([]byte("form token of " + v.Token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// maxCommas limits the elements of a form in JSON, because an element takes 20 times its
// bytes once decoded. A policy may have 10,000 entries. url.ParseQuery has a limit of 10,000
// fields itself.
const maxCommas = 20_000

var errForm = &Problem{Status: http.StatusBadRequest, Code: "INVALID_REQUEST",
	Sentence: "The form cannot be read: send application/x-www-form-urlencoded, or a JSON object."}

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
		return InputProblem(name, "The field "+strconv.Quote(name)+" must be a string, a number, a boolean or a list of them.")
	}
	return nil
}

// Cookies, by purpose.
const (
	SessionCookie = "addrspec"        // the session's token
	FormCookie    = "addrspec-form"   // binds forms of people who are not signed in
	DeviceCookie  = "addrspec-device" // marks a browser in which the user has signed in
)

// CookieLife is how long a browser keeps a cookie; the session in the database may
// end earlier.
const CookieLife = 30 * 24 * time.Hour

// DeviceLife is the longest time that browsers allow (RFC 6265bis section 5.5).
const DeviceLife = 400 * 24 * time.Hour

// cookieName adds the prefix with which browsers insist on Secure, no Domain and
// Path=/ (RFC 6265bis section 4.1.3.2).
func (s *Server) cookieName(purpose string) string {
	if s.secure() {
		return "__Host-" + purpose
	}
	return purpose
}

func (v *Visit) Cookie(purpose string) string {
	c, err := v.Request.Cookie(v.cookieName(purpose))
	if err != nil || len(c.Value) > 128 {
		return ""
	}
	return c.Value
}

// SetCookie sets a cookie that scripts cannot read and other sites cannot send
// with a POST.
func (v *Visit) SetCookie(purpose, value string, life time.Duration) {
	http.SetCookie(v.Writer, &http.Cookie{Name: v.cookieName(purpose), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HttpOnly: true, Secure: v.secure(), SameSite: http.SameSiteLaxMode})
}

func (v *Visit) ClearCookie(purpose string) { v.SetCookie(purpose, "", -time.Second) }

// formCookie returns the value that forms are bound to without a session. It sets
// the cookie if there is none.
func (v *Visit) formCookie() string {
	value := v.Cookie(FormCookie)
	if value == "" {
		value = rand.Text()
		v.SetCookie(FormCookie, value, CookieLife)
	}
	return value
}

// ReturnTo returns the page given in the field or query "to" if it is one of the
// dashboard's own, and the Overview otherwise: a link must not lead people
// elsewhere after they sign in.
func (v *Visit) ReturnTo() string {
	to := cmp.Or(v.Form.Get("to"), v.Request.URL.Query().Get("to"))
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
func (s *Server) callerAddress(r *http.Request) string { return networkOf(s.caller(r), 32, 64) }

// CallerNetwork returns the network in which an attacker can easily have many of them: an
// IPv4 /24, or an IPv6 /48, which one site has.
func (s *Server) CallerNetwork(r *http.Request) string { return networkOf(s.caller(r), 24, 48) }

func networkOf(at netip.Addr, bits, bits6 int) string {
	if at.Is6() {
		bits = bits6
	}
	network, _ := at.WithZone("").Prefix(bits)
	return network.String()
}

// caller returns the address that a request is from. X-Forwarded-For is believed as far
// as trusted proxies have written it.
func (s *Server) caller(r *http.Request) netip.Addr {
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

func parseAddress(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap()
	}
	at, _ := netip.ParseAddr(text)
	return at.Unmap()
}

// Hold takes units in place of those that the visit holds.
func (v *Visit) Hold(from *limit.Limiter[string], owner string, n int, crowded *Problem) error {
	free, err := take(v.Context(), from, owner, n, crowded)
	if err == nil {
		v.release()
		v.release = free
	}
	return err
}

// Account names the visit's account among owners.
func (v *Visit) Account() string { return strconv.FormatInt(v.User.Account, 10) }

// Keep keeps what the visit holds, and the connection, until the response is sent. It is for what an
// account has paid for.
func (v *Visit) Keep() {
	v.kept = true
	if w, ok := v.Writer.(interface{ KeepConnection() }); ok { // the API's, see its servePage
		w.KeepConnection()
	}
}

// InTurn calls work while few others use a processor.
func (v *Visit) InTurn(ctx context.Context, work func() error) error {
	if v.Limits.Processors.Take(ctx, v.CallerNetwork(v.Request), 1) != nil {
		return errBusy
	}
	defer v.Limits.Processors.Free(v.CallerNetwork(v.Request), 1)
	return work()
}
