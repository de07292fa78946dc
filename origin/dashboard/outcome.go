package dashboard

import (
	"net/http"
	"strings"
)

// An outcome is what a POST leads to: another page with a message, or, if data is
// not nil, the route's own page, once.
type outcome struct {
	location string
	done     string // a message of the table messages
	data     any
}

// redirect leads to another page, with a message there.
func redirect(location, done string) *outcome { return &outcome{location: location, done: done} }

// show renders data in the route's page. It is for what is shown only once, such
// as a new secret.
func show(data any) *outcome { return &outcome{data: data} }

func (a *outcome) send(v *visit, route route) {
	switch {
	case a.data != nil:
		v.render(http.StatusOK, route, a.data, nil)
	case v.json:
		v.renderJSON(http.StatusOK, struct {
			Done     string `json:"done"`
			Location string `json:"location"`
		}{messages[a.done], a.to()})
	default:
		v.w.Header().Set("Cache-Control", "no-store")
		http.Redirect(v.w, v.r, a.to(), http.StatusSeeOther)
	}
}

// to returns the location, which names the message.
func (a *outcome) to() string {
	switch {
	case a.done == "":
		return a.location
	case strings.Contains(a.location, "?"):
		return a.location + "&done=" + a.done
	}
	return a.location + "?done=" + a.done
}

// messages has what a page says after an action. The address of the page names
// the message, so nobody can put words on our pages with a link.
var messages = map[string]string{
	"key-changed":       "The key is changed. Its next request follows the new terms.",
	"key-revoked":       "The key is revoked. Requests with it are refused from now on.",
	"webhook-removed":   "The webhook is removed. Messages that waited are not sent.",
	"account-created":   "The account is created. Make a one-time link for its owner.",
	"account-changed":   "The terms are changed. They apply from the next request.",
	"account-suspended": "The account is suspended. Its requests are refused from now on.",
	"account-resumed":   "The account is resumed. Its keys are valid again.",
	"account-reset":     "The account is back in the current month.",
	"plan-stored":       "The plan is stored. It applies from the next request of its accounts.",
	"password-set":      "The password is set. Other browsers are signed out.",
	"name-set":          "Your name is changed.",
	"session-ended":     "That browser is signed out.",
	"sessions-ended":    "All other browsers are signed out.",
	"signed-out":        "You are signed out.",
	"confirmed":         "Thank you.",

	"totp-removed":      "The authenticator app and the recovery codes are removed.",
	"passkey-added":     "The passkey is ready. You can sign in with it from now on.",
	"passkey-removed":   "The passkey is removed. Delete it on the device as well.",
	"identity-linked":   "The identity is linked. You can sign in with it from now on.",
	"account-deleted":   "The account is deleted.",
	"identity-unlinked": "The identity is unlinked.",
}
