package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
)

func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// settingsView is the page Settings.
type settingsView struct {
	Email       string        `json:"email"`
	Name        string        `json:"name"`
	HasPassword bool          `json:"has_password"`
	Sessions    []sessionView `json:"sessions"`
}

type sessionView struct {
	ID      int64     `json:"id"`
	Client  string    `json:"client"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"last_used"`
	Current bool      `json:"current"`
}

func (d *Dashboard) settings(v *visit) (any, error) {
	list, err := d.Identity.Sessions(v.r.Context(), v.user.Account)
	view := settingsView{Email: v.user.Email, Name: v.user.Name, HasPassword: v.user.HasPassword}
	for _, s := range list {
		view.Sessions = append(view.Sessions, sessionView{s.ID, s.Client, s.Created, s.Seen, s.ID == v.session.ID})
	}
	return view, err
}

func (d *Dashboard) setName(v *visit) (*result, error) {
	return redirect("/dashboard/settings", "name-set"), d.Identity.SetName(v.r.Context(), v.user.Account, strings.TrimSpace(v.form.Get("name")))
}

// setPassword sets a password. A session that began with a one-time link is fresh,
// so it need not know the old password.
func (d *Dashboard) setPassword(v *visit) (*result, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	password := v.form.Get("password")
	if again, given := v.form["again"]; given && again[0] != password {
		return nil, inputProblem("again", "The two passwords differ.")
	}
	return redirect("/dashboard", "password-set"), d.Identity.SetPassword(v.r.Context(), *v.user, password, *v.session)
}

// endSessions ends one session, or all others if none is named.
func (d *Dashboard) endSessions(v *visit) (*result, error) {
	if v.form.Get("session") == "" {
		return redirect("/dashboard/settings", "sessions-ended"), d.Identity.EndSessions(v.r.Context(), v.user.Account, v.session.ID)
	}
	id, err := strconv.ParseInt(v.form.Get("session"), 10, 64)
	if err != nil {
		return nil, identity.ErrNoSession
	}
	return redirect("/dashboard/settings", "session-ended"), d.Identity.EndSession(v.r.Context(), v.user.Account, id)
}
