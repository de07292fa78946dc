package ledger

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// An Actor is who makes a change, as the audit log records it.
type Actor string

// The actors.
const (
	Owner    Actor = "owner"    // the person who signed in to the account
	Operator Actor = "operator" // a person with operator rights
	Shell    Actor = "shell"    // the command line
	Service  Actor = "service"  // the service itself, such as when it disables a webhook
)

type actorKey struct{}

// WithActor returns a context for changes that actor makes. Without it, changes
// are the shell's.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

func actorOf(ctx context.Context) Actor {
	if actor, ok := ctx.Value(actorKey{}).(Actor); ok {
		return actor
	}
	return Shell
}

// maxAudit is how many lines of the audit log an account keeps.
const maxAudit = 1000

// Audit returns the statements that record a change in the account's audit log.
// They belong to the transaction that makes the change. action is a noun and a
// verb, such as "key.create"; subject says what was changed, and is never a
// secret.
func Audit(ctx context.Context, account int64, now time.Time, action, subject string) []store.Statement {
	return []store.Statement{
		{Name: "add_audit", Args: []any{account, now.UnixNano(), string(actorOf(ctx)), action, subject}},
		{Name: "trim_audit", Args: []any{account, maxAudit}},
	}
}

// An AuditLine is one change of an account.
type AuditLine struct {
	ID      int64
	At      time.Time
	Actor   Actor
	Action  string
	Subject string
}

// AuditLog returns up to limit lines of an account's audit log, newest first,
// from before the line with the ID before; 0 is from the newest.
func (l *Ledger) AuditLog(ctx context.Context, account, before int64, limit int) ([]AuditLine, error) {
	if before == 0 {
		before = 1<<63 - 1
	}
	var list []AuditLine
	err := l.query(ctx, store.Statement{Name: "list_audit", Args: []any{account, before, limit}, Scan: func(r store.Row) error {
		var line AuditLine
		var at int64
		err := r.Scan(&line.ID, &at, &line.Actor, &line.Action, &line.Subject)
		line.At = timeOf(at)
		list = append(list, line)
		return err
	}})
	return list, err
}
