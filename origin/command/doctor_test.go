package command

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/rig/contract"
	"github.com/addrspec/addrspec/origin/rig/ledgertest"
	"github.com/addrspec/addrspec/origin/rig/origintest"
)

func emptyLedger(t *testing.T) (database string) {
	database = origintest.NewDatabase(t)
	require.NoError(t, ledgertest.Open(t, database).Close())
	return database
}

func doctorArgs(t *testing.T, more ...string) []string {
	t.Helper()
	fresh := fileOf(t, "lists.blob", string(todaysLists(t))) // the project's own grow old
	line := "doctor --dns-timeout 1m --limit 2m --dns-with-mx mail.example --dns-without-mx missing.example" +
		" --max-connections 100 --lists " + fresh + " --database " + emptyLedger(t) + " --dns " + contract.Serve(t)
	return append(withModule(t, strings.Fields(line)...), more...)
}

// requireFindings requires that a doctor finds something of parts, separated by semicolons, and
// that it fails if something is wrong. It returns what is printed.
func requireFindings(t *testing.T, flags, finds string) (out string) {
	t.Helper()
	out, err, code := operator(t, doctorArgs(t, strings.Fields(flags)...)...)
	require.Equal(t, strings.Contains(finds, "WRONG"), code == 1, out+err)
	status := regexp.MustCompile(` (ok|ADVICE|WRONG)\b ?`)
	for _, finding := range strings.Split(finds, ";") {
		require.Regexp(t, "(?m)^"+status.ReplaceAllString(finding, " +$1 +"), out)
	}
	return out + err
}

// doctor says of each part what it found. It takes the secret of workers to the service, and
// prints it nowhere.
func TestDoctor(t *testing.T) {
	t.Parallel()
	out := requireFindings(t, "", "database ok;disk ok;files ok;limits ok;resolver ok;module ok;lists ok")
	require.NotContains(t, out, "\nservice ")
	requireFindings(t, "--dns 127.0.0.1:1 --module no-such-file --max-connections 100000000",
		"resolver WRONG;module WRONG .*no-such-file;limits WRONG .*LimitNOFILE;database ok")

	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts in its backlog and says nothing
	require.NoError(t, err)
	defer silent.Close()
	at := silent.Addr().String()
	out = requireFindings(t, "--limit 1s --database postgres://u:hidden@"+at+"/x --public-url http://"+at,
		"database WRONG;service WRONG")
	require.NotContains(t, out, "hidden")
	path := strings.TrimPrefix(emptyLedger(t), "sqlite:")
	text := textOf(t, path)
	require.NoError(t, os.WriteFile(path, []byte(text[:8192]+strings.Repeat("Z", 8192)+text[16384:]), 0o600))
	requireFindings(t, "--database sqlite:"+path, "database WRONG .*(damaged|malformed).*backup")

	const secret, next = "0123456789abcdef0123456789abcdef", "another0123456789abcdef" // as while workers change
	at = start(t, "--dns", contract.Serve(t), "--edge-secret", secret+","+next).hostPort
	out = requireFindings(t, "--public-url http://"+at+" --edge-secret "+secret+","+next+"-",
		"service ok http://.* is up;edge secret WRONG secret 2 of 2: the origin refuses the edge secret")
	require.NotContains(t, out, secret)
}

// What a server says, and the name of a file, cannot control the terminal.
func TestForeignWordsCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_, _ = io.WriteString(connection, "HTTP/1.1 404 \x1b[2Jgone\r\nContent-Length: 0\r\n\r\n")
			_ = connection.Close()
		}
	}))
	defer server.Close()
	require.NotContains(t, requireFindings(t, "--public-url "+server.URL, "service WRONG .*\\[2Jgone"), "\x1b")
	_, refused, _ := operator(t, "lists", "show", "--lists", "no\x1b[2Jfile")
	require.Contains(t, refused, "[2Jfile")
	require.NotContains(t, refused, "\x1b")
}

// serve and doctor name variables that no flag has, such as a misspelt one, without their values.
// One with a hook's secret is known, and so is one for another command.
func TestUnknownVariables(t *testing.T) {
	const value = "127.0.0.1:8081"
	for _, name := range []string{"ADDRSPEC_LISTENN", "ADDRSPEC_PORT", "ADDRSPEC_SEARCH", "OTHER_LISTENN"} {
		t.Setenv(name, value)
	}
	t.Setenv("ADDRSPEC_HOOK_SECRET", hookSecret)
	file := hooksFile(t, anyObject{"secret_file": "", "secret_env": "ADDRSPEC_HOOK_SECRET"})
	s := start(t, "--dns", contract.Serve(t), "--hooks", file)
	s.newKey(t)
	s.awaitLog(t, `"variables":"ADDRSPEC_LISTENN ADDRSPEC_PORT"`)
	require.NotContains(t, s.wholeLog(t), value)
	flags := " --hooks " + file + " --database " + s.database
	require.NotContains(t, requireFindings(t, flags, "environment ADVICE no flag has ADDRSPEC_LISTENN ADDRSPEC_PORT, ;hooks ok"), value)
	for _, name := range []string{"ADDRSPEC_LISTENN", "ADDRSPEC_PORT"} {
		require.NoError(t, os.Unsetenv(name)) // which the clean-up of Setenv restores
	}
	requireFindings(t, flags, "environment ok")
}

func TestDoctorForPrograms(t *testing.T) {
	t.Parallel()
	out, _, _ := operator(t, doctorArgs(t, "--to", "json")...)
	require.Regexp(t, `^\[\s+\{\s+"part": "environment",\s+"status": "ok",\s+"detail": "`, out)
	for flag, value := range map[string]string{"--public-url": "https://u:hidden@addrspec.example",
		"--edge-secret": "hidden", "--edge-url": "ftp://x", "--limit": "1h", "--dns-timeout": "0s"} {
		problem := refused(t, "doctor", flag, value)
		require.Contains(t, problem, flag)
		require.NotContains(t, problem, "hidden")
	}
}

// The handbook has a row for each part, in the order in which they are printed.
func TestDoctorPageNamesEveryPart(t *testing.T) {
	t.Parallel()
	var named, checked []string
	rows := regexp.MustCompile("(?m)^\\| `([a-z ]+)` \\|").FindAllStringSubmatch(textOf(t, "../deploy/doctor.md"), -1)
	for _, row := range rows {
		named = append(named, row[1])
	}
	c := new(doctorCmd)
	c.DNSTimeout, c.Limit = time.Second, time.Second
	checks := must(c.checks())(t)
	for _, c := range checks {
		checked = append(checked, c.Name)
	}
	require.Equal(t, checked, named)
}

// What a server sent cannot control the terminal, as JSON neither.
func TestPrintJSONEscapesControls(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, printJSON(&out, []string{"a\u009b31m\u202ebé\n<\x1b😀"}))
	require.Equal(t, "[\n  \"a\\u009b31m\\u202ebé\\n<\\u001b😀\"\n]\n", out.String())
}
