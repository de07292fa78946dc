package feed

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/addrspec/addrspec/lists"
)

// Signature is a signature with a verified statement.
type Signature struct {
	Statement
	Text []byte // of the .minisig file

	key PublicKey
}

// Release is a verified blob.
type Release struct {
	Signature
	Blob  []byte
	Lists *lists.Lists
}

// ReadStatement returns the statement of a signature without verifying it.
func ReadStatement(text []byte) (Statement, error) {
	signature, err := decode(text)
	if err != nil {
		return Statement{}, err
	}
	return parseStatement(signature.TrustedComment)
}

// Parse reads the text of a .minisig file. It verifies all but the blob: that k
// made it, the algorithm, and the signature of the trusted comment.
func (k PublicKey) Parse(text []byte) (Signature, error) {
	read, err := decode(text)
	if err != nil {
		return Signature{}, err
	}
	if read.KeyID != k.key.ID() {
		return Signature{}, refuse(OtherKey, "the signature was made with the key %s, but the public key given is %s: "+
			"give the key of this feed", keyID(read.KeyID), k.ID())
	}
	signed := append(read.Signature[:], read.TrustedComment...)
	verifier := ed25519.PublicKey(decoded(k.key.String())[publicKeySize-ed25519.PublicKeySize:])
	if !ed25519.Verify(verifier, signed, read.CommentSignature[:]) {
		return Signature{}, refuse(BadSignature, "the signature of the trusted comment is wrong: somebody has changed it, or the file is damaged")
	}
	statement, err := parseStatement(read.TrustedComment)
	return Signature{statement, text, k}, err
}

// decode reads the text of a .minisig file, in the prehashed form.
func decode(text []byte) (*minisign.Signature, error) {
	if len(text) > MaxSignature {
		return nil, refuse(TooLarge, "the signature is larger than %d KiB: it is no signature of minisign", MaxSignature>>10)
	}
	var signature minisign.Signature
	err := signature.UnmarshalText(text)
	// minisign's decoder accepts further lines, and base64 whose last character has unused bits
	// that are set. Refused, so that a signature has one spelling, and every program accepts
	// the same ones.
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if err == nil && len(lines) != 4 {
		err = errors.New("it does not have four lines")
	} else if err == nil && (decoded(lines[1]) == nil || decoded(lines[3]) == nil) {
		err = errors.New("illegal base64 data")
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "minisign: ")
		return nil, refuse(BadSignature, "the signature is not one of minisign (%s): is %s the right file?", reason, Suffix)
	}
	if signature.Algorithm != minisign.HashEdDSA {
		return nil, refuse(BadSignature, `the signature has the old form "Ed": sign without -l, so that it has the form "ED"`)
	}
	return &signature, nil
}

// Open verifies blob and opens it.
func (s Signature) Open(blob []byte) (*Release, error) {
	opened, err := open(blob)
	if errors.Is(err, errTooLarge) {
		return nil, err
	}
	signed := minisign.Verify(s.key.key, blob, s.Text)
	switch {
	case err != nil && !signed:
		return nil, refuse(Damaged, "the lists are not those that were signed: %s", err)
	case err != nil:
		return nil, err
	case opened.Version() != s.Version && !signed:
		return nil, refuse(BadSignature, "the signature is for the lists %s, not for %s: fetch both files again",
			s.Version, opened.Version())
	case opened.Version() != s.Version:
		return nil, refuse(BadSignature, "the signature is for the version %s, but the lists are %s: sign them again",
			s.Version, opened.Version())
	case !signed:
		return nil, refuse(BadSignature, "the signature is wrong: the lists %s are not those that were signed", s.Version)
	}
	return &Release{s, blob, opened}, nil
}

// Key returns the public key that verified the signature.
func (s Signature) Key() PublicKey { return s.key }

// Statement is the content of a signature's trusted comment.
type Statement struct {
	Version string // lists.Version of the blob
	Signed  time.Time
	Expires time.Time
}

// statementForm allows one spelling of each statement. Seconds have at most 12
// digits, which JavaScript's numbers can represent.
var statementForm = regexp.MustCompile(`^addrspec lists version:(\d{4}\.\d\d\.\d\d-[0-9a-f]{8}) signed:([1-9]\d{0,11}) expires:([1-9]\d{0,11})$`)

// String returns the trusted comment.
func (s Statement) String() string {
	return fmt.Sprintf("addrspec lists version:%s signed:%d expires:%d", s.Version, s.Signed.Unix(), s.Expires.Unix())
}

func parseStatement(comment string) (Statement, error) {
	m := statementForm.FindStringSubmatch(comment)
	if m == nil {
		return Statement{}, refuse(BadSignature, `the signature's trusted comment is not "addrspec lists version:… signed:… expires:…": sign the lists with ./build.sh lists --sign`)
	}
	signed, _ := strconv.ParseInt(m[2], 10, 64) // never an error: at most 12 digits
	expires, _ := strconv.ParseInt(m[3], 10, 64)
	s := Statement{m[1], time.Unix(signed, 0).UTC(), time.Unix(expires, 0).UTC()}
	if !s.Expires.After(s.Signed) {
		return Statement{}, refuse(BadSignature, "the signature expires before it was made: sign the lists again")
	}
	return s, nil
}

// Fresh returns an error if the statement has expired or is from the future.
func (s Statement) Fresh(now time.Time) error {
	if !now.Before(s.Expires) {
		return refuse(Expired, "the lists %s expired on %s: the feed must be signed again",
			s.Version, s.Expires.Format(time.DateTime+" UTC"))
	}
	if s.Signed.After(now.Add(clockSlack)) {
		return refuse(NotYet, "the lists %s were signed on %s, which is in the future: set the clock of this machine or "+
			"of the one that signs", s.Version, s.Signed.Format(time.DateTime+" UTC"))
	}
	return nil
}

// clockSlack is how far the signer's clock may be ahead. A signature from a wrong
// clock far in the future would make all that follow look older.
const clockSlack = 24 * time.Hour

// InUse identifies the lists that an update would replace.
type InUse struct {
	Version string
	Signed  time.Time // zero for lists without a signature, such as the built-in ones
}

// Supersedes reports whether the signed lists are newer than those in use. It
// returns false and no error if they are the same, and an error if they are
// older. Signing times order signed lists; lists without one are compared by
// the day in their version.
func (s Statement) Supersedes(used InUse) (bool, error) {
	if used.Signed.IsZero() {
		if day(s.Version) < day(used.Version) {
			return false, refuse(Older, "the lists %s are older than %s, which are in use", s.Version, used.Version)
		}
		return true, nil
	}
	if s.Signed.Before(used.Signed) {
		return false, refuse(Older, "the lists %s were signed on %s, before those in use (%s, signed on %s)",
			s.Version, s.Signed.Format(time.DateTime), used.Version, used.Signed.Format(time.DateTime))
	}
	return s.Signed.After(used.Signed), nil
}

func day(version string) string {
	d, _, _ := strings.Cut(version, "-")
	return d
}

// Day returns when the sources of lists were last read, with which their version begins.
func Day(version string) (time.Time, error) {
	t, err := time.Parse("2006.01.02", day(version))
	if err != nil {
		return time.Time{}, fmt.Errorf("version %q does not begin with a date: pack the lists again", version)
	}
	return t, nil
}
