package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const longestSecurityTxt = 32 << 10

// loadSecurityTxt reads the file of --security-txt, if there is one. The file must have the two fields that
// RFC 9116 requires (sections 2.5.3 and 2.5.5). The log has a warning if the file expires within 30 days,
// because readers should not use it afterwards.
func (s *Service) loadSecurityTxt(context.Context) error {
	if s.SecurityTxt == "" {
		return nil
	}
	text, err := ReadStart(s.SecurityTxt, longestSecurityTxt+1)
	if err != nil {
		return fmt.Errorf("--security-txt: %w", err)
	}
	contact, expires := "", ""
	for line := range strings.Lines(text) {
		switch name, value, _ := strings.Cut(line, ":"); strings.ToLower(name) {
		case "contact":
			contact = strings.TrimSpace(value)
		case "expires":
			expires = strings.TrimSpace(value)
		}
	}
	at, malformed := time.Parse(time.RFC3339, expires)
	switch {
	case len(text) > longestSecurityTxt:
		err = fmt.Errorf("has more than %s", ByteSize(longestSecurityTxt))
	case !utf8.ValidString(text):
		err = errors.New("is not UTF-8")
	case contact == "":
		err = errors.New("has no line 'Contact: URI', such as Contact: mailto:security@addrspec.example")
	case malformed != nil:
		err = errors.New("has no line 'Expires: TIME', such as Expires: 2027-05-01T00:00:00Z")
	}
	if err != nil {
		return fmt.Errorf("--security-txt %s %w (RFC 9116)", s.SecurityTxt, err)
	}
	if time.Until(at) < 30*24*time.Hour {
		s.log.Warn("security.txt has expired or will soon: write a later Expires into the file, and send SIGHUP",
			"security_txt_file", s.SecurityTxt, "expires", at.Format(time.RFC3339))
	}
	bytes := []byte(text)
	s.api.SecurityTxt.Store(&bytes)
	return nil
}
