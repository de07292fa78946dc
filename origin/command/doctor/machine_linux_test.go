package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// lookAt is the environment variable that makes TestReadOnlyFileSystem look at a database.
const lookAt = "ADDRSPEC_TEST_LOOK_AT"

// A database whose disk the kernel has made read-only after an error. The test runs its binary
// again, with mounts of its own, as root for them.
func TestReadOnlyFileSystem(t *testing.T) {
	if path := os.Getenv(lookAt); path != "" {
		f := find(t, Check{"", func(context.Context) (string, error) { return "writable", LocalDisk(path) }})
		t.Logf("%s: %s", f.Status, f.Detail)
		return
	}
	directory := t.TempDir()
	path := filepath.Join(directory, "a.db")
	for remount, want := range map[string]string{
		"": "ok: writable", "mount -o remount,ro '" + directory + "'": "wrong: " + path + " is on a read-only file system",
	} {
		cmd := exec.Command("sh", "-ec", "mount -t tmpfs tmpfs '"+directory+"'; touch '"+path+"'\n"+remount+"\n"+
			`exec "$0" -test.run='^TestReadOnlyFileSystem$' -test.v`, os.Args[0])
		cmd.Env = append(os.Environ(), lookAt+"="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "TestReadOnlyFileSystem") {
			t.Skipf("skipped: this machine forbids namespaces or mounts: %v: %s", err, out)
		}
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), want)
	}
}
