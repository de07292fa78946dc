package identity

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strconv"
	"strings"
	"time"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// Recovery codes replace the authenticator app when it is lost, each once. They
// have 80 random bits, so that a thief of the database cannot try all of them
// against the SHA-256 that is stored.
const (
	recoveryCodes = 10
	recoveryBytes = 10
)

func newRecoveryCodes() []string {
	list := make([]string, recoveryCodes)
	for n := range list {
		var random [recoveryBytes]byte
		rand.Read(random[:]) // never fails, see crypto/rand
		text := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
		list[n] = text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
	}
	return list
}

// hashOfRecoveryCode ignores what people change when they type: spaces, hyphens,
// upper case.
func hashOfRecoveryCode(account int64, code string) string {
	code = strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))
	return hashOf("recovery code\x00" + accountName(account) + "\x00" + code)
}

func accountName(account int64) string { return strconv.FormatInt(account, 10) }

// putRecoveryCodes returns the statements that replace a user's recovery codes.
func putRecoveryCodes(account int64, codes []string) []store.Statement {
	list := []store.Statement{{Name: "delete_recovery_codes", Args: []any{account}}}
	for _, code := range codes {
		list = append(list, store.Statement{Name: "create_recovery_code", Args: []any{account, hashOfRecoveryCode(account, code)}})
	}
	return list
}

// RenewRecoveryCodes replaces a user's recovery codes. The new ones are shown only
// this once.
func (i *Identity) RenewRecoveryCodes(ctx context.Context, u User) ([]string, error) {
	if !u.TOTP {
		return nil, &InputError{"", "Recovery codes replace an authenticator app, and you have none. Set one up first."}
	}
	codes := newRecoveryCodes()
	return codes, i.write(ctx, func(now time.Time) []store.Statement {
		return append(putRecoveryCodes(u.Account, codes), ledger.Audit(ctx, u.Account, now, "recovery-codes.renew", "")...)
	})
}

// RecoveryCodesLeft returns how many recovery codes a user has.
func (i *Identity) RecoveryCodesLeft(ctx context.Context, account int64) (n int, err error) {
	err = i.store.Query(ctx, store.Statement{Name: "count_recovery_codes", Args: []any{account}, Scan: func(r store.Row) error { return r.Scan(&n) }})
	return n, err
}

func (i *Identity) useRecoveryCode(ctx context.Context, account int64, code string) error {
	use := store.Statement{Name: "use_recovery_code", Args: []any{account, hashOfRecoveryCode(account, code)}}
	return i.writeIf(ctx, ErrWrongCode, use, func(now time.Time) []store.Statement {
		return ledger.Audit(ctx, account, now, "recovery-code.use", "")
	})
}
