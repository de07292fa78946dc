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

// lookAt is the environment variable that makes TestInAChild look at a part.
const lookAt = "ADDRSPEC_TEST_LOOK_AT"

// inAChild runs a script and then, in the same process, TestInAChild with a part to
// look at. It returns what that prints. The process has mounts of its own, and is
// root for them.
func inAChild(t *testing.T, script, part string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script+"\n"+`exec "$0" -test.run='^TestInAChild$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), lookAt+"="+part)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "TestInAChild") {
		t.Skipf("skipped: this machine forbids namespaces, limits or mounts: %v: %s", err, out)
	}
	require.NoError(t, err, string(out))
	return string(out)
}

// TestInAChild is the part of the tests below that runs in a process of its own.
func TestInAChild(t *testing.T) {
	part, directory, _ := strings.Cut(os.Getenv(lookAt), ":")
	var f Finding
	switch part {
	case "":
		t.Skip("runs only as a child of other tests")
	case "disk":
		f = find(t, Disk(directory))
	case "inodes":
		fillInodes(t, directory)
		f = find(t, Disk(directory))
	case "limits":
		f = find(t, Limits(1000, 100, 1356))
	case "writable":
		f = find(t, Check{part, func(context.Context) (string, error) { return "writable", LocalDisk(directory) }})
	}
	t.Logf("%s: %s", f.Status, f.Detail)
}

func fillInodes(t *testing.T, directory string) {
	for {
		f, err := os.CreateTemp(directory, "")
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			return
		}
		require.NoError(t, f.Close())
	}
}

// A file system that is really full, has little space, or has no inode left.
func TestFullFileSystem(t *testing.T) {
	directory := t.TempDir()
	mount := func(options string) string {
		return "mount -t tmpfs -o " + options + " tmpfs '" + directory + "'"
	}
	out := inAChild(t, mount("size=1m")+"\nhead -c 2m /dev/zero > '"+filepath.Join(directory, "fill")+"' 2>/dev/null || true", "disk:"+directory)
	require.Contains(t, out, "wrong: "+directory+" has 0 B left: free space there")
	out = inAChild(t, mount("size=700m"), "disk:"+directory)
	require.Contains(t, out, "advice: "+directory+" has 700 MiB left: free space there soon")
	out = inAChild(t, mount("size=2g,nr_inodes=500"), "inodes:"+directory)
	require.Contains(t, out, "wrong: "+directory+" has 0 inodes left")
}

// A database whose disk the kernel has made read-only after an error.
func TestReadOnlyFileSystem(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a.db")
	mount := "mount -t tmpfs tmpfs '" + directory + "'; touch '" + path + "'"
	require.Contains(t, inAChild(t, mount, "writable:"+path), "ok: writable")
	out := inAChild(t, mount+"; mount -o remount,ro '"+directory+"'", "writable:"+path)
	require.Contains(t, out, "wrong: "+path+" is on a read-only file system")
}

// A process whose hard limit of open files is too low for its connections.
func TestLowLimit(t *testing.T) {
	require.Contains(t, inAChild(t, "ulimit -n 300", "limits"), "wrong: a process may open 300 files")
	require.Contains(t, inAChild(t, "ulimit -n 1400", "limits"), "ok: ")
}
