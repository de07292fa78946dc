package compile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// withoutEmbed writes an overlay (see `go help build`) of the sources of dir that
// contains embedded files as string literals, and returns its path. The program
// is the same, but package embed imports io/fs, time and syscall, which the module
// does not need otherwise: 49 KB of it, compressed.
func withoutEmbed(ctx context.Context, temp, dir string) (overlay string, err error) {
	// Read all sources of the project, though few embed a file: go test records the
	// files that a test reads, and reuses its result only if none has changed.
	const filter = `{{if not .Standard}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := golang(ctx, "list", "-deps", "-f", filter, project+dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for n, file := range strings.FieldsFunc(list, newline) {
		source, changed, err := inline(file)
		if err != nil {
			return "", err
		}
		if !changed {
			continue
		}
		replace[file] = filepath.Join(temp, "source"+strconv.Itoa(n)+".go")
		if err := os.WriteFile(replace[file], source, 0o600); err != nil {
			return "", err
		}
	}
	encoded, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

func newline(r rune) bool { return r == '\n' }

// embedded matches a variable with one embedded file, alone or in a var group.
var embedded = regexp.MustCompile(`(?m)^[ \t]*//go:embed (\S+)\n([ \t]*(?:var )?\w+) +(\[\]byte|string)$`)

// inline returns the Go source in file with embedded files replaced by string
// literals, and whether there were any.
func inline(file string) (source []byte, changed bool, err error) {
	if source, err = os.ReadFile(file); err != nil {
		return nil, false, err
	}
	source = embedded.ReplaceAllFunc(source, func(match []byte) []byte {
		part := embedded.FindSubmatch(match)
		contents, readErr := os.ReadFile(filepath.Join(filepath.Dir(file), string(part[1])))
		if readErr != nil {
			err = fmt.Errorf("%s embeds a file: %w", file, readErr)
		}
		changed = true
		return fmt.Appendf(nil, "%s = %s(%+q)", part[2], part[3], contents)
	})
	return bytes.Replace(source, []byte(`_ "embed"`), []byte(`_ "unsafe"`), 1), changed, err
}
