package origintest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// SourceDirectory returns the directory of the project's sources, for programs that are
// Go modules of their own too.
func SourceDirectory(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/addrspec/addrspec").Output()
	return strings.TrimSpace(string(out)), Explain(err)
}

// BuildProgram builds addrspec as ./build.sh does.
func BuildProgram(ctx context.Context, to string) error {
	root, err := SourceDirectory(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "-C", root, "build", "-trimpath", "-buildvcs=false", "-o", to, "./origin")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	_, err = cmd.Output()
	return Explain(err)
}

// Explain adds to the error of a command what it wrote to standard error.
func Explain(err error) error {
	if exit := new(exec.ExitError); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// An Operator runs commands of the program on a database.
type Operator struct {
	Program  string // its path
	Database string // URL
}

// Run runs a command and returns what it prints.
func (o Operator) Run(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, o.Program, append(args, "--database", o.Database)...).Output()
	if err != nil {
		return "", fmt.Errorf("addrspec %s: %w", args[0], Explain(err))
	}
	return string(out), nil
}

// NewAccount creates an account with these limits, and a key named test.
func (o Operator) NewAccount(ctx context.Context, email, rate, points string) (key string, err error) {
	if _, err = o.Run(ctx, "account", "create", "--email", email, "--rate", rate, "--points", points); err != nil {
		return "", err
	}
	text, err := o.Run(ctx, "key", "create", "--account", email, "--name", "test")
	if err != nil {
		return "", err
	}
	words := strings.Fields(text)
	return words[len(words)-1], nil
}
