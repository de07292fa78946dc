package dashboard

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

func normalEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// settingsView is the page Settings.
type settingsView struct {
	Email       string        `json:"email"`
	Name        string        `json:"name"`
	HasPassword bool          `json:"has_password"`
	TOTP        bool          `json:"totp"`
	Recovery    int           `json:"recovery_codes"` // how many are left
	Passkeys    []passkeyItem `json:"passkeys"`
	NoPasskeys  string        `json:"no_passkeys,omitempty"` // why there can be none
	OpenID      string        `json:"openid,omitempty"`      // the provider's name
	Identities  []linkedItem  `json:"identities"`
	Sessions    []sessionView `json:"sessions"`
}

type sessionView struct {
	ID      int64     `json:"id"`
	Client  string    `json:"client"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"last_used"`
	Current bool      `json:"current"`
}

// A passkeyItem is a passkey in the list.
type passkeyItem struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"last_used,omitzero"`
}

func viewOfPasskey(p identity.Passkey) passkeyItem {
	return passkeyItem{p.ID, p.Name, p.Created, p.Used}
}

// A linkedItem is a linked identity in the list.
type linkedItem struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Created time.Time `json:"created"`
}

func (d *Dashboard) settings(v *visit) (any, error) {
	view := &settingsView{Email: v.user.Email, Name: v.user.Name, HasPassword: v.user.HasPassword, TOTP: v.user.TOTP,
		NoPasskeys: d.noPasskeys(), Passkeys: []passkeyItem{}, Identities: []linkedItem{}, Sessions: []sessionView{}}
	for _, add := range []func(*visit, *settingsView) error{d.addSessions, d.addPasskeys, d.addIdentities, d.addRecovery} {
		if err := add(v, view); err != nil {
			return nil, err
		}
	}
	return view, nil
}

func (d *Dashboard) addSessions(v *visit, view *settingsView) error {
	list, err := d.Identity.Sessions(v.r.Context(), v.user.Account)
	for _, s := range list {
		view.Sessions = append(view.Sessions, sessionView{s.ID, s.Client, s.Created, s.Seen, s.ID == v.session.ID})
	}
	return err
}

func (d *Dashboard) addPasskeys(v *visit, view *settingsView) error {
	list, err := d.Identity.ListPasskeys(v.r.Context(), v.user.Account)
	for _, p := range list {
		view.Passkeys = append(view.Passkeys, viewOfPasskey(p))
	}
	return err
}

func (d *Dashboard) addIdentities(v *visit, view *settingsView) error {
	if d.OpenID != nil {
		view.OpenID = d.OpenID.Name
	}
	list, err := d.Identity.ListLinked(v.r.Context(), v.user.Account)
	for _, l := range list {
		view.Identities = append(view.Identities, linkedItem(l))
	}
	return err
}

func (d *Dashboard) addRecovery(v *visit, view *settingsView) (err error) {
	view.Recovery, err = d.Identity.RecoveryCodesLeft(v.r.Context(), v.user.Account)
	return err
}

func (d *Dashboard) setName(v *visit) (*outcome, error) {
	return redirect("/dashboard/settings", "name-set"), d.Identity.SetName(v.r.Context(), v.user.Account, strings.TrimSpace(v.form.Get("name")))
}

// setPassword sets a password. A session that began with a one-time link is fresh,
// so it need not know the old password.
func (d *Dashboard) setPassword(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	password := v.form.Get("password")
	if again, given := v.form["again"]; given && again[0] != password {
		return nil, inputProblem("again", "The two passwords differ.")
	}
	if err := d.Identity.SetPassword(v.r.Context(), *v.user, password, *v.session); err != nil {
		return nil, err
	}
	user, err := d.Identity.User(v.r.Context(), v.user.Account)
	if err != nil {
		return nil, err
	}
	v.remember(&user) // the new password has ended the tokens of devices
	return redirect("/dashboard", "password-set"), nil
}

// endSessions ends one session, or all others if none is named.
func (d *Dashboard) endSessions(v *visit) (*outcome, error) {
	if v.form.Get("session") == "" {
		return redirect("/dashboard/settings", "sessions-ended"), d.Identity.EndSessions(v.r.Context(), v.user.Account, v.session.ID)
	}
	id, err := strconv.ParseInt(v.form.Get("session"), 10, 64)
	if err != nil {
		return nil, identity.ErrNoSession
	}
	return redirect("/dashboard/settings", "session-ended"), d.Identity.EndSession(v.r.Context(), v.user.Account, id)
}

// deleteView is the page that asks before the account is deleted.
type deleteView struct {
	Email string `json:"email"`
}

func (d *Dashboard) deletePage(v *visit) (any, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	return deleteView{v.user.Email}, nil
}

// deleteAccount deletes the account, once its email is repeated. It goes on if the
// browser leaves: the session is among the first rows that go, so nobody could ask
// for the rest.
func (d *Dashboard) deleteAccount(v *visit) (*outcome, error) {
	if err := v.confirmed(); err != nil {
		return nil, err
	}
	if normalEmail(v.form.Get("email")) != v.user.Email {
		return nil, inputProblem("email", "This is not the email of the account.")
	}
	if err := d.Ledger.DeleteAccount(context.WithoutCancel(v.r.Context()), v.user.Account); err != nil {
		return nil, err
	}
	v.clearCookie(sessionCookie)
	return redirect("/sign-in", "account-deleted"), nil
}

// auditLines is how many lines a page of the audit log has.
const auditLines = 50

// auditLogView is a page of the audit log.
type auditLogView struct {
	Lines []auditView `json:"lines"`
	Next  int64       `json:"next,omitempty"` // for ?before= of the page that follows

	Earlier bool `json:"-"` // this is not the first page
}

func (d *Dashboard) auditPage(v *visit) (any, error) {
	before, err := beforeOf(v)
	if err != nil {
		return nil, err
	}
	list, err := d.Ledger.AuditLog(v.r.Context(), v.user.Account, before, auditLines+1)
	view := auditLogView{Lines: []auditView{}, Earlier: before != 0}
	for _, line := range list[:min(len(list), auditLines)] {
		view.Lines = append(view.Lines, viewOfAudit(line))
	}
	if len(list) > auditLines {
		view.Next = list[auditLines-1].ID
	}
	return view, err
}

// auditView is a line of the audit log: for programs, and as a sentence for people.
type auditView struct {
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Action   string    `json:"action"`
	Subject  string    `json:"subject"`
	Sentence string    `json:"sentence"`
}

// Who returns who made the change.
func (a auditView) Who() string {
	if a.Actor == string(book.Shell) {
		return "command line"
	}
	return a.Actor
}

func viewOfAudit(line book.AuditLine) auditView {
	return auditView{line.At, string(line.Actor), line.Action, line.Subject, auditSentence(line.Action, line.Subject)}
}

// auditSentences say what each action of the audit log was, with %s for its subject.
var auditSentences = map[string]string{
	"account.create":  "The account was created: %s.",
	"account.change":  "The terms of the account were changed: %s.",
	"account.suspend": "The account was suspended.",
	"account.resume":  "The account was resumed.",
	"account.delete":  "The account was deleted.",

	"key.create": "The key “%s” was created.",
	"key.rename": "A key was renamed: %s.",
	"key.change": "The limits of a key were changed: %s.",
	"key.rotate": "The key “%s” got a new secret.",
	"key.revoke": "The key “%s” was revoked.",

	"policy.set":    "The policy “%s” was set.",
	"policy.delete": "The policy “%s” was deleted.",

	"user.prove":       "A one-time link proved the email, and ended what was set up to sign in with before.",
	"user.rename":      "The name of the owner was changed.",
	"user.password":    "The password was set.",
	"user.operator":    "The owner became an operator.",
	"user.no-operator": "The owner is no longer an operator.",
	"link.create":      "A one-time link was made, which signs the owner in.",

	"session.sign-in":             "A browser signed in: %s.",
	"session.sign-out":            "A browser was signed out.",
	"session.sign-out-everywhere": "All other browsers were signed out.",

	"totp.set":             "An authenticator app was set up.",
	"totp.remove":          "The authenticator app was removed.",
	"factors.reset":        "Authenticator app, recovery codes and passkeys were removed, and all browsers signed out.",
	"recovery-codes.renew": "New recovery codes were made.",
	"recovery-code.use":    "A recovery code was used.",
	"passkey.add":          "The passkey “%s” was added.",
	"passkey.remove":       "The passkey “%s” was removed.",
	"identity.link":        "An identity at %s was linked.",
	"identity.unlink":      "The identity at %s was unlinked.",

	"webhook.set":     "The webhook was set: %s.",
	"webhook.rotate":  "The webhook at %s got a new secret.",
	"webhook.remove":  "The webhook at %s was removed.",
	"webhook.disable": "The webhook was disabled: %s.",
}

// auditSentence says what an action was. One without a sentence is of a newer release
// that uses the same database.
func auditSentence(action, subject string) string {
	form, known := auditSentences[action]
	if !known {
		return strings.TrimSpace(action + " " + subject)
	}
	if strings.HasPrefix(action, "key.") {
		_, subject, _ = strings.Cut(subject, " ") // after the key's ID
	}
	return strings.Replace(form, "%s", subject, 1)
}

// beforeOf returns the line before which a page of the log begins; 0 is the newest
// page.
func beforeOf(v *visit) (int64, error) {
	text := v.r.URL.Query().Get("before")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, errNotFound
	}
	return n, nil
}
