package docs

import (
	"embed"
	"html/template"
	"sync"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates is parsed when it is first used: most commands do not show documentation.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"slug": slug}).ParseFS(templateFiles, "templates/*.html"))
})
