package edge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of the programs that `build.sh edge` starts, only the worker gets the secret,
// whether it is given by the flag or by the environment variable.
func TestOnlyTheWorkerGetsTheSecret(t *testing.T) {
	for name, run := range map[string]struct {
		args []string
		env  string
	}{
		"flag":        {args: []string{"--secret", secret}},
		"environment": {env: "ADDRSPEC_EDGE_SECRET=" + secret},
		"both":        {args: []string{"--secret", secret}, env: "ADDRSPEC_EDGE_SECRET=another " + secret},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fakeTools(t)
			cmd := exec.Command("/bin/sh", append([]string{filepath.Join(dir, "build.sh"), "edge", "--origin", "http://127.0.0.1:9"}, run.args...)...)
			cmd.Env = append(os.Environ(), "PATH="+dir+"/tools:"+os.Getenv("PATH"), run.env)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for _, tool := range []string{"go", "npm", "node"} {
				require.NotContains(t, readFile(t, filepath.Join(dir, tool+".saw")), secret, tool)
			}
			saw := readFile(t, filepath.Join(dir, "workerd.saw"))
			require.Contains(t, saw, "\nADDRSPEC_EDGE_SECRET="+secret+"\n")
			require.Contains(t, saw, "\nADDRSPEC_ORIGIN=http://127.0.0.1:9\n")
		})
	}
}

// fakeTools returns a directory with a copy of build.sh, and with tools that append
// their arguments and settings to TOOL.saw there.
func fakeTools(t *testing.T) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tools"), 0o700))
	write := func(path, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(content), 0o700))
	}
	write("build.sh", readFile(t, "../build.sh"))
	write("edge/package-lock.json", "{}")
	write("wasm/module/module.go", "")
	write("dist/addrspec.wasm", "")
	for _, tool := range []string{"go", "npm", "node", "workerd"} {
		note := "#!/bin/sh\n{ echo \"$@\"; env | grep ADDRSPEC || true; } >> '" + filepath.Join(dir, tool+".saw") + "'\n"
		if tool == "node" {
			note += "[ \"$1\" != -p ] || echo '" + filepath.Join(dir, "tools/workerd") + "'\n"
		}
		write("tools/"+tool, note)
	}
	return dir
}
