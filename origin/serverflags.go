package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/addrspec/addrspec/origin/client"
	"github.com/addrspec/addrspec/origin/ledger"
)

// serverFlags select a service that checks in place of this process.
type serverFlags struct {
	Server  string `group:"Through a service:" placeholder:"URL" help:"Check through the addrspec service at this URL, such as https://addrspec.example, with its lists and its resolver. Each different address of a batch costs a point. HTTPS_PROXY and NO_PROXY are obeyed."`
	Key     string `group:"Through a service:" placeholder:"KEY" help:"The API key for --server. Other users of this machine can read command lines, so give it as ADDRSPEC_KEY, or use --key-file."`
	KeyFile string `group:"Through a service:" placeholder:"FILE" help:"A file whose only line is the API key for --server."`
	RunID   string `group:"Through a service:" placeholder:"ID" help:"Makes the Idempotency-Keys of the batches. A run that is repeated with the same ID within 24 hours is not charged again for batches that were answered. Default: random."`
}

var errServerOffline = errors.New("--server and --offline exclude each other: the service looks MX records up")

// validate returns an error for flags that exclude each other.
func (f *serverFlags) validate(offline bool) error {
	if f.Server != "" && offline {
		return errServerOffline
	}
	return nil
}

// connect returns a client of the service of --server, for one run or for calls that
// do not depend on each other. It warns if the key would be readable on the network.
func (f *serverFlags) connect(oneRun bool, warnings io.Writer) (*client.Client, error) {
	key, err := f.readKey()
	if err != nil {
		return nil, err
	}
	if f.RunID != "" && !runID.MatchString(f.RunID) {
		return nil, usageError{errors.New("--run-id must have 16 to 64 letters and digits, such as those that a run printed")}
	}
	c, err := client.New(client.Config{URL: f.Server, Key: key, Agent: "addrspec/" + release, RunID: f.RunID, OneRun: oneRun})
	if err != nil {
		return nil, usageError{fmt.Errorf("--server: %w", err)}
	}
	if c.Exposed() {
		fmt.Fprintln(warnings, "addrspec: warning: --server is http, so others on the network can read the key and the addresses; use https")
	}
	return c, nil
}

var runID = regexp.MustCompile(`^[A-Za-z0-9]{16,64}$`)

// readKey returns the key. No error contains it.
func (f *serverFlags) readKey() (string, error) {
	key, from := f.Key, "--key (or ADDRSPEC_KEY)"
	if f.KeyFile != "" {
		if f.Key != "" && f.Key != os.Getenv("ADDRSPEC_KEY") {
			return "", usageError{errors.New("both --key and --key-file are given; give one")}
		}
		line, err := readKeyLine(f.KeyFile)
		if err != nil {
			return "", err
		}
		key, from = line, "--key-file"
	}
	switch {
	case key == "":
		return "", usageError{errors.New("--server needs an API key: set ADDRSPEC_KEY, or give --key-file FILE")}
	case !ledger.WellFormed(key):
		return "", usageError{fmt.Errorf("%s is not an API key: a key is ask_ and 38 letters and digits, of which the last six are a checksum; check that it was not cut off or mistyped", from)}
	}
	return key, nil
}

// maxKeyFile is the most that is read of a key file, in bytes.
const maxKeyFile = 4 << 10

func readKeyLine(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "\uFEFF")), nil
}
