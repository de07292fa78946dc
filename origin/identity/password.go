package identity

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id" // the PHC format around x/crypto's Argon2id
	"golang.org/x/crypto/argon2"

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
)

// The bounds of a password. NIST SP 800-63B section 3.1.1.2 asks for length
// rather than for kinds of characters.
const (
	minPassword = 10  // characters
	MaxPassword = 256 // bytes
)

// hashing is the cost of a hash, the first choice of OWASP's Password Storage
// Cheat Sheet for Argon2id: 19 MiB, two passes.
var hashing = &argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hashesAtOnce bounds the memory and the processors that hashing can take. A hash
// takes a processor for tens of milliseconds; with all of them busy, requests of
// the API would wait that long.
func hashesAtOnce() int { return max(1, runtime.GOMAXPROCS(0)/4) }

// ErrBusy means that too many people sign in at the moment.
var ErrBusy = errors.New("many people are signing in at the moment; try again in a few seconds")

// A hasher hashes passwords, a few at a time.
type hasher struct {
	slots chan struct{}
	dummy string // a hash that takes as long as any other
}

func newHasher() hasher {
	return hasher{make(chan struct{}, hashesAtOnce()), dummyHash()}
}

// dummyHash returns a hash in the PHC format whose salt and key are random bytes.
// No password is known to match it, and comparing takes as long as with any other
// hash. Hashing a password in place of it took 19 MiB and 25 ms of every start.
func dummyHash() string {
	salt, key := make([]byte, hashing.SaltLength), make([]byte, hashing.KeyLength)
	rand.Read(salt) // it never fails, see crypto/rand
	rand.Read(key)
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashing.Memory, hashing.Iterations, hashing.Parallelism, text(salt), text(key))
}

// acquire waits for a slot, for at most two seconds.
func (h hasher) acquire(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ErrBusy
	}
}

func (h hasher) release() { <-h.slots }

func (h hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	return argon2id.CreateHash(password, hashing)
}

// matches compares in the same time whether there is a hash or not, so that a
// caller cannot find out which emails have an account.
func (h hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, h.dummy)
		return false, err
	}
	return argon2id.ComparePasswordAndHash(password, hash)
}

// CheckPassword returns the user with an email and a password, or
// ErrWrongPassword. The caller limits attempts (see Attempt).
func (i *Identity) CheckPassword(ctx context.Context, email, password string) (User, error) {
	u, err := i.user(ctx, 0, strings.ToLower(strings.TrimSpace(email)))
	if err != nil && !errors.Is(err, ErrNoUser) {
		return User{}, err
	}
	match, err := i.hasher.matches(ctx, clip(password), u.password)
	if err != nil {
		return User{}, err
	}
	if !match {
		return User{}, ErrWrongPassword
	}
	return u, nil
}

// clip bounds the work of a hash; no stored password is longer.
func clip(password string) string { return password[:min(len(password), MaxPassword+1)] }

// SetPassword sets a user's password and ends all sessions but one. It may return
// ErrChanged.
func (i *Identity) SetPassword(ctx context.Context, u User, password string, keep Session) error {
	if err := checkPassword(password, u.Email); err != nil {
		return err
	}
	hash, err := i.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	now, err := i.now(ctx)
	if err != nil {
		return err
	}
	return i.writeAs(ctx, u, func(now time.Time) []store.Statement {
		list := []store.Statement{
			{Name: "put_password", Args: []any{u.Account, hash}},
			{Name: "delete_sessions", Args: []any{u.Account, keep.ID}},
			{Name: "delete_links", Args: []any{u.Account, now.UnixNano(), latest(now, LinkLife)}},
		}
		return append(list, book.Audit(ctx, u.Account, now, "user.password", "")...)
	}, createUser(u.Account, now))
}

func checkPassword(password, email string) error {
	local, _, _ := strings.Cut(email, "@")
	switch {
	case !utf8.ValidString(password):
		return &InputError{"password", "The password is not valid UTF-8."}
	case utf8.RuneCountInString(password) < minPassword:
		return &InputError{"password", fmt.Sprintf("The password is shorter than %d characters. A few unrelated words are easy to remember.", minPassword)}
	case len(password) > MaxPassword:
		return &InputError{"password", fmt.Sprintf("The password is longer than %d bytes.", MaxPassword)}
	case madeOf(password, func(word string) bool { return strings.EqualFold(word, email) || strings.EqualFold(word, local) }):
		return &InputError{"password", "The password must not be the email, with or without digits at its end. " + goodPassword}
	case madeOf(password, func(word string) bool { return strings.EqualFold(word, "addrspec") }):
		return &InputError{"password", "The password must not be the name of the service, with or without digits at its end. " + goodPassword}
	case madeOf(password, isCommon):
		return &InputError{"password", "The password is one of the commonest, or one with digits at its end: attackers try these first. " + goodPassword}
	case strings.Count(password, password[:1]) == len(password):
		return &InputError{"password", "The password repeats one character."}
	}
	return nil
}

const goodPassword = "A few unrelated words are easy to remember and hard to guess."

// maxEnd is how many characters that are no letters may follow a word that must not be a
// password: people add a year and a mark.
const maxEnd = 6

// madeOf reports whether refused is true for the password, or for it without some of
// the characters at its end.
func madeOf(password string, refused func(string) bool) bool {
	for n := 0; n <= maxEnd && password != ""; n++ {
		if refused(password) {
			return true
		}
		last, size := utf8.DecodeLastRuneInString(password)
		if unicode.IsLetter(last) {
			return false
		}
		password = password[:len(password)-size]
	}
	return false
}

// commonPasswords is a header, an empty line, and a password a line.
//
//go:embed passwords.txt
var commonPasswords string

// isCommon reports whether a password is in the list, in any case. NIST SP 800-63B
// section 3.1.1.2 asks for such a list.
func isCommon(password string) bool {
	return password != "" && strings.Contains(commonPasswords, "\n"+strings.ToLower(password)+"\n")
}
