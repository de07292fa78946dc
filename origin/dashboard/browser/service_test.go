package browser

import (
	"bufio"
	"io"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/identity"
	"github.com/addrspec/addrspec/origin/ledger"
	"github.com/addrspec/addrspec/origin/ledger/book"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/mxtest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

// zone is what the resolver of the tests knows.
const zone = `
example.com. MX 10 mail.example.com.
mail.example. MX 10 mail.example.com.
mail.example.com. A 192.0.2.1
`

// A service is a running "addrspec serve".
type service struct {
	database string
	url      string // http://localhost:PORT, as the printed links have it
	host     string // HOST:PORT
	link     string // of the demo account, with --demo
}

// serve starts the command on a database, and ends it with the test.
func serve(t testing.TB, database string, flags ...string) *service {
	t.Helper()
	flags = append([]string{"--dns", mxtest.Start(t, zone), "--log", "text"}, flags...)
	cmd := command(t, origintest.ServeArgs(t, database, flags...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { stop(t, cmd) })
	s := &service{database: database}
	s.read(t, out, strings.Contains(strings.Join(flags, " "), "--demo"))
	return s
}

func stop(t testing.TB, cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	require.NoError(t, cmd.Wait())
}

var (
	addressLine = regexp.MustCompile(`listens on http://(\S+)`)
	linkLine    = regexp.MustCompile(`^\s*(http://\S+/link/\S+)$`)
)

// read reads what the service prints, up to the link if there will be one.
func (s *service) read(t testing.TB, out io.Reader, link bool) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for (s.host == "" || link && s.link == "") && lines.Scan() {
		if found := addressLine.FindStringSubmatch(lines.Text()); found != nil {
			s.host = found[1]
			_, port, _ := strings.Cut(s.host, ":")
			s.url = "http://localhost:" + port
		}
		if found := linkLine.FindStringSubmatch(lines.Text()); found != nil {
			s.link = found[1]
		}
	}
	require.NotEmpty(t, s.host, "the service did not start")
	require.Equal(t, link, s.link != "", "the link")
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// account creates an account and returns a link that signs in to it.
func (s *service) account(t testing.TB, email string, operator bool) (link string) {
	t.Helper()
	l := ledgertest.Open(t, s.database)
	a, err := l.CreateAccount(t.Context(), email, book.Terms{Plan: "pro"})
	require.NoError(t, err)
	require.NoError(t, identity.New(l).SetOperator(t.Context(), a.ID, operator))
	return s.linkTo(t, l, a.ID)
}

// linkTo returns a link that signs in to an account.
func (s *service) linkTo(t testing.TB, l *ledger.Ledger, account int64) string {
	t.Helper()
	token, err := identity.New(l).CreateLink(t.Context(), account)
	require.NoError(t, err)
	return s.url + "/link/" + url.PathEscape(token)
}
