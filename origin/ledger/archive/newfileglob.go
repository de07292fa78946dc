package archive

import "strings"

// escapeGlob makes filepath.Glob match a name as it is.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
