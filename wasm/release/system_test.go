package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/wasm/moduletest"
)

// requireServes starts a command that serves, and requires a response and a graceful stop.
func requireServes(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	cmd.Env = append(cmd.Env, "ADDRSPEC_LISTEN="+address, "ADDRSPEC_OPERATOR_LISTEN=127.0.0.1:0", "ADDRSPEC_DRAIN=0s")
	var log strings.Builder
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		response, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			require.NoError(t, response.Body.Close())
			require.Equal(t, http.StatusOK, response.StatusCode)
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v\n%s", err, log.String())
		case <-time.After(10 * time.Millisecond): // real time: until the program listens
		}
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-ended, log.String())
}

// requireDeb installs the package into a directory, starts its program, removes it and purges it.
func requireDeb(t *testing.T, r *release, arch string) {
	root := t.TempDir()
	file := r.inOut("addrspec_" + r.version + "_" + arch + ".deb")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg/info"), 0o755))
	write(t, root, map[string]string{"var/lib/dpkg/status": "", "var/lib/dpkg/available": "", "srv/ledger.db": "elsewhere"})
	dpkg := func(args ...string) string {
		return programOutput(t, root, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless", "--force-not-root", "--force-architecture"}, args...)...)
	}
	require.Contains(t, dpkg("--install", file), "Next: put settings into /etc/addrspec.env, then systemctl enable --now addrspec\n")
	requireSystemFiles(t, r, root, arch, "/usr/share/zsh/vendor-completions/_addrspec")
	require.Contains(t, dpkg("--status", "addrspec"), "Conffiles:\n /etc/addrspec.env ")

	write(t, root, map[string]string{
		"etc/addrspec.env": "ADDRSPEC_SECRET_KEY=x\n", "var/lib/private/addrspec/addrspec.db": "ledger", "var/cache/private/addrspec/x": "",
	})
	for _, base := range []string{"var/lib", "var/cache"} {
		require.NoError(t, os.Symlink("private/addrspec", filepath.Join(root, base, "addrspec")))
	}
	dpkg("--install", file)
	require.Contains(t, read(t, root, "etc/addrspec.env"), "SECRET", "an upgrade keeps the settings")
	dpkg("--remove", "addrspec")
	require.NoFileExists(t, filepath.Join(root, "usr/bin/addrspec"))
	require.Equal(t, "ledger", read(t, root, "var/lib/addrspec/addrspec.db"))
	require.FileExists(t, filepath.Join(root, "etc/addrspec.env"))
	dpkg("--purge", "addrspec")
	for _, gone := range []string{"etc/addrspec.env", "var/lib/private/addrspec", "var/lib/addrspec", "var/cache/private/addrspec", "var/cache/addrspec"} {
		_, err := os.Lstat(filepath.Join(root, gone))
		require.ErrorIs(t, err, os.ErrNotExist, gone)
	}
	require.Equal(t, "elsewhere", read(t, root, "srv/ledger.db"))
	require.DirExists(t, filepath.Join(root, "var/lib/private"))
}

func requireRPM(t *testing.T, r *release, arch string) {
	root := t.TempDir()
	file := r.inOut("addrspec_" + r.version + "_" + arch + ".rpm")
	rpm := func(args ...string) string { return programOutput(t, root, "rpm", args...) }
	require.Contains(t, rpm("-qlp", file), "/usr/lib/systemd/system/addrspec.service\n")
	require.Equal(t, "/etc/addrspec.env\n", rpm("-qcp", file))
	require.Contains(t, rpm("-qp", "--scripts", file), "systemctl enable --now addrspec")
	rpm("--root="+root, "--install", "--nodeps", "--noscripts", "--ignorearch", file)
	requireSystemFiles(t, r, root, arch, "/usr/share/zsh/site-functions/_addrspec")
	rpm("--root="+root, "--verify", "--nodeps", "addrspec")
}

// requireSystemFiles looks into an installed package and starts its program.
func requireSystemFiles(t *testing.T, r *release, root, arch, zsh string) {
	t.Helper()
	modes := map[string]os.FileMode{zsh: 0o644, "/usr/bin/addrspec": 0o755, "/etc/addrspec.env": 0o600}
	for _, path := range systemFiles {
		modes[path] = 0o644
	}
	for _, unit := range systemUnits {
		modes["/usr/lib/systemd/system/"+unit] = 0o644
		require.NotContains(t, read(t, root, "usr/lib/systemd/system/"+unit), "/usr/local")
	}
	for path, mode := range modes {
		info, err := os.Stat(filepath.Join(root, path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), path)
	}
	unit := read(t, root, "usr/lib/systemd/system/addrspec.service")
	require.Contains(t, unit, "\nExecStart=/usr/bin/addrspec serve\n")
	program := filepath.Join(root, "usr/bin/addrspec")
	t.Run("unit", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"addrspec.service": strings.ReplaceAll(unit, "/usr/bin/addrspec", program)})
		require.Empty(t, programOutput(t, dir, "systemd-analyze", "verify", "--man=no", "addrspec.service"))
	})
	if arch != runtime.GOARCH {
		return
	}
	requireRuns(t, r, program)
	cmd := exec.Command(program, "serve")
	cmd.Env = []string{"ADDRSPEC_DATABASE=sqlite:" + filepath.Join(t.TempDir(), "ledger.db"), "ADDRSPEC_CACHE_DIR=" + t.TempDir()}
	requireServes(t, cmd)
}

// requireOCI reads an image as docker load does and as an OCI layout, and serves from it as its user,
// with a root that is read-only.
func requireOCI(t *testing.T, r *release, arch string) {
	file := r.inOut("addrspec-" + r.version + "-linux-" + arch + imageSuffix)
	loaded, err := tarball.ImageFromPath(file, nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(loaded))
	dir := t.TempDir()
	programOutput(t, dir, "tar", "-xf", file)
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	config, err := loaded.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, []string{"linux", arch}, []string{config.OS, config.Architecture})
	dockerfile := read(t, r.root, "origin/deploy/Dockerfile")
	for _, setting := range append(config.Config.Env, "USER "+config.Config.User, "STOPSIGNAL "+config.Config.StopSignal, "VOLUME /data", "EXPOSE 8080 9090") {
		require.Contains(t, dockerfile, setting)
	}
	t.Run("serve", func(t *testing.T) {
		unshare := moduletest.Tool(t, "unshare")
		if os.Getuid() != 0 || arch != runtime.GOARCH {
			t.Skip("unpacking the image with its owners needs root, and running it this architecture")
		}
		root, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		files := mutate.Extract(loaded)
		untar := exec.Command("tar", "-x", "-p", "-C", root)
		untar.Stdin = files
		require.NoError(t, untar.Run())
		require.NoError(t, files.Close())
		const readOnly = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && mount --bind "$1/data" "$0/data" &&
			mount --bind "$1/cache" "$0/cache" && exec chroot --userspec=65532:65532 "$0" /addrspec serve`
		writable := t.TempDir()
		for _, name := range []string{"data", "cache"} {
			require.NoError(t, os.Mkdir(filepath.Join(writable, name), 0o700))
			require.NoError(t, os.Chown(filepath.Join(writable, name), 65532, 65532))
			require.Equal(t, "700 65532 65532\n", programOutput(t, root, "stat", "-c", "%a %u %g", name))
		}
		cmd := exec.Command(unshare, "-m", "sh", "-c", readOnly, root, writable)
		cmd.Env = append(config.Config.Env, "PATH="+os.Getenv("PATH"))
		requireServes(t, cmd)
		require.FileExists(t, filepath.Join(writable, "data/addrspec.db"))
	})
}

// The compose file starts the image by its name, and is otherwise that of the handbook.
func TestComposeNamesTheImage(t *testing.T) {
	r := testRelease(t)
	r.tree = ourTree(t)
	require.NoError(t, r.images(t.Context()))
	text := read(t, r.out, "addrspec-"+r.version+"-compose.yaml")
	require.Contains(t, text, "x-addrspec: &addrspec\n  image: "+r.imageName()+"\n  environment:")
	require.NotContains(t, text, "origin/deploy")
	require.NotContains(t, text, "build")
}
