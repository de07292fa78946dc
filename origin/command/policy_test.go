package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// policy runs a policy command on the shell's account.
func (s *shell) policy(args ...string) (out, err string, code int) {
	args = append(append([]string{"policy"}, args...), "--account", "you@example.org", "--database", s.database)
	if args[1] == "set" {
		args = withModule(s, args...)
	}
	return operator(s, args...)
}

func TestPolicyCommands(t *testing.T) {
	s := newShell(t)
	file := filepath.Join(t.TempDir(), "policy.json")
	write := func(document string) { require.NoError(t, os.WriteFile(file, []byte(document), 0o600)) }
	ok := func(args ...string) string {
		t.Helper()
		out, err, code := s.policy(args...)
		require.Zero(t, code, err)
		return out
	}
	write("{\n  \"block\": {\"reasons\": [\"disposable\", \"gibberish>=0.8\"]}\n}\n")
	require.Equal(t, "policy sign-up set, version 1\n", ok("set", "sign-up", file))
	require.Equal(t, "policy sign-up unchanged, version 1\n", ok("set", "sign-up", file))
	require.Equal(t, "{\n  \"block\": {\"reasons\": [\"disposable\", \"gibberish>=0.8\"]}\n}\n", ok("show", "sign-up"))
	write(`{}`)
	require.Equal(t, "policy other set, version 2\n", ok("set", "other", file))
	require.Equal(t, "{}\n", ok("show", "other"))

	var shown struct {
		Name     string
		Version  int
		Changed  string
		Document struct{ Block struct{ Reasons []string } }
	}
	require.NoError(t, json.Unmarshal([]byte(ok("show", "sign-up", "--to", "json")), &shown))
	require.Equal(t, "sign-up", shown.Name)
	require.Equal(t, 1, shown.Version)
	require.NotEmpty(t, shown.Changed)
	require.Equal(t, []string{"disposable", "gibberish>=0.8"}, shown.Document.Block.Reasons)
	require.NotContains(t, ok("show", "sign-up", "--to", "json"), `\u003e`)

	require.Regexp(t, `^NAME +VERSION +CHANGED +BYTES\nother +2 +\S+Z +2\nsign-up +1 +\S+Z +\d+\n$`, ok("list"))
	lines := strings.Split(strings.TrimSpace(ok("list", "--to", "ndjson")), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"name":"other","version":2,"changed":"`)

	require.Contains(t, s.must("key create --account you@example.org --name shop --policy sign-up"), "created, policy sign-up")
	require.Regexp(t, `shop .* sign-up +false\n`, s.must("key list --account you@example.org"))
	_, problem, code := s.policy("delete", "sign-up")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "key 1: the policy is the default of a key; give the key another one first")
	require.Contains(t, s.must("key change 1 --account you@example.org --policy other"), "policy other")
	require.Equal(t, "policy sign-up deleted\n", ok("delete", "sign-up"))
	require.Contains(t, s.must("key change 1 --account you@example.org --budget 5"), "policy other", "other changes leave it")
	require.NotContains(t, s.must("key change 1 --account you@example.org --policy none"), "policy")
	ok("delete", "other")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", ok("list"))
}

// Errors name the file, the line and the place in the document; nothing is stored.
func TestPolicyErrors(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	for name, c := range map[string]struct{ document, want string }{
		"an unknown reason":  {"{\n  \"block\": {\n    \"reasons\": [\"public\", \"disposible\"]\n  }\n}", file + `:3:27: block.reasons[1]: "disposible" is no reason; did you mean "disposable"?`},
		"an unknown member":  {`{"deny": {}}`, file + ":1:2: "},
		"a wildcard":         {`{"allow": {"domains": ["a.*.example"]}}`, "allow.domains[0]"},
		"a duplicate member": {`{"allow": {}, "allow": {}}`, file + ":1:"},
		"no JSON":            {"{\n]", file + ":2:1: "},
		"empty":              {"", file + ":1:1: "},
		"too deep":           {strings.Repeat("[", 100_000), file + ":1:"},
		"not UTF-8":          {"{\"allow\": {\"domains\": [\"\xff\"]}}", file + ":1:"},
		"too many domains":   {`{"allow": {"domains": ["a.example"` + strings.Repeat(`,"a.example"`, 10_000) + `]}}`, "allow.domains[10000]: the document has more than 10000 domains"},
		"far too long":       {strings.Repeat(" ", maxPolicyFile+1), "has more than"},
		"has more than":      {strings.Repeat(" ", 3<<20), file + ":1:"},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.document), 0o600))
		_, problem, code := s.policy("set", "p", file)
		require.Equal(t, 1, code, name)
		require.Contains(t, problem, c.want, name)
		require.Less(t, len(problem), 500, name)
	}
	for args, want := range map[string]string{
		"set Odd " + file:                  "the name of a policy must have 1 to 64",
		"set p " + filepath.Join(dir, "x"): "no such file",
		"set p " + dir:                     "is a directory",
		"show p":                           "the account has no such policy; see addrspec policy list",
		"delete p":                         "the account has no such policy; see addrspec policy list",
	} {
		_, problem, code := s.policy(strings.Fields(args)...)
		require.Equal(t, 1, code, args)
		require.Contains(t, problem, want, args)
	}
	_, problem, code := s.run("key create --account you@example.org --name shop --policy p")
	require.Equal(t, 1, code)
	require.Contains(t, problem, `the account has no policy "p"`)
	out, _, _ := s.policy("list")
	require.Equal(t, "NAME  VERSION  CHANGED  BYTES\n", out)
}
