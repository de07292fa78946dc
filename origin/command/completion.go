package command

import (
	"context"

	"github.com/addrspec/addrspec/origin/command/complete"
)

// completionCmd prints the script of a shell.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(_ context.Context, std streams) error {
	script, err := complete.Scripts.ReadFile("addrspec." + c.Shell)
	if err != nil {
		return err
	}
	_, err = std.out.Write(script)
	return err
}
