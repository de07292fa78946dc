package edge_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// generated is the number of addresses that are checked besides the golden ones.
const generated = 50_000

// The results of native core, Node, Deno, Bun, workerd and Chromium are the same
// bytes.
func TestSameResultsInEveryHost(t *testing.T) {
	t.Parallel()
	packed, want := addressesAndDigests(t)
	dir := hostPrograms(t, packed)
	module, addresses := filepath.Join(dir, "addrspec.wasm"), filepath.Join(dir, "addresses")
	for _, tool := range []struct {
		name, file string
		args       []string
	}{
		{"node", "", nil},
		{"deno", "runtimes/node_modules/.bin/deno", []string{"run", "--allow-read"}},
		{"bun", "runtimes/node_modules/.bin/bun", nil},
	} {
		t.Run(tool.name, func(t *testing.T) {
			path := toolPath(t, tool.name, tool.file)
			args := append(slices.Clone(tool.args), filepath.Join(dir, "node.js"), module, addresses)
			requireDigests(t, want, run(t, exec.Command(path, args...)))
		})
	}
	t.Run("chromium", func(t *testing.T) {
		path := toolPath(t, "chromium", "/usr/bin/chromium")
		requireDigests(t, want, run(t, exec.Command("node", "test/hosts/chromium.mjs", path, dir)))
	})
	t.Run("workerd", func(t *testing.T) {
		p := serveWorkerd(t, filepath.Join(dir, "workerd.capnp"))
		response, err := http.Post("http://"+p.hostPort, "application/octet-stream", bytes.NewReader(packed))
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		requireDigests(t, want, body)
	})
}

// addressesAndDigests returns addresses, in the form that test/digest.ts reads, and
// the digests of their results: golden ones, and native core's of generated
// addresses.
func addressesAndDigests(t *testing.T) (packed []byte, want []string) {
	sum := digester{}
	golden, err := vectors.Read("../wasm/vectors")
	require.NoError(t, err)
	for _, file := range slices.Sorted(maps.Keys(golden)) {
		for _, v := range golden[file] {
			packed = pack(packed, v.Email, 0)
			sum.add([]byte(v.Result))
		}
	}
	native := vectors.Native()
	for n, email := range vectors.Generate(3, generated) {
		packed = pack(packed, email, n&1)
		sum.add(native(email, n&1 == 1))
	}
	return packed, sum.end()
}

func pack(dst []byte, email string, flag int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(email)<<1|flag))
	return append(dst, email...)
}

// A digester computes a digest of every thousand results, one a line.
type digester struct {
	lines bytes.Buffer
	count int
	sums  []string
}

func (d *digester) add(result []byte) {
	d.lines.Write(append(slices.Clip(result), '\n'))
	if d.count++; d.count%1000 == 0 {
		d.flush()
	}
}

func (d *digester) flush() {
	sum := sha256.Sum256(d.lines.Bytes())
	d.sums = append(d.sums, hex.EncodeToString(sum[:]))
	d.lines.Reset()
}

func (d *digester) end() []string {
	if d.lines.Len() > 0 {
		d.flush()
	}
	return d.sums
}

// hostPrograms bundles the program that computes the digests, for each host.
func hostPrograms(t *testing.T, packed []byte) (dir string) {
	t.Helper()
	needsNode(t)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "addrspec.wasm"), moduletest.Bytes(t), 0o600))
	out, err := exec.Command("node_modules/.bin/esbuild", "--bundle", "--format=esm", "--target=es2022", "--external:node:*", "--external:*.wasm",
		"--log-level=warning", "--outdir="+dir, "test/hosts/node.ts", "test/hosts/workerd.ts", "test/hosts/page.ts").CombinedOutput()
	require.NoError(t, err, "%s", out)
	config, err := os.ReadFile("test/hosts/workerd.capnp")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "workerd.capnp"), config, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "addresses"), packed, 0o600))
	return dir
}

// run returns the standard output of cmd. A failure shows its standard error.
func run(t testing.TB, cmd *exec.Cmd) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	return out
}

func requireDigests(t *testing.T, want []string, output []byte) {
	t.Helper()
	var got []string
	require.NoError(t, json.Unmarshal(output, &got), "%.200s", output)
	require.Equal(t, want, got, "digests of a thousand results each")
}
