package feed

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/addrspec/addrspec/lists"
)

// SecretKey makes signatures.
type SecretKey struct{ key minisign.PrivateKey }

// GenerateKey makes a key pair.
func GenerateKey() (PublicKey, SecretKey, error) {
	public, secret, err := minisign.GenerateKey(nil)
	return PublicKey{public, true}, SecretKey{secret}, err
}

// File returns the text of minisign's secret key file. An empty password leaves
// the key unencrypted, as minisign -W does. Encrypting it takes seconds and
// 1 GiB of memory, as minisign's own does: it makes passwords slow to guess.
func (k SecretKey) File(password string) ([]byte, error) {
	if password == "" {
		text, err := k.key.MarshalText()
		return append(text, '\n'), err
	}
	text, err := minisign.EncryptKey(password, k.key)
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
	opened, err := lists.Open(blob)
	if err != nil {
		return nil, openError(err)
	}
	s := Statement{opened.Version(), signed, expires}
	if !expires.After(signed) {
		return nil, fmt.Errorf("the signature would expire before it is made: give a time after %s", signed.Format(time.DateTime))
	}
	r := minisign.NewReader(bytes.NewReader(blob))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	signature, err := k.Public().Parse(r.SignWithComments(k.key, s.String(), "signature of addrspec's lists"))
	if err != nil {
		return nil, err
	}
	return signature.Open(blob)
}

// SignFile returns the signature of a file that is not a blob, such as the sums of a
// release. comment, one line, is its trusted comment. It must not look like that of a
// blob, which begins with "addrspec lists".
func (k SecretKey) SignFile(content []byte, comment string) ([]byte, error) {
	if strings.ContainsAny(comment, "\r\n") || strings.HasPrefix(comment, "addrspec lists") {
		return nil, fmt.Errorf("%q cannot be the trusted comment of a file", comment)
	}
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	return r.SignWithComments(k.key, comment, "signature of an addrspec release"), nil
}
