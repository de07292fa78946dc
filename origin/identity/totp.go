package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"      // otpauth URLs for authenticator apps
	"github.com/pquerna/otp/hotp" // RFC 4226; the time step is ours, to accept each once
	"github.com/pquerna/otp/totp" // RFC 6238

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The parameters that all authenticator apps support (RFC 6238 section 4).
const (
	totpPeriod = 30 * time.Second
	totpSkew   = 1  // steps before and after, for clocks that differ (section 6)
	totpSecret = 20 // bytes, as long as the output of SHA-1 (RFC 4226 section 4, R6)
)

// ErrWrongCode refuses a code of an authenticator app, or a recovery code.
var ErrWrongCode = errors.New("the code is wrong, or was used already")

// NewTOTP returns a new secret for an authenticator app, and its URL for a QR
// code. Nothing is stored until SetTOTP.
func NewTOTP(email string) (secret, url string, err error) {
	return totpKey(email, nil)
}

// TOTPURL returns the URL of a secret that NewTOTP has returned.
func TOTPURL(email, secret string) (string, error) {
	raw, err := decodeTOTP(secret)
	if err != nil {
		return "", err
	}
	_, url, err := totpKey(email, raw)
	return url, err
}

func totpKey(email string, secret []byte) (text, url string, err error) {
	key, err := totp.Generate(totp.GenerateOpts{Issuer: "addrspec", AccountName: email, Secret: secret, SecretSize: totpSecret})
	if err != nil {
		return "", "", err
	}
	return key.Secret(), key.URL(), nil
}

func decodeTOTP(secret string) ([]byte, error) {
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil || len(raw) != totpSecret {
		return nil, &InputError{"secret", "The secret is not one that this page made. Load the page again."}
	}
	return raw, nil
}

// SetTOTP gives a user an authenticator app, once they have shown a code of it.
// It returns new recovery codes, which are shown only this once.
func (i *Identity) SetTOTP(ctx context.Context, u User, secret, code string) (recovery []string, err error) {
	if _, err := decodeTOTP(secret); err != nil {
		return nil, err
	}
	now, err := i.attemptCode(ctx, u)
	if err != nil {
		return nil, err
	}
	step, ok := matchTOTP(secret, code, now)
	if !ok {
		return nil, &InputError{"code", "The code is wrong. The app shows a new one every 30 seconds; check that the clock of the device is right."}
	}
	recovery = newRecoveryCodes()
	return recovery, i.writeAs(ctx, u, func(now time.Time) []store.Statement {
		sealed := i.sealer.Seal(store.SecretOfTOTP, u.Account, secret)
		list := []store.Statement{{Name: "put_totp", Args: []any{u.Account, sealed, step}}}
		list = append(list, putRecoveryCodes(u.Account, recovery)...)
		return append(list, book.Audit(ctx, u.Account, now, "totp.set", "")...)
	})
}

// attemptCode counts an attempt at a code, and returns the database's time.
// In a browser in which the user has signed in, others do not count.
func (i *Identity) attemptCode(ctx context.Context, u User) (time.Time, error) {
	limit, subject := CodesOfAccount, accountName(u.Account)
	if device := u.KnownDevice(u.Device); device != "" {
		limit, subject = CodesOfDevice, device
	}
	if err := i.Attempt(ctx, limit, subject); err != nil {
		return time.Time{}, err
	}
	return i.now(ctx)
}

// matchTOTP returns the time step whose code was given. It compares with each
// step in turn, since the step decides whether the code was used already.
func matchTOTP(secret, code string, now time.Time) (step int64, ok bool) {
	code, current := strings.ReplaceAll(code, " ", ""), stepOf(now)
	for at := current - totpSkew; at <= current+totpSkew; at++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}

// stepOf returns the time step of a time.
func stepOf(t time.Time) int64 { return t.Unix() / int64(totpPeriod.Seconds()) }

// CheckCode uses up a code of the user's authenticator app or a recovery code, or
// returns ErrWrongCode. It counts the attempt. Recovery codes are accepted although the
// app's secret cannot be opened.
func (i *Identity) CheckCode(ctx context.Context, u User, code string) error {
	now, err := i.attemptCode(ctx, u)
	if err != nil {
		return err
	}
	secret, failed := i.sealer.Open(store.SecretOfTOTP, u.Account, u.totp)
	if step, ok := matchTOTP(secret, code, now); ok && u.TOTP && failed == nil {
		return i.useTOTP(ctx, u, step, now)
	}
	if err = i.useRecoveryCode(ctx, u.Account, code); err == ErrWrongCode && failed != nil {
		return fmt.Errorf("the authenticator app of account %d, which 'addrspec account link --reset-factors' removes: %w", u.Account, failed)
	}
	return err
}

// useTOTP accepts each step once (RFC 6238 section 5.2), and none before one that
// was accepted. It seals the secret if that was not done with the present key.
func (i *Identity) useTOTP(ctx context.Context, u User, step int64, now time.Time) error {
	use := store.Statement{Name: "use_totp", Args: []any{u.Account, u.totp, step, stepOf(now.Add(late)) + totpSkew,
		i.sealer.Renewed(store.SecretOfTOTP, u.Account, u.totp)}}
	return i.writeIf(ctx, ErrWrongCode, use, func(time.Time) []store.Statement { return unchanged(u.Account) })
}

// unchanged returns a statement that changes nothing: a transaction without writes
// is rolled back.
func unchanged(account int64) []store.Statement {
	return []store.Statement{{Name: "lock_user", Args: []any{account}}}
}

// RemoveTOTP takes a user's authenticator app and recovery codes away.
func (i *Identity) RemoveTOTP(ctx context.Context, account int64) error {
	return i.write(ctx, func(now time.Time) []store.Statement {
		return append(removeTOTP(account), book.Audit(ctx, account, now, "totp.remove", "")...)
	})
}

func removeTOTP(account int64) []store.Statement {
	return []store.Statement{
		{Name: "put_totp", Args: []any{account, "", 0}},
		{Name: "delete_recovery_codes", Args: []any{account}},
	}
}

// ResetFactors removes all second factors, for a user who has lost them, and
// ends all sessions, since a device may be lost with them.
func (i *Identity) ResetFactors(ctx context.Context, account int64) error {
	return i.write(ctx, func(now time.Time) []store.Statement {
		list := append(removeTOTP(account),
			store.Statement{Name: "delete_passkeys", Args: []any{account}},
			store.Statement{Name: "delete_sessions", Args: []any{account, 0}})
		return append(list, book.Audit(ctx, account, now, "factors.reset", "")...)
	})
}

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
	return codes, i.writeAs(ctx, u, func(now time.Time) []store.Statement {
		return append(putRecoveryCodes(u.Account, codes), book.Audit(ctx, u.Account, now, "recovery-codes.renew", "")...)
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
		return book.Audit(ctx, account, now, "recovery-code.use", "")
	})
}
