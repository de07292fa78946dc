package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// joinNegative writes "--points -5" as "--points=-5". kong takes an argument that
// begins with a hyphen for a flag, and no flag here begins with a digit. Without
// it the error would be about an unknown flag, not about the number.
func joinNegative(app *kong.Application, args []string) (joined []string, err error) {
	values := valueFlags(app.Node, nil)
	for i, arg := range args {
		if arg == "--" {
			return append(joined, args[i:]...), nil
		}
		switch {
		case !negative.MatchString(arg):
			joined = append(joined, arg)
		case i > 0 && slices.Contains(values, args[i-1]):
			joined[len(joined)-1] += "=" + arg
		default:
			return nil, fmt.Errorf("unexpected negative number %s; write -- before it if it is a name", arg)
		}
	}
	return joined, nil
}

// negative matches numbers, sizes and times such as -5, -1.5h and -64MiB.
var negative = regexp.MustCompile(`^-[0-9.][0-9A-Za-z.,_]*$`)

// valueFlags appends the flags of a node and its commands that have a value.
func valueFlags(n *kong.Node, list []string) []string {
	for _, f := range n.Flags {
		if !f.IsBool() {
			list = append(list, "--"+f.Name)
		}
		for _, alias := range f.Aliases {
			list = append(list, "--"+strings.TrimPrefix(alias, "--"))
		}
	}
	for _, child := range n.Children {
		list = valueFlags(child, list)
	}
	return list
}
