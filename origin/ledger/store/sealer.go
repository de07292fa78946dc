package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Sealer encrypts the secrets that the database has to give back as they are: those
// of authenticator apps and webhooks. A sealed secret is
//
//	sealed1.KEYID.DATA
//
// DATA is AES-256-GCM's nonce and ciphertext in base64url (NIST SP 800-38D); what it
// belongs to, its purpose and account, is authenticated with it, so it opens in no other
// row. The key and its ID are derived from the operator's by HKDF (RFC 5869). An
// unsealed secret is one without the prefix. A nil Sealer seals nothing.
type Sealer struct {
	ids   []string      // of the keys, the one that seals first
	aeads []cipher.AEAD // by index of the ID
}

const sealedPrefix = "sealed1."

// The purposes of secrets.
const (
	SecretOfTOTP    = "totp"
	SecretOfWebhook = "webhook"
)

// ErrAltered means that a sealed secret was changed, or moved from another row.
var ErrAltered = errors.New("a sealed secret was altered in the database, or moved from another account")

// An UnknownKeyError means that secrets are sealed with a key that is not given.
type UnknownKeyError struct{ ID string }

func (e *UnknownKeyError) Error() string {
	return "secrets in the database are sealed with the key whose ID is " + e.ID + ", which is not given: " +
		"give it with --secret-key or --secret-key-file, after the present one if there is another"
}

// NewSealer returns a Sealer that seals with the first of the operator's keys and opens
// with any, or nil if there is none. They must be random.
func NewSealer(keys ...string) (*Sealer, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	s := new(Sealer)
	for _, key := range keys {
		derived, err := hkdf.Key(sha256.New, []byte(key), nil, "addrspec sealed secrets 1", 32+4)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(derived[:32])
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.ids, s.aeads = append(s.ids, hex.EncodeToString(derived[32:])), append(s.aeads, aead)
	}
	return s, nil
}

// IDs returns the IDs of the keys, the one that seals first.
func (s *Sealer) IDs() []string {
	if s == nil {
		return nil
	}
	return s.ids
}

// Seal returns a secret as the database stores it; "" is none.
func (s *Sealer) Seal(purpose string, account int64, secret string) string {
	if s == nil || secret == "" {
		return secret
	}
	data := s.aeads[0].Seal(nil, nil, []byte(secret), rowOf(purpose, account))
	return s.present() + base64.RawURLEncoding.EncodeToString(data)
}

func rowOf(purpose string, account int64) []byte {
	return []byte(sealedPrefix + purpose + "." + strconv.FormatInt(account, 10))
}

// Open returns a stored secret as it is. The error is ErrAltered or an
// *UnknownKeyError.
func (s *Sealer) Open(purpose string, account int64, stored string) (string, error) {
	sealed, found := strings.CutPrefix(stored, sealedPrefix)
	if !found {
		return stored, nil
	}
	id, text, _ := strings.Cut(sealed, ".")
	at := slices.Index(s.IDs(), id)
	if at < 0 {
		return "", &UnknownKeyError{id}
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", ErrAltered
	}
	secret, err := s.aeads[at].Open(nil, nil, data, rowOf(purpose, account))
	if err != nil {
		return "", ErrAltered
	}
	return string(secret), nil
}

// Renewed returns a stored secret sealed with the present key, or as it is if it is so
// already, if there is no key, or if it cannot be opened.
func (s *Sealer) Renewed(purpose string, account int64, stored string) string {
	if s == nil || strings.HasPrefix(stored, s.present()) {
		return stored
	}
	secret, err := s.Open(purpose, account, stored)
	if err != nil {
		return stored
	}
	return s.Seal(purpose, account, secret)
}

func (s *Sealer) present() string { return sealedPrefix + s.ids[0] + "." }

// CountSecrets returns how many secrets there are by the ID of the key that seals them,
// "" for those that none does.
func CountSecrets(ctx context.Context, s Store) (map[string]int64, error) {
	counts := map[string]int64{}
	err := s.Query(ctx, Statement{Name: "count_secrets", Scan: func(r Row) error {
		var id string
		var n int64
		err := r.Scan(&id, &n)
		counts[id] = n
		return err
	}})
	return counts, err
}

// Known returns an *UnknownKeyError if some of the counted secrets are sealed with a
// key that s does not have.
func (s *Sealer) Known(counts map[string]int64) error {
	for id := range counts {
		if id != "" && !slices.Contains(s.IDs(), id) {
			return &UnknownKeyError{id}
		}
	}
	return nil
}

// SealAll seals all secrets of a database with the present key, so that no other is
// needed any more, and returns how many rows it has changed. It changes nothing if a key
// is missing. Secrets that were altered remain as they are.
func (s *Sealer) SealAll(ctx context.Context, db Store) (changed int, err error) {
	counts, err := CountSecrets(ctx, db)
	if err == nil {
		err = s.Known(counts)
	}
	if err != nil || s == nil {
		return 0, err
	}
	for _, t := range []struct {
		purpose, list, put string
		secrets            int // in a row
	}{
		{SecretOfTOTP, "list_unsealed_totp", "reseal_totp", 1},
		{SecretOfWebhook, "list_unsealed_webhooks", "reseal_webhook", 2},
	} {
		const page = 100
		account := int64(0) // the last of the page
		for rows := page; rows == page; {
			rows = 0
			var puts []Statement // a row that has changed by then is left to its next use
			err := db.Query(ctx, Statement{Name: t.list, Args: []any{account, s.present(), page}, Scan: func(r Row) error {
				stored, into := make([]string, t.secrets), []any{&account}
				for i := range stored {
					into = append(into, &stored[i])
				}
				err := r.Scan(into...)
				if put := s.Renew(t.purpose, t.put, account, stored...); put.Name != "" {
					puts = append(puts, put)
				}
				rows++
				return err
			}})
			if err == nil && len(puts) > 0 {
				err = db.Transact(ctx, Transaction{Decide: func(time.Time) ([]Statement, error) { return puts, nil }})
			}
			if err != nil {
				return changed, fmt.Errorf("seal the secrets of the database: %w", err)
			}
			changed += len(puts)
		}
	}
	return changed, nil
}

// Renew returns a statement that seals secrets of a row with the present key, or one
// without a name if that changes none.
func (s *Sealer) Renew(purpose, put string, account int64, stored ...string) Statement {
	args, renewed := []any{account}, make([]any, len(stored))
	name := ""
	for i, old := range stored {
		args, renewed[i] = append(args, old), s.Renewed(purpose, account, old)
		if renewed[i] != old {
			name = put
		}
	}
	return Statement{Name: name, Args: append(args, renewed...)}
}
