//go:build !wasip1

package main

import (
	"io"
	"os"
)

func openInput() io.Reader  { return os.Stdin }
func openOutput() io.Writer { return os.Stdout }
func openErrors() io.Writer { return os.Stderr }
