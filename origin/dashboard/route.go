package dashboard

import (
	"maps"
	"net/http"
)

// access is who may request a page.
type access int

const (
	public   access = iota // everybody
	signedIn               // a complete session
	operator               // a complete session of a user with operator rights
)

// A route is a page: its data for GET, and what a POST to the same path does.
type route struct {
	access access
	title  string
	file   string // the template
	get    func(*visit) (any, error)
	post   func(*visit) (*outcome, error)
}

// routes has the pages by path. A page and its file share a name.
func (d *Dashboard) routes() map[string]route {
	list := map[string]route{
		"/{$}":         {public, "Facts about an email address", "front", d.frontDoor, nil},
		"/docs":        {public, "Documentation", "docs", d.documentation, nil},
		"/docs/{page}": {public, "Documentation", "docs", d.documentation, nil},

		"/sign-in":      {public, "Sign in", "sign-in", d.signInPage, d.signIn},
		"/sign-out":     {public, "Sign out", "sign-out", nothing, d.signOut},
		"/link/{token}": {public, "Sign in", "link", d.linkPage, d.useLink},

		"/dashboard":                   {signedIn, "Overview", "overview", d.overview, nil},
		"/dashboard/keys":              {signedIn, "API keys", "keys", d.keys, d.createKey},
		"/dashboard/keys/{id}":         {signedIn, "API key", "key", d.key, d.changeKey},
		"/dashboard/keys/{id}/rotate":  {signedIn, "API key", "key", d.key, d.rotateKey},
		"/dashboard/keys/{id}/revoke":  {signedIn, "Revoke a key", "key-revoke", d.key, d.revokeKey},
		"/dashboard/usage":             {signedIn, "Usage", "usage", d.usage, nil},
		"/dashboard/try":               {signedIn, "Try it", "try", d.tryPage, d.try},
		"/dashboard/lists":             {signedIn, "Lists", "lists", d.lists, nil},
		"/dashboard/settings":          {signedIn, "Settings", "settings", d.settings, nil},
		"/dashboard/settings/password": {signedIn, "Set a password", "password", nothing, d.setPassword},
		"/dashboard/settings/name":     {signedIn, "Your name", "settings", d.settings, d.setName},
		"/dashboard/settings/webhook":  {signedIn, "Webhook", "webhook", d.webhookPage, d.changeWebhook},
		"/dashboard/settings/sessions": {signedIn, "Sessions", "settings", d.settings, d.endSessions},

		"/dashboard/operator":               {operator, "Accounts", "operator-accounts", d.accounts, d.createAccount},
		"/dashboard/operator/accounts/{id}": {operator, "Account", "operator-account", d.operatorAccount, d.changeAccount},
		"/dashboard/operator/plans":         {operator, "Plans", "operator-plans", d.plans, d.putPlan},
		"/dashboard/operator/health":        {operator, "Health", "operator-health", d.health, nil},

		"/confirm": {signedIn, "Confirm that it is you", "confirm", d.confirmPage, d.confirm},
	}
	maps.Copy(list, d.factorRoutes())
	return list
}

func nothing(*visit) (any, error) { return struct{}{}, nil }

func (d *Dashboard) addRoutes() {
	d.mux.Handle("GET /assets/{release}/{name}", http.HandlerFunc(serveAsset))
	for path, r := range d.routes() {
		d.mux.Handle("GET "+path, d.page(r))
		if r.post != nil {
			d.mux.Handle("POST "+path, d.action(r))
		}
		d.mux.Handle(path, d.methodNotAllowed(r.methods()))
	}
	d.mux.Handle("POST "+checkPath, http.HandlerFunc(d.check))
	d.mux.Handle(checkPath, d.methodNotAllowed("POST"))
	d.mux.Handle("GET /dashboard/usage.csv", http.HandlerFunc(d.usageCSV))
	d.mux.Handle("/dashboard/usage.csv", d.methodNotAllowed("GET, HEAD"))
	d.mux.Handle("GET /docs/openapi.json", http.RedirectHandler("/openapi.json", http.StatusMovedPermanently))
	d.mux.Handle("/", http.HandlerFunc(d.notFound))
}

// methods returns the methods that the route answers.
func (r *route) methods() string {
	if r.post == nil {
		return "GET, HEAD"
	}
	return "GET, HEAD, POST"
}
