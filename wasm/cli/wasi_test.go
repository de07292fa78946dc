//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"golang.org/x/sys/unix"

	"github.com/addrspec/addrspec/wasm/moduletest"
	"github.com/addrspec/addrspec/wasm/vectors"
)

// lines returns up to n generated addresses without line breaks.
func lines(n int) (list []string) {
	for _, email := range vectors.Generate(4, n) {
		if email != "" && !strings.ContainsAny(email, "\r\n") {
			list = append(list, email)
		}
	}
	return list
}

func TestCommandInWazero(t *testing.T) {
	ctx := context.Background()
	cache, err := wazero.NewCompilationCacheWithDir(moduletest.CacheDir())
	require.NoError(t, err)
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))
	defer runtime.Close(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
	list := lines(5000)
	var out bytes.Buffer
	config := wazero.NewModuleConfig().WithArgs("addrspec-cli").WithStdout(&out).
		WithStdin(strings.NewReader(strings.Join(list, "\n"))).WithSysNanotime().WithSysWalltime()
	_, err = runtime.InstantiateWithConfig(ctx, moduletest.Command(t), config)
	require.NoError(t, err)
	require.Equal(t, results(list...), out.String())
}

// nodeHost runs a WASI command with the standard files of Node.
const nodeHost = `
	import { WASI } from "node:wasi";
	import { readFileSync } from "node:fs";
	const wasi = new WASI({ version: "preview1", args: process.argv.slice(1), returnOnExit: true });
	const module = await WebAssembly.compile(readFileSync(process.argv[1]));
	process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));`

// A shell or a parent process may pass non-blocking pipes. The command must wait
// while they are empty or full, and lose nothing.
func TestCommandWithNonBlockingPipes(t *testing.T) {
	node := moduletest.Tool(t, "node")
	file := filepath.Join(t.TempDir(), "addrspec-cli.wasm")
	require.NoError(t, os.WriteFile(file, moduletest.Command(t), 0o600))
	in, out := nonBlockingPipe(t), nonBlockingPipe(t)
	pid, err := syscall.ForkExec(node,
		[]string{"node", "--no-warnings", "--input-type=module", "-e", nodeHost, file},
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{uintptr(in[0]), uintptr(out[1]), 2}})
	require.NoError(t, err)
	syscall.Close(in[0])
	syscall.Close(out[1])
	addresses, printed := os.NewFile(uintptr(in[1]), "in"), os.NewFile(uintptr(out[0]), "out")
	list := lines(20_000) // megabytes of output: a pipe buffers 64 KB
	go func() {
		defer addresses.Close()
		time.Sleep(500 * time.Millisecond) // real time: input that is there at once would test less
		io.WriteString(addresses, strings.Join(list[:100], "\n")+"\n")
		time.Sleep(100 * time.Millisecond) // real time: as above
		io.WriteString(addresses, strings.Join(list[100:], "\n")+"\n")
	}()
	requireFull(t, out[0])
	got, err := io.ReadAll(bufio.NewReader(printed))
	require.NoError(t, err)
	var status syscall.WaitStatus
	_, err = syscall.Wait4(pid, &status, 0, nil)
	require.NoError(t, err)
	require.Zero(t, status.ExitStatus())
	require.True(t, results(list...) == string(got), "%d bytes of %d", len(got), len(results(list...)))
}

// requireFull waits until a pipe has no room for a page.
func requireFull(t *testing.T, fd int) {
	t.Helper()
	size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
		return err == nil && unread > size-os.Getpagesize()
	}, 2*time.Minute, 5*time.Millisecond)
}

func nonBlockingPipe(t *testing.T) (fds [2]int) {
	t.Helper()
	require.NoError(t, syscall.Pipe2(fds[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC))
	return fds
}
