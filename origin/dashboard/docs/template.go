package docs

import (
	"embed"
	"html/template"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"slug": slug,
}).ParseFS(templateFiles, "templates/*.html"))
