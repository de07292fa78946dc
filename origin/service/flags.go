package service

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A UsageError is an error of the command line. It sets the exit code 2, as a
// flag that does not parse does.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e UsageError) Unwrap() error { return e.Err }

// An ExitError is an error with an exit code of its own.
type ExitError struct {
	Err  error
	Code int
}

func (e ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the code.
func (e ExitError) Unwrap() error { return e.Err }

// CheckTime returns an error if the time of a flag is too short to be useful, or so
// long that it would only keep connections and memory from other requests.
func CheckTime(flag string, t time.Duration) error {
	return checkTimeIn(flag, t, 10*time.Millisecond, 5*time.Minute)
}

func checkTimeIn(flag string, t, least, most time.Duration) error {
	if t < least || t > most {
		return fmt.Errorf("%s %s: must be from %s to %s", flag, t, least, most)
	}
	return nil
}

// CheckNumber returns an error unless 1 <= n <= most.
func CheckNumber(flag string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s %d: must be from 1 to %d", flag, n, most)
	}
	return nil
}

// ByteSize is a flag's number of bytes, such as 64MiB.
type ByteSize int64

// UnmarshalText parses a number with a unit: B, KiB, MiB, GiB, or kB, MB, GB.
func (s *ByteSize) UnmarshalText(text []byte) error {
	bytes, err := humanize.ParseBytes(string(text))
	if err != nil || bytes > math.MaxInt64 {
		return fmt.Errorf("%q is not a size; write it like 64MiB", text)
	}
	*s = ByteSize(bytes)
	return nil
}

func (s ByteSize) String() string { return humanize.IBytes(uint64(s)) }

// EdgeSecrets are the secrets of --edge-secret: the current one and, while workers
// are changed from one secret to the next, the other. Its text is that of the flag,
// a list separated by a comma.
type EdgeSecrets string

// List returns the secrets, none if there is no edge.
func (s EdgeSecrets) List() []string { return splitSecrets(string(s)) }

// Check rejects a secret that can be guessed or that a header cannot contain (RFC
// 9110 section 5.5). Its errors do not contain the secrets.
func (s EdgeSecrets) Check() error {
	return checkSecrets("--edge-secret", s.List(), 16, "workers change")
}

func splitSecrets(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// checkSecrets rejects secrets that can be guessed, or that are not one or two while
// somebody changes from one to the other. Its errors must not contain a secret.
func checkSecrets(flag string, secrets []string, shortest int, change string) error {
	if len(secrets) > 2 {
		return fmt.Errorf("%s has %d secrets: must be one, or two separated by a comma while %s from one to the other", flag, len(secrets), change)
	}
	for n, secret := range secrets {
		which := flag
		if len(secrets) == 2 {
			which += []string{", the first of two,", ", the second of two,"}[n]
		}
		notPrintable := func(r rune) bool { return r < ' ' || r > '~' }
		if strings.TrimSpace(secret) != secret || strings.ContainsFunc(secret, notPrintable) {
			return errors.New(which + " has white space at its start or end, or a character that is not printable ASCII, " +
				"which a header or a file may change: use letters and digits")
		}
		if len(secret) < shortest {
			return fmt.Errorf("%s has %d characters: must be at least %d random ones, such as the output of openssl rand -hex 24",
				which, len(secret), shortest)
		}
	}
	if len(secrets) == 2 && secrets[0] == secrets[1] {
		return fmt.Errorf("%s has the same secret twice: the second is the one that %s to or from", flag, change)
	}
	return nil
}

// ReadStart returns a file's first bytes, because a wrong file may be large.
func ReadStart(path string, most int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most))
	return string(text), err
}

// Release is the commit's short name, set by build.sh at link time.
var Release = "dev"

// Version returns the output of --version: the release and the version of Go.
func Version() string {
	text := "addrspec " + Release
	if info, ok := debug.ReadBuildInfo(); ok {
		text += " (" + info.GoVersion + ")"
	}
	return text
}
