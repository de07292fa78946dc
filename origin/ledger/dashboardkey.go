package ledger

import (
	"context"
	"time"

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The dashboard checks addresses with a key of the account, so that points, rates
// and refusals are those of every other request. Its secrets are short-lived and
// kept in memory by the replica that asked for them. The key has no audit lines:
// the service makes it, and nobody sees its secrets.

const (
	dashboardKeyName     = "Dashboard"
	dashboardSecretLife  = time.Hour
	maxDashboardSecrets  = 16 // valid at a time, one for each replica and hour
	otherDashboardSecret = maxDashboardSecrets - 1
)

// DashboardSecret returns a new secret of the account's dashboard key, and when it
// expires. It creates the key if the account has none. If the account has 16 valid
// secrets, the one that expires first is deleted. It returns ErrNoAccount if there
// is no such account.
func (l *Ledger) DashboardSecret(ctx context.Context, account int64) (secret string, expires time.Time, err error) {
	secret = NewSecret()
	var key int64
	reads := func() []store.Statement {
		key = 0
		return []store.Statement{
			lockAccount(account), // so that two replicas make one key
			{Name: "create_dashboard_key", Args: []any{account, dashboardKeyName, l.clock.now().UnixNano()}},
			{Name: "read_dashboard_key", Args: []any{account}, Scan: func(r store.Row) error { return r.Scan(&key) }},
		}
	}
	err = l.transact(ctx, reads, func(now time.Time) ([]store.Statement, error) {
		if key == 0 {
			return nil, ErrNoAccount
		}
		expires = now.Add(dashboardSecretLife).UTC()
		return []store.Statement{
			{Name: "delete_expired_secrets", Args: []any{key, now.UnixNano()}},
			{Name: "trim_secrets", Args: []any{key, otherDashboardSecret}},
			{Name: "create_secret", Args: []any{digestOf(secret).hex(), key, expires.UnixNano()}},
		}, nil
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}
