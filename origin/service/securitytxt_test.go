package service

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/rig/origintest"
	"github.com/addrspec/addrspec/origin/service/logging"
)

func TestLoadSecurityTxt(t *testing.T) {
	const contact = "Contact: mailto:security@addrspec.example\r\n"
	in := func(days int) string {
		return "Expires: " + time.Now().AddDate(0, 0, days).Format(time.RFC3339) + "\r\n"
	}
	expires := in(180)
	for name, c := range map[string]struct {
		text   string
		err    string
		warned bool
	}{
		"smallest":              {text: contact + expires},
		"names in any case":     {text: "# ours\ncontact:https://addrspec.example/report\nEXPIRES: 2199-05-01T02:00:00+02:00"},
		"signed":                {text: "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + contact + expires},
		"largest":               {text: contact + expires + strings.Repeat("#", longestSecurityTxt-len(contact+expires))},
		"32 days left":          {text: contact + in(32)},
		"28 days left":          {text: contact + in(28), warned: true},
		"expired":               {text: contact + in(-1), warned: true},
		"too long":              {text: contact + expires + strings.Repeat("#", longestSecurityTxt), err: "has more than 32 KiB"},
		"not UTF-8":             {text: contact + expires + "\xff", err: "is not UTF-8"},
		"empty":                 {err: "has no line 'Contact: URI'"},
		"empty contact":         {text: "Contact: \r\n" + expires, err: "has no line 'Contact: URI'"},
		"contact in a comment":  {text: "# " + contact + expires, err: "has no line 'Contact: URI'"},
		"no expiry":             {text: contact, err: "has no line 'Expires: TIME'"},
		"malformed expiry":      {text: contact + "Expires: 1 May 2027", err: "has no line 'Expires: TIME'"},
		"expiry without a time": {text: contact + "Expires: 2027-05-01", err: "has no line 'Expires: TIME'"},
	} {
		file := filepath.Join(t.TempDir(), "security.txt")
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		var log origintest.Log
		s := &Service{Config: &Config{SecurityTxt: file}, api: new(api.Server), log: &logging.Log{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
		err := s.loadSecurityTxt(t.Context())
		if c.err != "" {
			require.ErrorContains(t, err, "--security-txt "+file+" "+c.err, name)
			require.Nil(t, s.api.SecurityTxt.Load(), name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.text, string(*s.api.SecurityTxt.Load()), name)
		require.Equal(t, c.warned, log.Contains("has expired or will soon"), "%s: %s", name, log.String())
	}
}
