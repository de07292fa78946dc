package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// explain adds to the error of a command what it wrote to standard error.
func explain(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
