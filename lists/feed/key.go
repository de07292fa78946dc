package feed

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"aead.dev/minisign"
)

// PublicKey verifies signatures. Its zero value is no key.
type PublicKey struct {
	key minisign.PublicKey
	set bool
}

// The decoded sizes of minisign's keys.
const (
	publicKeySize = 2 + 8 + ed25519.PublicKeySize // algorithm, key ID, key
	secretKeySize = 158
)

// ParsePublicKey parses minisign's base64 line, or the text of a .pub file, which
// has a comment line before it.
func ParsePublicKey(text string) (PublicKey, error) {
	line := lastLine(text)
	switch len(decoded(line)) {
	case publicKeySize:
	case secretKeySize:
		return PublicKey{}, refuse(BadSignature, "this is a secret key: keep it where lists are signed, and give the public key, which the .pub file has")
	default:
		return PublicKey{}, refuse(BadSignature, "this is not a public key of minisign: give the base64 line that begins with RW, or a .pub file; addrspec lists keygen makes a key pair")
	}
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(line)); err != nil {
		return PublicKey{}, refuse(BadSignature, "this is not an Ed25519 public key of minisign")
	}
	return PublicKey{key, true}, nil
}

// IsKey reports whether text is the base64 line of a public or a secret key.
func IsKey(text string) bool {
	n := len(decoded(strings.TrimSpace(text)))
	return n == publicKeySize || n == secretKeySize
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func decoded(text string) []byte {
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

// IsZero reports whether there is no key.
func (k PublicKey) IsZero() bool { return !k.set }

// String returns the base64 line.
func (k PublicKey) String() string { return k.key.String() }

// File returns the text of a .pub file.
func (k PublicKey) File() []byte {
	text, _ := k.key.MarshalText() // never an error
	return append(text, '\n')
}

// ID returns the key's ID, 16 hexadecimal digits. minisign omits leading zeros.
func (k PublicKey) ID() string { return keyID(k.key.ID()) }

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// SecretKey makes signatures.
type SecretKey struct{ key minisign.PrivateKey }

// GenerateKey makes a key pair.
func GenerateKey() (PublicKey, SecretKey, error) {
	public, secret, err := minisign.GenerateKey(nil)
	return PublicKey{public, true}, SecretKey{secret}, err
}

// File returns the text of minisign's secret key file. An empty password leaves
// the key unencrypted, as minisign -W does. Encrypting it takes seconds and
// 1 GiB of memory, which makes passwords slow to guess.
func (k SecretKey) File(password string) ([]byte, error) {
	text, err := k.key.MarshalText()
	if password != "" {
		text, err = minisign.EncryptKey(password, k.key)
	}
	return append(text, '\n'), err
}

// ParseSecretKey parses a secret key file. It calls password only if the key is
// encrypted.
func ParseSecretKey(file []byte, password func() (string, error)) (SecretKey, error) {
	text := []byte(lastLine(string(file)))
	if len(file) > MaxKey || len(decoded(string(text))) != secretKeySize {
		return SecretKey{}, refuse(BadSignature, "this is not a secret key of minisign: addrspec lists keygen makes a key pair")
	}
	if !minisign.IsEncrypted(text) {
		var key minisign.PrivateKey
		err := key.UnmarshalText(text)
		return SecretKey{key}, err
	}
	given, err := password()
	if err != nil {
		return SecretKey{}, err
	}
	key, err := minisign.DecryptKey(given, text)
	if err != nil {
		return SecretKey{}, refuse(OtherKey, "the password is wrong, or the secret key is damaged")
	}
	return SecretKey{key}, nil
}

// Public returns the public key.
func (k SecretKey) Public() PublicKey { return PublicKey{k.key.Public().(minisign.PublicKey), true} }

// Sign signs a blob. It returns an error unless blob is a blob that every
// program accepts until expires.
func (k SecretKey) Sign(blob []byte, signed, expires time.Time) (*Release, error) {
	opened, err := open(blob)
	if err != nil {
		return nil, err
	}
	if !expires.After(signed) {
		return nil, fmt.Errorf("the signature would expire before it is made: give a time after %s", signed.Format(time.DateTime))
	}
	text, err := k.sign(blob, Statement{opened.Version(), signed, expires}.String(), "signature of addrspec's lists")
	if err != nil {
		return nil, err
	}
	signature, err := k.Public().Parse(text)
	if err != nil {
		return nil, err
	}
	return &Release{signature, blob, opened}, nil
}

// SignFile returns the signature of a file that is not a blob, such as the sums of a
// release. comment, one line, is its trusted comment. It must not look like that of a
// blob or of changes, which begin with "addrspec lists" and "addrspec changes".
func (k SecretKey) SignFile(content []byte, comment string) ([]byte, error) {
	ours := strings.HasPrefix(comment, "addrspec lists") || strings.HasPrefix(comment, changesComment)
	if ours || strings.ContainsAny(comment, "\r\n") {
		return nil, fmt.Errorf("%q cannot be the trusted comment of a file", comment)
	}
	return k.sign(content, comment, "signature of an addrspec release")
}

func (k SecretKey) sign(content []byte, trusted, untrusted string) ([]byte, error) {
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	return r.SignWithComments(k.key, trusted, untrusted), nil
}
