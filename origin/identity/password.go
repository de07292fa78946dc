package identity

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id" // the PHC format around x/crypto's Argon2id
	"golang.org/x/text/secure/precis" // RFC 8264 and 8265

	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/ledger/store"
	"github.com/addrspec/addrspec/origin/limit"
)

// NIST SP 800-63B section 3.1.1.2 asks for length rather than for kinds of characters.
const (
	minPassword = 10  // characters
	maxPassword = 256 // bytes
)

// hashing is the cost of a hash, the first choice of OWASP's Password Storage Cheat Sheet.
var hashing = &argon2id.Params{Memory: 19 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// ErrBusy means that too many people sign in at the moment.
var ErrBusy = errors.New("many people are signing in at the moment; try again in a few seconds")

// hashesAtOnce leaves most processors to the API, because a hash takes tens of milliseconds of one.
var hashesAtOnce = max(1, runtime.GOMAXPROCS(0)/4)

const (
	hashWait    = 2 * time.Second
	hashesAfter = 48 // that may wait for a slot; more of them would wait longer than hashWait
)

// newHashing returns the slots for hashes. A network gets all that are free, but at most a third
// of the free places to wait, and networks that wait are served in turn. So a network that tries
// unknown emails without end keeps nobody else from signing in.
func newHashing() *limit.Limiter[string] {
	places := hashesAfter * hashesAtOnce
	return limit.New[string](limit.Config{
		Units: hashesAtOnce, PerOwner: hashesAtOnce, Waiting: places, WaitingPerOwner: (places + 2) / 3})
}

// dummyHash is of a password that nobody knows.
var dummyHash = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(rand.Text(), hashing) })

func (i *Identity) hashed(ctx context.Context, network string, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if err := i.hashing.Take(ctx, network, 1); err != nil {
		return ErrBusy
	}
	defer i.hashing.Free(network, 1)
	return do()
}

// hash returns the hash of a password that can be set, or an *InputError.
func (i *Identity) hash(ctx context.Context, network, password, email string) (hash string, err error) {
	normal, err := normalPassword(password, email)
	if err != nil {
		return "", err
	}
	err = i.hashed(ctx, network, func() (err error) {
		hash, err = argon2id.CreateHash(normal, hashing)
		return err
	})
	return hash, err
}

// match returns ErrWrongPassword if a password is not the one of a hash. It compares in
// the same time whether there is a hash or not, so that a caller cannot find out which
// emails have an account. It compares the normal form of the password and then, if they
// differ, the password as it was typed, because hashes used to be of that.
func (i *Identity) match(ctx context.Context, network, password, hash string) error {
	normal, err := precis.OpaqueString.String(password)
	if err != nil { // it cannot be set any more
		normal = password
	}
	return i.hashed(ctx, network, func() error {
		dummy, err := dummyHash()
		if err != nil {
			return err
		}
		for _, text := range slices.Compact([]string{normal, password}) {
			match, err := argon2id.ComparePasswordAndHash(text, cmp.Or(hash, dummy))
			if err != nil || match {
				return err
			}
		}
		return ErrWrongPassword
	})
}

// CheckPassword returns the user with an email and a password, or ErrWrongPassword. It
// counts the attempt before it looks at the password, whether there is a user or not.
func (i *Identity) CheckPassword(ctx context.Context, email, password string, from Caller) (u User, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
	err = i.query(ctx, i.readUser(&u, 0, email))
	if err == nil || errors.Is(err, store.ErrData) { // PostgreSQL rejects U+0000, which no user has
		err = i.guess(ctx, Passwords, from, email, u.knows(from))
	}
	if err == nil {
		err = i.match(ctx, from.Network, password, u.password)
	}
	if err != nil {
		return User{}, err
	}
	return u, nil
}

// ConfirmPassword is CheckPassword for a user who is signed in.
func (i *Identity) ConfirmPassword(ctx context.Context, u User, password string) error {
	session := Caller{Network: strconv.FormatInt(u.From.Session, 10)}
	if err := i.guess(ctx, Confirmations, session, accountName(u.Account), false); err != nil {
		return err
	}
	return i.match(ctx, u.From.Network, password, u.password)
}

// SetPassword sets a user's password and ends the user's other sessions. It may return ErrChanged.
func (i *Identity) SetPassword(ctx context.Context, u User, password string) error {
	hash, err := i.hash(ctx, u.From.Network, password, u.Email)
	if err != nil {
		return err
	}
	return i.write(ctx, change{as: &u, log: &line{u.Account, "user.password", ""}, then: statements{
		createUser(u.Account),
		statement("put_password", u.Account, hash),
		u.endOthers(),
		statement("delete_links", u.Account, after(0)),
	}})
}

// SignUp creates an account on the default plan with a user who has a password, or returns
// book.ErrAccountExists. It proves nothing about the email, so the first link ends what this user
// sets up (see UseLink). The caller limits attempts.
func (i *Identity) SignUp(ctx context.Context, email, password string) (User, error) {
	hash, err := i.hash(ctx, "", password, email) // all sign-ups together are one owner
	if err != nil {
		return User{}, err
	}
	a, err := i.ledger.CreateAccount(ctx, email, book.Terms{}, func(account int64, _ time.Time) []store.Statement {
		return statements{statement("sign_up_user", account, newToken()), statement("put_password", account, hash)}
	})
	if err != nil {
		return User{}, err
	}
	return i.User(ctx, a.ID)
}

// CheckSignUp returns an *InputError if an account cannot have this email or password.
func CheckSignUp(email, password string) error {
	if err := book.CheckEmail(email); err != nil {
		return &InputError{"email", "The email needs an @, at most 254 bytes and no spaces or control characters."}
	}
	_, err := normalPassword(password, email)
	return err
}

// CheckUser returns an *InputError if no user can have the name, or a password with the hash: ""
// for none. A hash must be no dearer than this program's own, because a sign-in computes it.
func CheckUser(name, hash string) error {
	if err := checkName(name, maxName); err != nil || hash == "" {
		return err
	}
	p, _, _, err := argon2id.DecodeHash(hash)
	if err != nil || p.Memory > hashing.Memory || p.Iterations > hashing.Iterations || p.Parallelism != hashing.Parallelism {
		return &InputError{"password", "The password's hash is not one of Argon2id with the cost that this program uses."}
	}
	return nil
}

// normalPassword returns a password in the form that is hashed, OpaqueString of RFC 8265
// section 4.2, since keyboards type the same letter or space in several ways. It returns
// an *InputError if the password cannot be set.
func normalPassword(password, email string) (string, error) {
	normal, err := precis.OpaqueString.String(password)
	local, _, _ := strings.Cut(email, "@")
	sentence := ""
	switch {
	case !utf8.ValidString(password):
		sentence = "The password is not valid UTF-8."
	case err != nil && password != "":
		sentence = "The password has a character that some devices cannot type, such as a control or an invisible character."
	case utf8.RuneCountInString(normal) < minPassword:
		sentence = fmt.Sprintf("The password is shorter than %d characters. ", minPassword) + goodPassword
	case len(normal) > maxPassword:
		sentence = fmt.Sprintf("The password is longer than %d bytes.", maxPassword)
	case madeOf(normal, func(word string) bool {
		return strings.EqualFold(word, email) || strings.EqualFold(word, local)
	}):
		sentence = "The password must not be the email, with or without digits at its end. " + goodPassword
	case madeOf(normal, func(word string) bool { return strings.EqualFold(word, "addrspec") }):
		sentence = "The password must not be the name of the service, with or without digits at its end. " + goodPassword
	case madeOf(normal, isCommon):
		sentence = "The password is one of the commonest, or one with digits at its end, which attackers try first. " +
			goodPassword
	case strings.Count(normal, normal[:1]) == len(normal):
		sentence = "The password repeats one character."
	default:
		return normal, nil
	}
	return "", &InputError{"password", sentence}
}

const goodPassword = "A few unrelated words are easy to remember and hard to guess."

// maxEnd is how many characters that are no letters may follow a refused word: people add a year
// and a mark.
const maxEnd = 6

// madeOf reports whether refused is true for the password, with or without such characters.
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

// isCommon ignores case. NIST SP 800-63B section 3.1.1.2 asks for such a list.
func isCommon(password string) bool {
	return password != "" && strings.Contains(commonPasswords, "\n"+strings.ToLower(password)+"\n")
}
