package account

import (
	"strconv"
	"strings"

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/ledger/book"
)

const auditLines = 50 // of a page

// AuditLogView is a page of the audit log.
type AuditLogView struct {
	Lines []AuditView `json:"lines"`
	Next  int64       `json:"next,omitempty"` // for ?before= of the page that follows

	Earlier bool `json:"-"` // this is not the first page
}

func auditPage(v *page.Visit) (any, error) {
	before := int64(0) // the line before which the page begins; 0 is the newest page
	if text := v.Request.URL.Query().Get("before"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			return nil, page.ErrNotFound
		}
		before = n
	}
	list, err := v.Ledger.AuditLog(v.Context(), v.User.Account, before, auditLines+1)
	view := AuditLogView{Lines: []AuditView{}, Earlier: before != 0}
	for _, line := range list[:min(len(list), auditLines)] {
		view.Lines = append(view.Lines, ViewOfAudit(line))
	}
	if len(list) > auditLines {
		view.Next = list[auditLines-1].ID
	}
	return view, err
}

// AuditView is a line of the audit log: for programs, and as a sentence for people.
type AuditView struct {
	book.AuditLine
	Sentence string `json:"sentence"`
}

// Who returns who made the change.
func (a AuditView) Who() string {
	if a.Actor == book.Shell {
		return "command line"
	}
	return string(a.Actor)
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

// ViewOfAudit says what an action was. An action without a sentence is of a newer release that uses the
// same database.
func ViewOfAudit(line book.AuditLine) AuditView {
	subject, form := line.Subject, auditSentences[line.Action]
	if strings.HasPrefix(line.Action, "key.") {
		_, subject, _ = strings.Cut(subject, " ") // after the key's ID
	}
	text := strings.Replace(form, "%s", subject, 1)
	if form == "" {
		text = strings.TrimSpace(line.Action + " " + line.Subject)
	}
	return AuditView{line, text}
}
