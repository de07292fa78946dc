// Command addrspec reports facts about email addresses, as an HTTP service (serve) or
// for a file or a pipe (check). It also manages the accounts and keys of the service.
// Package command has the sub-commands, package service the running service.
package main

import "github.com/addrspec/addrspec/origin/command"

func main() { command.Main() }
