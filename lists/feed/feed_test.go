package feed_test

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"

	"github.com/addrspec/addrspec/lists"
	"github.com/addrspec/addrspec/lists/feed"
	"github.com/addrspec/addrspec/lists/feed/feedtest"
)

// signed is the time of most signatures.
var signed = time.Unix(1795372800, 0)

func blob(t testing.TB) []byte {
	t.Helper()
	blob, err := os.ReadFile("../lists.blob")
	require.NoError(t, err)
	return blob
}

// requireReason requires a refusal for this reason, with these words.
func requireReason(t testing.TB, err error, reason feed.Reason, words string) {
	t.Helper()
	var refusal *feed.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, reason, refusal.Reason, err)
	require.ErrorContains(t, err, words)
	require.Contains(t, feed.Reasons, reason)
}

func TestSignAndOpen(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	made := feedtest.Sign(t, secret, b, signed)
	key, err := feed.ParsePublicKey(secret.Public().String())
	require.NoError(t, err)
	signature, err := key.Parse(made.Text)
	require.NoError(t, err)
	release, err := signature.Open(b)
	require.NoError(t, err)
	require.Equal(t, lists.Default().Version(), release.Version)
	require.True(t, signed.Equal(release.Signed))
	require.Equal(t, 30*24*time.Hour, release.Expires.Sub(release.Signed))
	require.Equal(t, "addrspec lists version:"+release.Version+" signed:1795372800 expires:1797964800", release.Statement.String())
}

// A byte that differs anywhere in the blob or its signature is refused, but for
// the untrusted comment, which nothing uses.
func TestEveryChangedByteIsRefused(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	made := feedtest.Sign(t, secret, b, signed)
	for at := 0; at < len(b); at += 4099 {
		changed := bytes.Clone(b)
		changed[at] ^= 4
		_, err := made.Open(changed)
		require.Error(t, err, at)
	}
	untrusted := bytes.IndexByte(made.Text, '\n')
	for at := untrusted; at < len(made.Text)-1; at++ {
		changed := bytes.Clone(made.Text)
		changed[at] ^= 4
		signature, err := secret.Public().Parse(changed)
		if err == nil {
			_, err = signature.Open(b)
		}
		require.Error(t, err, "byte %d of %q", at, made.Text)
	}
}

func TestRefusedBlobs(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	made := feedtest.Sign(t, secret, b, signed)
	flipped := bytes.Clone(b)
	flipped[len(b)/2] ^= 1
	for _, c := range []struct {
		name   string
		blob   []byte
		reason feed.Reason
		words  string
	}{
		{"a flipped bit", flipped, feed.Damaged, "its checksum does not match"},
		{"half of it", b[:len(b)/2], feed.Damaged, "damaged"},
		{"nothing", nil, feed.Damaged, "it ends within its header"},
		{"a page of an error", []byte("<html>not found, sorry, nothing here</html>"), feed.Damaged, "does not begin with"},
		{"another blob", feedtest.Dated(b, "2027.01.01"), feed.BadSignature, "not for 2027.01.01"},
		{"another format", feedtest.OtherFormat(b), feed.Damaged, "update the program"},
		{"too large", make([]byte, feed.MaxBlob+1), feed.TooLarge, "larger than 4 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := made.Open(c.blob)
			requireReason(t, err, c.reason, c.words)
		})
	}
}

// What is signed properly, but not by Sign.
func TestRefusedStatements(t *testing.T) {
	public, private, err := minisign.GenerateKey(nil)
	require.NoError(t, err)
	key, err := feed.ParsePublicKey(public.String())
	require.NoError(t, err)
	version := lists.Default().Version()
	open := func(b []byte, comment string) error {
		r := minisign.NewReader(bytes.NewReader(b))
		_, err := new(bytes.Buffer).ReadFrom(r)
		require.NoError(t, err)
		signature, err := key.Parse(r.SignWithComments(private, comment, "x"))
		if err == nil {
			_, err = signature.Open(b)
		}
		return err
	}
	good := "addrspec lists version:" + version + " signed:1795372800 expires:1797964800"
	require.NoError(t, open(blob(t), good))
	for _, comment := range []string{
		"", "timestamp:1795372800\tfile:lists.blob\thashed", good + " ", " " + good, good + "\t", "A" + good[1:],
		strings.Replace(good, " signed", "  signed", 1),
		strings.Replace(good, "signed:1795372800 expires:1797964800", "expires:1797964800 signed:1795372800", 1),
		strings.Replace(good, ":1795372800", ":+1795372800", 1),
		strings.Replace(good, ":1795372800", ":01795372800", 1),
		strings.Replace(good, ":1795372800", ":1795372800.5", 1),
		strings.Replace(good, ":1797964800", ":1797964800000000", 1),
		strings.Replace(good, ":1797964800", ":1795372800", 1), // expires when it is signed
		strings.Replace(good, version, "v1", 1),
	} {
		requireReason(t, open(blob(t), comment), feed.BadSignature, "sign")
	}
	requireReason(t, open(blob(t), strings.Replace(good, version, "2026.11.22-00000000", 1)), feed.BadSignature, "is for the version")
	requireReason(t, open(feedtest.OtherFormat(blob(t)), good), feed.OtherFormat, "update the program")
	requireReason(t, open([]byte("not lists"), good), feed.Damaged, "header")
	b := blob(t)
	legacy := minisign.SignWithComments(private, b, good, "x")
	_, err = key.Parse(legacy)
	requireReason(t, err, feed.BadSignature, "sign without -l")
}

func TestRefusedSignatures(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	made := feedtest.Sign(t, secret, b, signed)
	text := string(made.Text)
	lines := strings.SplitAfter(text, "\n")
	for _, c := range []struct {
		name, text string
		reason     feed.Reason
		words      string
	}{
		{"nothing", "", feed.BadSignature, "not one of minisign"},
		{"a page", "<!doctype html>\n<title>404</title>\n\n\n", feed.BadSignature, "not one of minisign"},
		{"two lines", lines[0] + lines[1], feed.BadSignature, "not one of minisign"},
		{"no comment", lines[0] + lines[1] + lines[3] + lines[2], feed.BadSignature, "not one of minisign"},
		{"unused bits", unusedBits(text), feed.BadSignature, "illegal base64"},
		{"a line within", text[:len(text)-9] + "\n" + text[len(text)-9:], feed.BadSignature, "four lines"},
		{"an empty line", text + "\n", feed.BadSignature, "four lines"},
		{"more after it", text + "x\n", feed.BadSignature, "not one of minisign"},
		{"other times", strings.Replace(text, "expires:17", "expires:27", 1), feed.BadSignature, "trusted comment is wrong"},
		{"too large", text + strings.Repeat("\n", feed.MaxSignature), feed.TooLarge, "4 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := secret.Public().Parse([]byte(c.text))
			requireReason(t, err, c.reason, c.words)
		})
	}
	other := feedtest.Key(t).Public()
	_, err := other.Parse(made.Text)
	requireReason(t, err, feed.OtherKey, other.ID())
	require.ErrorContains(t, err, secret.Public().ID())
}

// unusedBits sets a bit that base64 does not use, in the character before "==".
func unusedBits(text string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	last := len(text) - len("x==\n")
	return text[:last] + string(digits[strings.IndexByte(digits, text[last])|1]) + text[last+1:]
}

// Lines may end as on Windows.
func TestCarriageReturns(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	made := feedtest.Sign(t, secret, b, signed)
	signature, err := secret.Public().Parse([]byte(strings.ReplaceAll(string(made.Text), "\n", "\r\n")))
	require.NoError(t, err)
	_, err = signature.Open(b)
	require.NoError(t, err)
}

// A key with the ID of another one does not verify its signatures.
func TestKeyWithTheIDOfAnother(t *testing.T) {
	secret := feedtest.Key(t)
	made := feedtest.Sign(t, secret, blob(t), signed)
	mine, err := base64.StdEncoding.DecodeString(secret.Public().String())
	require.NoError(t, err)
	other, err := base64.StdEncoding.DecodeString(feedtest.Key(t).Public().String())
	require.NoError(t, err)
	copy(other[2:10], mine[2:10])
	forged, err := feed.ParsePublicKey(base64.StdEncoding.EncodeToString(other))
	require.NoError(t, err)
	_, err = forged.Parse(made.Text)
	requireReason(t, err, feed.BadSignature, "is wrong")
}

func TestFresh(t *testing.T) {
	s := feed.Statement{Version: "2026.11.22-1a2b3c4d", Signed: signed, Expires: signed.Add(time.Hour)}
	require.NoError(t, s.Fresh(signed))
	require.NoError(t, s.Fresh(s.Expires.Add(-1)))
	requireReason(t, s.Fresh(s.Expires), feed.Expired, "expired on 2026-11-22 19:40:00 UTC")
	require.NoError(t, s.Fresh(signed.Add(-24*time.Hour)))
	requireReason(t, s.Fresh(signed.Add(-24*time.Hour-1)), feed.NotYet, "in the future")
}

func TestSupersedes(t *testing.T) {
	s := feed.Statement{Version: "2026.11.22-1a2b3c4d", Signed: signed}
	for _, c := range []struct {
		used  feed.InUse
		newer bool
		older bool
	}{
		{feed.InUse{"2026.11.21-00000000", time.Time{}}, true, false},
		{feed.InUse{"2026.11.22-00000000", time.Time{}}, true, false}, // the same day: it adds a signature
		{feed.InUse{"2026.11.23-00000000", time.Time{}}, false, true},
		{feed.InUse{"2026.11.20-00000000", signed.Add(-time.Second)}, true, false},
		{feed.InUse{"2026.11.25-00000000", signed.Add(-time.Second)}, true, false}, // the operator signed an older blob
		{feed.InUse{"2026.11.22-1a2b3c4d", signed}, false, false},
		{feed.InUse{"2026.11.20-00000000", signed.Add(time.Second)}, false, true},
	} {
		newer, err := s.Supersedes(c.used)
		require.Equal(t, c.newer, newer, c.used)
		if c.older {
			requireReason(t, err, feed.Older, c.used.Version)
		} else {
			require.NoError(t, err)
		}
	}
}

func TestParsePublicKey(t *testing.T) {
	secret := feedtest.Key(t)
	public := secret.Public()
	secretFile, err := secret.File("")
	require.NoError(t, err)
	secretLine := strings.Split(string(secretFile), "\n")[1]
	for _, text := range []string{public.String(), " " + public.String() + "\n", string(public.File()), strings.ReplaceAll(string(public.File()), "\n", "\r\n")} {
		got, err := feed.ParsePublicKey(text)
		require.NoError(t, err)
		require.Equal(t, public.String(), got.String())
	}
	for _, text := range []string{"", "RW", public.String()[1:], "AA" + public.String()[2:], secretLine, string(secretFile), "lists.pub"} {
		_, err := feed.ParsePublicKey(text)
		require.ErrorContains(t, err, "key")
		require.NotContains(t, err.Error(), secretLine)
	}
	_, err = feed.ParsePublicKey(string(secretFile))
	require.ErrorContains(t, err, "secret key")
	require.True(t, feed.IsKey(public.String()))
	require.True(t, feed.IsKey(secretLine), "a secret key is never a file's name, which errors would print")
	require.False(t, feed.IsKey("lists.pub"))
}

func TestSecretKeyFile(t *testing.T) {
	secret := feedtest.Key(t)
	never := func() (string, error) { return "", errors.New("asked for a password") }
	file, err := secret.File("")
	require.NoError(t, err)
	got, err := feed.ParseSecretKey(file, never)
	require.NoError(t, err)
	require.Equal(t, secret.Public().String(), got.Public().String())
	for _, text := range []string{"", string(secret.Public().File()), string(file[:60]), "untrusted comment: x\n" + strings.Repeat("A", 5000)} {
		_, err := feed.ParseSecretKey([]byte(text), never)
		require.ErrorContains(t, err, "not a secret key")
	}
}

func TestSecretKeyWithPassword(t *testing.T) {
	secret := feedtest.Key(t)
	requirePassword(t, secret, lightly(t, secret, "correct horse"), "correct horse")
}

// File encrypts a key as minisign does, which by design takes seconds and 1 GiB of
// memory each time.
func TestSecretKeyFileWithPassword(t *testing.T) {
	if os.Getenv("ADDRSPEC_ALL") == "" {
		t.Skip("left to ./build.sh test all: takes 1 GiB of memory")
	}
	secret := feedtest.Key(t)
	file, err := secret.File("correct horse")
	require.NoError(t, err)
	requirePassword(t, secret, file, "correct horse")
}

// requirePassword requires that only password decrypts the file of a secret key.
func requirePassword(t *testing.T, secret feed.SecretKey, file []byte, password string) {
	t.Helper()
	_, err := feed.ParseSecretKey(file, func() (string, error) { return "not " + password, nil })
	require.ErrorContains(t, err, "password is wrong")
	got, err := feed.ParseSecretKey(file, func() (string, error) { return password, nil })
	require.NoError(t, err)
	require.Equal(t, secret.Public().String(), got.Public().String())
	_, err = feed.ParseSecretKey(file, func() (string, error) { return "", errors.New("no terminal") })
	require.ErrorContains(t, err, "no terminal")
}

// lightly encrypts a secret key as minisign does, but with the least parameters of
// scrypt that its format has: 1 MiB of memory. See "Secret key format" in
// https://jedisct1.github.io/minisign/.
func lightly(t *testing.T, secret feed.SecretKey, password string) []byte {
	t.Helper()
	plain, err := secret.File("")
	require.NoError(t, err)
	comment, text, _ := strings.Cut(string(plain), "\n")
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	require.NoError(t, err)
	copy(key[2:], "Sc")                            // kdf_algorithm; the salt remains zero
	binary.LittleEndian.PutUint64(key[38:], 1<<15) // kdf_opslimit
	binary.LittleEndian.PutUint64(key[46:], 1<<20) // kdf_memlimit
	sum := blake2b.Sum256(append([]byte("Ed"), key[54:126]...))
	copy(key[126:], sum[:])
	stream, err := scrypt.Key([]byte(password), key[6:38], 1<<10, 8, 1, 104)
	require.NoError(t, err)
	subtle.XORBytes(key[54:], key[54:], stream)
	return []byte(comment + "\n" + base64.StdEncoding.EncodeToString(key) + "\n")
}

func TestSignRefuses(t *testing.T) {
	secret, b := feedtest.Key(t), blob(t)
	_, err := secret.Sign(b[:100], signed, signed.Add(time.Hour))
	requireReason(t, err, feed.Damaged, "damaged")
	_, err = secret.Sign(feedtest.OtherFormat(b), signed, signed.Add(time.Hour))
	requireReason(t, err, feed.OtherFormat, "format")
	_, err = secret.Sign(b, signed, signed)
	require.ErrorContains(t, err, "expire before")
}

func TestSummary(t *testing.T) {
	release := feedtest.Sign(t, feedtest.Key(t), feedtest.Dated(blob(t), "2026.12.01"), signed)
	s := release.Summary()
	require.Equal(t, "2026-12-01", s.Date)
	require.Equal(t, len(release.Blob), s.Size)
	require.True(t, signed.Equal(*s.Signed))
	require.Len(t, s.Counts, len(feed.CountNames))
	for name, n := range s.Counts {
		require.Positive(t, n, name)
	}
	require.Nil(t, feed.DescribeBuiltIn().Signed)
	published := s.Sources[len(s.Sources)-1]
	require.NotEmpty(t, published.Version)
	require.NotEmpty(t, published.Licence)
	require.Positive(t, published.Domains)
}

// Nothing that is parsed panics, and what is accepted has one spelling.
func FuzzParseSignature(f *testing.F) {
	public, private, err := minisign.GenerateKey(nil)
	require.NoError(f, err)
	key, err := feed.ParsePublicKey(public.String())
	require.NoError(f, err)
	b := blob(f)
	f.Add(minisign.SignWithComments(private, b, "addrspec lists version:2026.11.22-1a2b3c4d signed:1 expires:2", "x"))
	secret := feedtest.Key(f)
	f.Add(feedtest.Sign(f, secret, b, signed).Text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if statement, err := feed.ReadStatement(text); err == nil {
			require.Contains(t, string(text), statement.String())
		}
		_, err := key.Parse(text)
		require.Error(t, err, "nobody can sign for this key")
	})
}

func FuzzParsePublicKey(f *testing.F) {
	public := feedtest.Key(f).Public()
	f.Add(string(public.File()))
	f.Add(public.String()[:20] + "\r" + public.String()[20:])
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := feed.ParsePublicKey(text); err == nil {
			require.Contains(t, strings.ReplaceAll(text, "\r", ""), key.String())
		}
	})
}

func FuzzParseSecretKey(f *testing.F) {
	file, err := feedtest.Key(f).File("")
	require.NoError(f, err)
	f.Add(file)
	f.Fuzz(func(t *testing.T, text []byte) {
		refuse := errors.New("encrypted")
		_, err := feed.ParseSecretKey(text, func() (string, error) { return "", refuse })
		_ = err // any error will do, but no panic
	})
}
