package feed

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Statement is what a signature's trusted comment says about the blob.
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

// parseStatement parses a trusted comment.
func parseStatement(comment string) (Statement, error) {
	m := statementForm.FindStringSubmatch(comment)
	if m == nil {
		return Statement{}, refuse(BadSignature, `the signature's trusted comment is not "addrspec lists version:… signed:… expires:…": sign the lists with ./build.sh lists --sign`)
	}
	s := Statement{m[1], seconds(m[2]), seconds(m[3])}
	if !s.Expires.After(s.Signed) {
		return Statement{}, refuse(BadSignature, "the signature expires before it was made: sign the lists again")
	}
	return s, nil
}

// seconds converts at most 12 digits.
func seconds(digits string) time.Time {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return time.Unix(n, 0).UTC()
}

// Fresh returns an error if the statement has expired or is from the future.
func (s Statement) Fresh(now time.Time) error {
	if !now.Before(s.Expires) {
		return refuse(Expired, fmt.Sprintf("the lists %s expired on %s: the feed must be signed again", s.Version, s.Expires.Format(time.DateTime+" UTC")))
	}
	if s.Signed.After(now.Add(clockSlack)) {
		return refuse(NotYet, fmt.Sprintf("the lists %s were signed on %s, which is in the future: set the clock of this machine or of the one that signs", s.Version, s.Signed.Format(time.DateTime+" UTC")))
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
			return false, refuse(Older, fmt.Sprintf("the lists %s are older than %s, which are in use", s.Version, used.Version))
		}
		return true, nil
	}
	if s.Signed.Before(used.Signed) {
		return false, refuse(Older, fmt.Sprintf("the lists %s were signed on %s, before those in use (%s, signed on %s)",
			s.Version, s.Signed.Format(time.DateTime), used.Version, used.Signed.Format(time.DateTime)))
	}
	return s.Signed.After(used.Signed), nil
}

// day returns the day of a version such as 2026.11.22-1a2b3c4d.
func day(version string) string {
	d, _, _ := strings.Cut(version, "-")
	return d
}

// Day returns when the sources of lists were last read, which their version
// begins with.
func Day(version string) (time.Time, error) {
	t, err := time.Parse("2006.01.02", day(version))
	if err != nil {
		return time.Time{}, fmt.Errorf("version %q does not begin with a date: pack the lists again", version)
	}
	return t, nil
}
