package origintest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
)

// FirstLine returns a program's first line, and discards later output in the
// background. It returns an error if the output ends before the line does.
func FirstLine(out io.Reader) (string, error) {
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the program ended before its first line: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		if c, ok := out.(io.Closer); ok {
			c.Close()
		}
	}()
	return strings.TrimSpace(line), nil
}

// AddressIn returns the HOST:PORT of the http URL at the end of a server's first
// line.
func AddressIn(line string) (string, error) {
	_, address, found := strings.Cut(line, "http://")
	if !found {
		return "", fmt.Errorf("no address in %q", line)
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("no address in %q: %w", line, err)
	}
	return address, nil
}

// FreeAddress returns a loopback address with a free port. The port is below those
// that systems assign to clients, so that no client takes it while a server at that
// address restarts.
func FreeAddress() (string, error) {
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port is free between 15000 and 30000")
}
