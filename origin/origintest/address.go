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

// FirstLine reads a program's first line and discards what follows it, in the
// background. It fails if the output ends before the line does.
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

// AddressIn returns the HOST:PORT of an http URL at the end of a line, as a
// server's first line has it.
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

// FreeAddress returns a loopback address whose port is free. It is below the
// ports that systems give to clients, which could otherwise take it while the
// server at it is restarted.
func FreeAddress() (string, error) {
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 15_000+rand.IntN(15_000)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no port is free between 15000 and 30000")
}
