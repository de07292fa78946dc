package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
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
}

// visit reads who makes a request, and refuses it if they may not.
func (d *Dashboard) visit(w http.ResponseWriter, r *http.Request, route route) (*visit, error) {
	v := &visit{Dashboard: d, w: w, r: r, json: wantsJSON(r)}
	if err := v.identify(); err != nil {
		return v, err
	}
	v.r = r.WithContext(ledger.WithActor(r.Context(), route.access.actor()))
	switch {
	case route.access == public:
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
func (a access) actor() ledger.Actor {
	if a == operator {
		return ledger.Operator
	}
	return ledger.Owner
}

// incomplete reports whether the page serves a session whose second factor is
// missing.
func (r route) incomplete() bool { return r.file == "second-factor" }

// identify finds the session of the request's cookie, if there is one.
func (v *visit) identify() error {
	token := v.cookie(sessionCookie)
	if token == "" {
		v.token = v.formCookie()
		return nil
	}
	session, err := v.Identity.Session(v.r.Context(), token)
	if errors.Is(err, identity.ErrNoSession) {
		v.clearCookie(sessionCookie)
		v.token = v.formCookie()
		return nil
	}
	if err != nil {
		return err
	}
	user, err := v.Identity.User(v.r.Context(), session.Account)
	if err != nil {
		return err
	}
	v.session, v.user, v.token = &session, &user, token
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
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
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

func parseJSONForm(text []byte) (url.Values, error) {
	form := url.Values{}
	if len(text) == 0 {
		return form, nil
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
	if errors.As(err, new(*http.MaxBytesError)) {
		return &problem{status: http.StatusRequestEntityTooLarge, code: "BODY_TOO_LARGE", sentence: "The form is larger than 64 KiB."}
	}
	return &problem{status: http.StatusBadRequest, code: "INVALID_REQUEST", sentence: "The form cannot be read: send application/x-www-form-urlencoded, or a JSON object."}
}
