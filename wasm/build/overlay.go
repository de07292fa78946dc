package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// withoutEmbed writes an overlay (see `go help build`) of the sources of dir
// in which the files that package embed would bring stand as strings. The
// program is the same, but embed comes with io/fs, time and syscall, which
// nothing else in the module needs: 49 KB of it, compressed.
func withoutEmbed(ctx context.Context, temp, dir string) (overlay string, err error) {
	const filter = `{{if and .EmbedFiles (not .Standard)}}{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := golang(ctx, "list", "-deps", "-f", filter, project+dir)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for n, file := range strings.FieldsFunc(list, newline) {
		source, err := inline(file)
		if err != nil {
			return "", err
		}
		replace[file] = filepath.Join(temp, "source"+strconv.Itoa(n)+".go")
		if err := os.WriteFile(replace[file], source, 0o600); err != nil {
			return "", err
		}
	}
	octets, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(temp, "overlay.json")
	return overlay, os.WriteFile(overlay, octets, 0o600)
}

func newline(r rune) bool { return r == '\n' }

// embedded matches a variable of one file's octets, on its own or in a group.
var embedded = regexp.MustCompile(`(?m)^[ \t]*//go:embed (\S+)\n([ \t]*(?:var )?\w+) +(\[\]byte|string)$`)

// inline returns the source in file with its embedded files as strings.
func inline(file string) ([]byte, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	source = embedded.ReplaceAllFunc(source, func(match []byte) []byte {
		part := embedded.FindSubmatch(match)
		octets, readErr := os.ReadFile(filepath.Join(filepath.Dir(file), string(part[1])))
		if readErr != nil {
			err = fmt.Errorf("%s embeds a file: %w", file, readErr)
		}
		return fmt.Appendf(nil, "%s = %s(%+q)", part[2], part[3], octets)
	})
	return []byte(strings.Replace(string(source), `_ "embed"`, `_ "unsafe"`, 1)), err
}
