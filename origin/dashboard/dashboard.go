// Package dashboard serves the pages that people see: the front door, the
// reference, and the account dashboard. It is a client of the rest: it checks
// addresses by calling the API's handler as the account (api.As), so points,
// rates and refusals are the API's own, and serve --dashboard=off leaves it out.
//
// # Pages and the JSON API
//
// A page is a path with a function that returns its data. A browser
// gets the data in a template; a request with "Accept: application/json" gets it
// as JSON. A form is a POST; a JSON body with the same fields does the same. So
// whatever a person can do here, a program can, behind the same session rules.
//
// # What protects it
//
// Each request passes the steps of page/serve.go: its form is read, it takes a place among the requests in
// progress, then session, rights, the cross-origin guard and the form's token are checked. Pages need no
// inline script or style, and the Content-Security-Policy allows none. Templates escape by context
// (html/template). Nothing about an account is found by an ID alone: every query names the session's account
// as well. Pages are rendered to memory first, so an error never follows half a page.
//
// A POST that makes something redirects, so that loading the page again makes nothing;
// page/once.go has how a new secret gets to the page that shows it. A form whose input is
// refused comes back with what was entered.
//
// # Lists
//
// The page Lists reads a file in the browser and sends only its addresses, through
// checkPath, where POST /v1/emails responds. Of its scripts in assets, list-file.js reads files with Papa
// Parse and writes the layout of package check; package browser tests it.
package dashboard

import (
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/dashboard/account"
	"github.com/addrspec/addrspec/origin/dashboard/docs"
	"github.com/addrspec/addrspec/origin/dashboard/operator"
	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/dashboard/person"
)

// Config configures a Dashboard.
type Config = page.Config

// Health is the state of one part of the service.
type Health = page.Health

// OpenIDCallback is the path to which an OpenID provider sends people back.
const OpenIDCallback = person.OpenIDCallback

// A Dashboard is the handler of the pages. It is safe for concurrent use.
type Dashboard struct {
	*page.Server
	docs func() *docs.Site // read when first shown
}

// New returns a Dashboard.
func New(c Config) (*Dashboard, error) {
	s, err := page.New(c, templates, messages)
	if err != nil {
		return nil, err
	}
	d := &Dashboard{s, sync.OnceValue(func() *docs.Site { return docs.New(c.PublicURL.String()) })}
	for path, r := range d.routes() {
		form := int64(page.MaxForm)
		if strings.HasPrefix(path, account.PoliciesPath) {
			form = account.MaxDocument
		}
		post := r.Post
		if post != nil && r.Access > page.Public && !remaining[path] {
			r.Post = func(v *page.Visit) (*page.Outcome, error) {
				if v.User.Suspended {
					return nil, page.ErrSuspended
				}
				return post(v)
			}
		}
		d.Add(path, r, form)
	}
	d.Mux.HandleFunc("GET /assets/{release}/{name}", serveAsset)
	d.Mux.HandleFunc("POST "+account.CheckPath, d.Handler(page.SignedIn.Page("", "", nil, nil), 0, account.Check))
	d.Mux.HandleFunc(account.CheckPath, d.MethodNotAllowed("POST"))
	d.Mux.Handle("GET /docs/openapi.json", http.RedirectHandler("/openapi.json", http.StatusMovedPermanently))
	return d, nil
}

// frontExample is a result that the front door shows, as the API gives it: it always looks
// MX up, and the domain has an exchange.
//
//go:embed example.json
var frontExample string

const exampleAddress = "jane.doe+news@hotmial.com" // of frontExample

// A frontView is the front door, which shows what addrspec is. The check that it offers runs in the browser.
type frontView struct {
	Address string          `json:"address"`
	Result  json.RawMessage `json:"result"` // of Address
	URL     string          `json:"url"`
	Source  string          `json:"source,omitempty"`
}

// routes has the pages by path. A page and its file share a name.
func (d *Dashboard) routes() map[string]page.Route {
	frontDoor := func(v *page.Visit) (any, error) {
		return frontView{exampleAddress, json.RawMessage(frontExample), v.Link("/v1/email/" + exampleAddress), v.SourceURL}, nil
	}
	documentation := func(v *page.Visit) (any, error) {
		path, asMarkdown := strings.CutSuffix(v.Request.URL.Path, docs.MarkdownEnding)
		found := d.docs().Page(path)
		switch {
		case found == nil || asMarkdown && found.Markdown == "":
			return nil, page.ErrNotFound
		case asMarkdown:
			return &page.Outcome{Text: found.Markdown, TextType: "text/markdown; charset=utf-8"}, nil
		}
		return found, nil
	}
	forAssistants := func(*page.Visit) (any, error) {
		return &page.Outcome{Text: d.docs().LLMs(), TextType: "text/plain; charset=utf-8"}, nil
	}
	list := map[string]page.Route{
		"/{$}":         page.Offline.Page("Facts about an email address", "front", frontDoor, nil),
		"/docs":        page.Offline.Page("Documentation", "docs", documentation, nil),
		"/docs/{page}": page.Offline.Page("Documentation", "docs", documentation, nil),
		"/llms.txt":    page.Offline.Page("Documentation", "docs", forAssistants, nil),
	}
	for _, more := range []map[string]page.Route{account.Routes(), operator.Routes(), person.Routes(d.Server)} {
		maps.Copy(list, more)
	}
	return list
}

// remaining are the forms that the owner of a suspended account may send, with the public
// ones: those that protect the person, who may be the victim of what the account is
// suspended for. No other one uses or changes anything.
var remaining = map[string]bool{
	"/sign-in/code": true, "/confirm": true, "/confirm/passkey": true, "/confirm/openid": true,
	"/dashboard/keys/{id}/revoke":                      true,
	"/dashboard/settings/sessions":                     true,
	"/dashboard/settings/password":                     true,
	"/dashboard/settings/totp":                         true,
	"/dashboard/settings/totp/remove":                  true,
	"/dashboard/settings/recovery-codes":               true,
	"/dashboard/settings/passkeys/{credential}/remove": true,
	"/dashboard/settings/identities/remove":            true,
	person.ProvedPath:                                  true,
}

//go:embed templates
var templateFiles embed.FS

var templates = sync.OnceValue(func() map[string]*template.Template {
	return page.ParseTemplates(templateFiles, pageFunctions)
})

// pageFunctions are what the templates of single pages call.
var pageFunctions = template.FuncMap{
	"asset":       assetPath,
	"starts":      docs.Policies,
	"lookups":     func() []account.Grace { return account.SupposedLookups },
	"barsPath":    account.BarsPath,
	"requests":    account.RequestsOf,
	"more":        func(keys []account.KeyName) string { return strconv.Itoa(len(keys)-3) + " more" },
	"passkeyForm": person.NewPasskeyForm,
}

// messages has what a page says after an action. The address of the page names
// the message, so nobody can put words on our pages with a link.
var messages = map[string]string{
	"key-changed":       "The key is changed. Its next request follows the new terms.",
	"key-revoked":       "The key is revoked. Requests with it are refused from now on.",
	"policy-created":    "The policy is created. A key can have it by default, and requests can name it.",
	"policy-changed":    "The policy is saved. It decides from the next request.",
	"policy-deleted":    "The policy is deleted.",
	"webhook-removed":   "The webhook is removed. Messages that waited are not sent.",
	"account-created":   "The account is created. Make a one-time link for its owner.",
	"account-changed":   "The terms are changed. They apply from the next request.",
	"account-suspended": "The account is suspended. Its requests are refused from now on.",
	"account-resumed":   "The account is resumed. Its keys are valid again.",
	"plan-stored":       "The plan is stored. It applies from the next request of its accounts.",
	"password-set":      "The password is set. Other browsers are signed out.",
	"before-revoked":    "The keys and the webhook from before are revoked. Set a password now.",
	"name-set":          "Your name is changed.",
	"session-ended":     "That browser is signed out.",
	"sessions-ended":    "All other browsers are signed out.",
	"signed-out":        "You are signed out.",
	"confirmed":         "Thank you.",

	"totp-set": "The authenticator app is set up. From now on you are asked for its code after your password. " +
		"Other browsers are signed out.",
	"totp-removed":      "The authenticator app and the recovery codes are removed. Other browsers are signed out.",
	"passkey-added":     "The passkey is ready. You can sign in with it from now on.",
	"passkey-removed":   "The passkey is removed. Delete it on the device as well. Other browsers are signed out.",
	"identity-linked":   "The identity is linked. You can sign in with it from now on.",
	"account-deleted":   "The account is deleted.",
	"identity-unlinked": "The identity is unlinked. Other browsers are signed out.",
}
