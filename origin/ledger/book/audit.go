package book

import (
	"cmp"
	"context"
	"math"
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

// maxAudit is how many lines of each action an account keeps. One limit for all actions
// together would let the thief of a session remove every trace of it by renaming a key
// often. There are about 30 actions.
const maxAudit = 100

// Audit returns writes with the statements that record them in the account's audit log, in the
// same transaction. action is a noun and a verb, such as "key.create"; subject says what was
// changed, and is never a secret.
func Audit(ctx context.Context, account int64, now time.Time, action, subject string, writes ...store.Statement) []store.Statement {
	return append(writes,
		statement("add_audit", account, now.UnixNano(), string(actorOf(ctx)), action, subject),
		statement("trim_audit", account, action, maxAudit))
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
func (b *Book) AuditLog(ctx context.Context, account, before int64, limit int) ([]AuditLine, error) {
	args := []any{account, cmp.Or(before, math.MaxInt64), limit}
	return list(ctx, b.query, "list_audit", args, func(line *AuditLine) []any {
		return []any{&line.ID, unixTime{&line.At}, &line.Actor, &line.Action, &line.Subject}
	})
}
