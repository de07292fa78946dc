package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pquerna/otp"      // otpauth URLs for authenticator apps
	"github.com/pquerna/otp/hotp" // RFC 4226; the time step is ours, to accept each once
	"github.com/pquerna/otp/totp" // RFC 6238

	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The parameters that all authenticator apps support (RFC 6238 section 4).
const (
	totpPeriod = 30 // seconds
	totpSkew   = 1  // steps before and after, for clocks that differ (section 6)
	totpSecret = 20 // bytes, as long as the output of SHA-1 (RFC 4226 section 4, R6)
)

// ErrWrongCode refuses a code of an authenticator app, or a recovery code.
var ErrWrongCode = errors.New("the code is wrong, or was used already")

// NewTOTP returns a secret for an authenticator app, and its URL for a QR code: the secret that is
// given if NewTOTP can have returned it, or a new one. Nothing is stored until SetTOTP.
func NewTOTP(email, given string) (secret, url string, err error) {
	raw, _ := decodeTOTP(given)
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: "addrspec", AccountName: email, Secret: raw, SecretSize: totpSecret})
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

// SetTOTP gives a user an authenticator app, once they have shown a code of it, and ends
// the user's other sessions. It returns new recovery codes, which are shown only this once.
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
	sealed := i.sealer.Seal(store.SecretOfTOTP, u.Account, secret)
	recovery, renew := newRecoveryCodes(u.Account)
	return recovery, i.write(ctx, change{as: &u, log: &line{u.Account, "totp.set", ""},
		then: append(renew, statement("put_totp", u.Account, sealed, step), u.endOthers())})
}

// attemptCode counts an attempt, and returns the database's time.
func (i *Identity) attemptCode(ctx context.Context, u User) (time.Time, error) {
	if err := i.guess(ctx, Codes, u.From, accountName(u.Account), u.knows(u.From)); err != nil {
		return time.Time{}, err
	}
	return i.ledger.Now(ctx)
}

func matchTOTP(secret, code string, now time.Time) (step int64, ok bool) {
	code, current := strings.ReplaceAll(code, " ", ""), now.Unix()/totpPeriod
	for at := current - totpSkew; at <= current+totpSkew; at++ {
		want, err := hotp.GenerateCodeCustom(secret, uint64(at), hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1})
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			step, ok = at, true
		}
	}
	return step, ok
}

// CheckCode uses up a code of the user's authenticator app or a recovery code, or
// returns ErrWrongCode. It counts the attempt. Each time step is accepted once (RFC 6238
// section 5.2), and none before one that was accepted. Recovery codes are accepted although
// the app's secret cannot be opened.
func (i *Identity) CheckCode(ctx context.Context, u User, code string) error {
	now, err := i.attemptCode(ctx, u)
	if err != nil {
		return err
	}
	if step, ok := matchTOTP(u.secret, code, now); ok && u.TOTP && u.unopened == nil {
		renewed := i.sealer.Renewed(store.SecretOfTOTP, u.Account, u.sealed)
		return i.write(ctx, change{as: &u, needs: statement("use_totp", u.Account, step, renewed), missing: ErrWrongCode})
	}
	use := statement("use_recovery_code", u.Account, hashOfRecoveryCode(u.Account, code))
	err = i.write(ctx, change{needs: use, missing: ErrWrongCode, log: &line{u.Account, "recovery-code.use", ""}})
	if err == ErrWrongCode && u.unopened != nil {
		return fmt.Errorf("the authenticator app of account %d, which 'addrspec account link --reset-factors' removes: %w", u.Account, u.unopened)
	}
	return err
}

// RemoveTOTP removes the app and the recovery codes, and ends the user's other sessions.
func (i *Identity) RemoveTOTP(ctx context.Context, u User) error {
	return i.write(ctx, change{as: &u, log: &line{u.Account, "totp.remove", ""},
		then: append(removeTOTP(u.Account), u.endOthers())})
}

func removeTOTP(account int64) statements {
	return statements{statement("put_totp", account, "", 0), statement("delete_recovery_codes", account)}
}

// ResetFactors is for a user who has lost the second factors. It ends all sessions, because a
// device may be lost with them.
func (i *Identity) ResetFactors(ctx context.Context, account int64) error {
	return i.write(ctx, change{log: &line{account, "factors.reset", ""}, then: append(removeTOTP(account),
		statement("delete_passkeys", account), statement("delete_sessions", account, 0))})
}

// newRecoveryCodes returns recovery codes, and the statements that replace a user's by them. They
// replace the authenticator app when it is lost, each once. They have 80 random bits, so that a
// thief of the database cannot try all of them against the SHA-256 that is stored.
func newRecoveryCodes(account int64) (codes []string, renew statements) {
	renew = append(renew, statement("delete_recovery_codes", account))
	for range 10 {
		text := strings.ToLower(rand.Text()[:16]) // of base32
		code := text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
		codes = append(codes, code)
		renew = append(renew, statement("create_recovery_code", account, hashOfRecoveryCode(account, code)))
	}
	return codes, renew
}

// hashOfRecoveryCode ignores what people change when they type: spaces, hyphens, upper case.
func hashOfRecoveryCode(account int64, code string) string {
	code = strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code))
	return hashOf("recovery code\x00" + accountName(account) + "\x00" + code)
}

// RenewRecoveryCodes replaces the codes, and ends the user's other sessions.
func (i *Identity) RenewRecoveryCodes(ctx context.Context, u User) ([]string, error) {
	if !u.TOTP {
		return nil, &InputError{"", "Recovery codes replace an authenticator app, and you have none. Set one up first."}
	}
	codes, renew := newRecoveryCodes(u.Account)
	return codes, i.write(ctx, change{as: &u, then: append(renew, u.endOthers()),
		log: &line{u.Account, "recovery-codes.renew", ""}})
}

// RecoveryCodesLeft returns how many recovery codes a user has.
func (i *Identity) RecoveryCodesLeft(ctx context.Context, account int64) (n int, err error) {
	err = i.query(ctx, statement("count_recovery_codes", account), &n)
	return n, err
}
