package feed

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"aead.dev/minisign"

	"github.com/addrspec/addrspec/lists"
)

// Signature is a signature whose statement is verified.
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

// ReadStatement returns what a signature says, without verifying it.
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
	decoded, err := decode(text)
	if err != nil {
		return Signature{}, err
	}
	if decoded.KeyID != k.key.ID() {
		return Signature{}, refuse(OtherKey, fmt.Sprintf("the signature was made with the key %s, but the public key given is %s: give the key of this feed", keyID(decoded.KeyID), k.ID()))
	}
	signed := append(decoded.Signature[:], decoded.TrustedComment...)
	if !ed25519.Verify(k.ed25519(), signed, decoded.CommentSignature[:]) {
		return Signature{}, refuse(BadSignature, "the signature of the trusted comment is wrong: somebody has changed it, or the file is damaged")
	}
	statement, err := parseStatement(decoded.TrustedComment)
	return Signature{statement, text, k}, err
}

// decode reads the text of a .minisig file and checks its algorithm.
func decode(text []byte) (*minisign.Signature, error) {
	if len(text) > MaxSignature {
		return nil, refuse(TooLarge, fmt.Sprintf("the signature is larger than %d KiB: it is no signature of minisign", MaxSignature>>10))
	}
	var signature minisign.Signature
	err := signature.UnmarshalText(text)
	if err == nil {
		err = checkLines(string(text))
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "minisign: ")
		return nil, refuse(BadSignature, "the signature is not one of minisign ("+reason+"): is "+Suffix+" the right file?")
	}
	if signature.Algorithm != minisign.HashEdDSA {
		return nil, refuse(BadSignature, `the signature has the old form "Ed": sign without -l, so that it has the form "ED"`)
	}
	return &signature, nil
}

// checkLines refuses what minisign's decoder lets pass: further lines, and base64
// whose last character has unused bits that are set. So a signature has one
// spelling, and every program accepts the same ones.
func checkLines(text string) error {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 4 {
		return errors.New("it does not have four lines")
	}
	for _, line := range []string{lines[1], lines[3]} {
		if decoded(strings.TrimSuffix(line, "\r")) == nil {
			return errors.New("illegal base64 data")
		}
	}
	return nil
}

// Open verifies blob and opens it.
func (s Signature) Open(blob []byte) (*Release, error) {
	if len(blob) > MaxBlob {
		return nil, tooLarge()
	}
	opened, err := lists.Open(blob)
	if !minisign.Verify(s.key.key, blob, s.Text) {
		return nil, s.mismatch(opened, err)
	}
	if err != nil {
		return nil, openError(err)
	}
	if opened.Version() != s.Version {
		return nil, refuse(BadSignature, fmt.Sprintf("the signature is for the version %s, but the lists are %s: sign them again", s.Version, opened.Version()))
	}
	return &Release{s, blob, opened}, nil
}

func tooLarge() error {
	return refuse(TooLarge, fmt.Sprintf("the lists are larger than %d MiB", MaxBlob>>20))
}

// mismatch says why blob is not what was signed, as far as opening it shows.
func (s Signature) mismatch(opened *lists.Lists, err error) error {
	switch {
	case err != nil:
		return refuse(Damaged, "the lists are not those that were signed: "+strings.TrimPrefix(err.Error(), "lists: "))
	case opened.Version() != s.Version:
		return refuse(BadSignature, fmt.Sprintf("the signature is for the lists %s, not for %s: fetch both files again", s.Version, opened.Version()))
	default:
		return refuse(BadSignature, "the signature is wrong: the lists "+s.Version+" are not those that were signed")
	}
}

// openError converts an error of lists.Open to one with a reason.
func openError(err error) error {
	reason := Damaged
	if errors.As(err, new(*lists.VersionError)) {
		reason = OtherFormat
	}
	return refuse(reason, strings.TrimPrefix(err.Error(), "lists: "))
}

// Key returns the public key that verified the signature.
func (s Signature) Key() PublicKey { return s.key }
