package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// securityTxt serves GET /.well-known/security.txt in the media type that RFC 9116
// section 3 requires, or 404 if no contact is configured.
func (s *Server) securityTxt(r *http.Request) response {
	if s.SecurityTxt == nil || len(s.SecurityTxt.Contacts) == 0 {
		return s.notFound(r)
	}
	return response{status: http.StatusOK, body: s.SecurityTxt.Text(time.Now()), contentType: "text/plain; charset=utf-8"}
}

// SecurityTxtPath is where the file is served (RFC 9116 section 3).
const SecurityTxtPath = "/.well-known/security.txt"

// maxContacts is how many contacts a file may have. RFC 9116 has no limit.
const maxContacts = 10

const maxURI = 1000

// A SecurityTxt is the content of a security.txt.
type SecurityTxt struct {
	Contacts  []string // URIs, the preferred one first
	Policy    string   // a URI, or ""
	Canonical string   // where the file is, or ""
	Languages string   // language tags separated by commas, or ""
}

// Check returns an error for what RFC 9116 does not allow.
func (f *SecurityTxt) Check() error {
	if len(f.Contacts) == 0 {
		if f.Policy != "" || f.Languages != "" {
			return errors.New("--security-policy and --security-languages need --security-contact, which security.txt must have (RFC 9116 section 2.5.3)")
		}
		return nil
	}
	if len(f.Contacts) > maxContacts {
		return fmt.Errorf("--security-contact is given %d times: must be at most %d times", len(f.Contacts), maxContacts)
	}
	errs := []error{checkPolicy(f.Policy), checkLanguages(f.Languages)}
	for _, contact := range f.Contacts {
		errs = append(errs, checkContact(contact))
	}
	return errors.Join(errs...)
}

// checkContact accepts mailto:, tel: and https: (RFC 9116 section 2.5.3).
func checkContact(text string) error {
	u, err := url.Parse(text)
	if err == nil && printable(text) {
		switch u.Scheme {
		case "https":
			err = checkWeb(u)
		case "mailto":
			_, err = mail.ParseAddress(u.Opaque)
		case "tel":
			err = checkPhone(u.Opaque)
		default:
			err = errors.New("another scheme")
		}
	}
	if err != nil || !printable(text) {
		return fmt.Errorf("--security-contact %q must be a URI such as mailto:security@addrspec.example, https://addrspec.example/report or tel:+1-201-555-0123", text)
	}
	return nil
}

func checkPolicy(text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && u.Scheme == "https" && checkWeb(u) == nil && printable(text) {
		return nil
	}
	return fmt.Errorf("--security-policy %q must be an https URI such as https://addrspec.example/security", text)
}

func checkWeb(u *url.URL) error {
	if u.Hostname() == "" || u.User != nil {
		return errors.New("no host")
	}
	return nil
}

// checkPhone accepts a global number (RFC 3966 section 3).
func checkPhone(number string) error {
	digits, ok := strings.CutPrefix(number, "+")
	if !ok || !strings.ContainsAny(digits, "0123456789") || strings.Trim(digits, "0123456789-.()") != "" {
		return errors.New("not a global number")
	}
	return nil
}

// checkLanguages accepts tags such as en and pt-BR (RFC 5646).
func checkLanguages(list string) error {
	if list == "" {
		return nil
	}
	for tag := range strings.SplitSeq(list, ",") {
		if _, err := language.Parse(strings.TrimSpace(tag)); err != nil {
			return fmt.Errorf("--security-languages %q must be language tags separated by commas, such as en,de", list)
		}
	}
	return nil
}

// printable reports whether a URI is short and printable ASCII, so that it stays on
// its line (RFC 3986 section 2).
func printable(uri string) bool {
	return len(uri) <= maxURI && !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Text returns the file at a time.
func (f *SecurityTxt) Text(now time.Time) []byte {
	var text []byte
	field := func(name, value string) {
		if value != "" {
			text = fmt.Appendf(text, "%s: %s\r\n", name, value)
		}
	}
	for _, contact := range f.Contacts {
		field("Contact", contact)
	}
	field("Expires", securityTxtExpires(now).Format(time.RFC3339))
	field("Preferred-Languages", f.Languages)
	field("Canonical", f.Canonical)
	field("Policy", f.Policy)
	return text
}

// securityTxtExpires returns the beginning of the month that is six months away: all replicas
// write the same, and it is less than a year (RFC 9116 section 2.5.5).
func securityTxtExpires(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()+6, 1, 0, 0, 0, 0, time.UTC)
}
