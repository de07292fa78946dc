package api

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"

	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/wasm/host"
)

// readKey returns the API key of X-API-Key or, if that is empty, of
// Authorization: Bearer. It returns a problem for a key that is missing or
// malformed, without a lookup.
func readKey(h http.Header) (key string, p *problem) {
	name := "X-API-Key"
	given, one := singleValue(h, "X-Api-Key")
	if given == "" && one {
		name = "Authorization"
		given, one = singleValue(h, name)
		given = bearer(given)
	}
	key = strings.TrimSpace(given)
	switch {
	case !one:
		return "", invalidKey.with(textManyKeys(name))
	case key == "":
		return "", invalidKey.with(textNoKey)
	case !ledger.WellFormed(key):
		return "", invalidKey.with(textMalformedKey)
	}
	return key, nil
}

// bearer returns the credential of the Bearer scheme, "" for another scheme. Case
// is ignored (RFC 9110 section 11.1).
func bearer(authorization string) string {
	scheme, credential, _ := strings.Cut(strings.TrimSpace(authorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return credential
}

// singleValue returns the value of a field that may have only one, "" if it is
// absent. The name is in canonical form. ok is false if the field is repeated or has a list, which two recipients
// could read differently. A recipient may join repeated fields with commas (RFC
// 9110 section 5.3), so both are treated alike.
func singleValue(h http.Header, name string) (value string, ok bool) {
	switch values := h[name]; len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], !strings.Contains(values[0], ",")
	}
	return "", false
}

// repeatedHeader returns the problem of a field with more than one value.
func repeatedHeader(name string) *problem {
	return invalidRequest.with("The header " + name + " has more than one value; send it once.")
}

// maxRequestID is the length in bytes of the longest caller's id that is used.
const maxRequestID = 128

// requestID returns the caller's id if it is safe in a header and a log line, and
// a new one otherwise.
func requestID(given string) string {
	if given == "" || len(given) > maxRequestID {
		return newRequestID()
	}
	for _, c := range []byte(given) {
		if !isToken(c) {
			return newRequestID()
		}
	}
	return given
}

// newRequestID returns 128 random bits. It is no secret, so it does not ask the system
// for them, as crypto/rand does with a system call.
func newRequestID() string {
	var bits [16]byte
	binary.LittleEndian.PutUint64(bits[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(bits[8:], rand.Uint64())
	var text [26]byte
	unpadded.Encode(text[:], bits[:])
	return string(text[:])
}

var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

func isToken(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' ||
		c == '-' || c == '_' || c == '.' || c == ':'
}

// A caller asks for the evidence behind a result with ?details=true, or with the
// member "details": true of a batch. Both select the module's flag.

// queryDetails returns the flag that the query asks for.
func queryDetails(query string) (flag host.Flags, p *problem) {
	switch value, given := queryValue(query, "details"); {
	case given == 0 || given == 1 && value == "false":
		return 0, nil
	case given == 1 && value == "true":
		return host.Details, nil
	}
	return 0, invalidRequest.with(textWrongDetails)
}

// queryPolicy returns the name of the policy that the query asks for, "" for none.
func queryPolicy(query string) (name string, p *problem) {
	name, given := queryValue(query, "policy")
	if given == 0 || given == 1 && ledger.CheckPolicyName(name) == nil {
		return name, nil
	}
	return "", invalidRequest.with(textWrongPolicy)
}

// queryValue returns the value of a parameter and how often the query has it. Names and
// values are compared as they were sent, without percent-decoding, so that origin and worker
// cannot decode them differently.
func queryValue(query, name string) (value string, given int) {
	for parameter := range strings.SplitSeq(query, "&") {
		if is, of, _ := strings.Cut(parameter, "="); is == name {
			value = of
			given++
		}
	}
	return value, given
}

const (
	headerIdempotency = "Idempotency-Key"
	headerReplayed    = "Idempotency-Replayed"

	maxIdempotencyKey = 255 // bytes
)

// An idempotencyRecord identifies the stored response of a batch in the ledger and
// has the cipher that encrypts it. It depends on the account, not on the API key,
// so it remains valid when API keys are rotated.
//
//	ID    SHA-256(account as 8 bytes, big-endian || Idempotency-Key)
//	Body  HMAC-SHA256(Idempotency-Key, body of the request)
//	aead  see seal.go
//
// The ledger stores neither the Idempotency-Key nor the response in the clear. A
// guessable Idempotency-Key is a guessable secret; see deploy/threats.md.
type idempotencyRecord struct {
	ledger.Idempotency
	aead cipher.AEAD
}

// readIdempotencyKey returns the record for the Idempotency-Key, nil without that
// header.
func readIdempotencyKey(h http.Header, account int64, body []byte) (*idempotencyRecord, *problem) {
	values := h.Values(headerIdempotency)
	if len(values) == 0 || len(values) == 1 && values[0] == "" {
		return nil, nil
	}
	key, one := unquote(values[0])
	switch {
	case !one || len(values) > 1:
		return nil, repeatedHeader(headerIdempotency)
	case key == "":
		return nil, invalidRequest.with("Idempotency-Key is an empty string; use a UUID.")
	case len(key) > maxIdempotencyKey:
		return nil, invalidRequest.with("Idempotency-Key is over 255 bytes; use a UUID.")
	}
	return newIdempotencyRecord(key, account, body)
}

// unquote returns x for both "x", a String (RFC 9651 section 3.3.3), and x. one is
// false for a list; a comma within quotes does not make one.
func unquote(value string) (key string, one bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value, !strings.Contains(value, ",")
	}
	key = value[1 : len(value)-1]
	return key, !strings.Contains(strings.ReplaceAll(key, `\"`, ""), `"`)
}

func newIdempotencyRecord(key string, account int64, body []byte) (*idempotencyRecord, *problem) {
	salt := binary.BigEndian.AppendUint64(nil, uint64(account))
	aead, err := newAEAD(key, salt)
	if err != nil {
		return nil, internalProblem()
	}
	r := &idempotencyRecord{aead: aead}
	r.ID = sha256.Sum256(append(salt, key...))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	mac.Sum(r.Body[:0])
	return r, nil
}

// identity returns the part that the ledger uses, nil for a nil record.
func (r *idempotencyRecord) identity() *ledger.Idempotency {
	if r == nil {
		return nil
	}
	return &r.Idempotency
}

// A stored response is compressed (DEFLATE) and then encrypted with AES-256-GCM
// and a random nonce. The encryption key is HKDF-SHA256(Idempotency-Key, salt =
// account); the additional data is the HMAC of the request's body.

// maxResponse is the largest decompressed size of a stored response, in bytes. Real
// responses are far smaller, since the body of a batch has at most 1 MiB.
const maxResponse = 64 << 20

// newAEAD derives the cipher from the Idempotency-Key (HKDF, RFC 5869).
func newAEAD(key string, salt []byte) (cipher.AEAD, error) {
	secret, err := hkdf.Key(sha256.New, []byte(key), salt, "addrspec stored answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal compresses and encrypts a response for the ledger. It returns nil for a nil
// record.
func (r *idempotencyRecord) seal(resp []byte) []byte {
	if r == nil {
		return nil
	}
	return r.aead.Seal(nil, nil, compress(resp), r.Body[:])
}

var (
	errNoRecord = errors.New("there is a stored response, but the request has no Idempotency-Key")
	errTooBig   = errors.New("the stored response is too big")
)

// open is the inverse of seal.
func (r *idempotencyRecord) open(sealed []byte) ([]byte, error) {
	if r == nil {
		return nil, errNoRecord
	}
	compressed, err := r.aead.Open(nil, nil, sealed, r.Body[:])
	if err != nil {
		return nil, err
	}
	return decompress(compressed, maxResponse)
}

// compressors are reused because a new one takes more than a megabyte.
var compressors = sync.Pool{New: func() any {
	c, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	return c
}}

func compress(plain []byte) []byte {
	var out bytes.Buffer
	c := compressors.Get().(*flate.Writer)
	defer compressors.Put(c)
	c.Reset(&out)
	_, _ = c.Write(plain) // a bytes.Buffer never fails
	_ = c.Close()
	return out.Bytes()
}

// decompress returns errTooBig if the result exceeds limit bytes.
func decompress(compressed []byte, limit int64) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(plain)) > limit:
		return nil, errTooBig
	}
	return plain, nil
}
