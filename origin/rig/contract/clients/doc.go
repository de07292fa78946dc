// Package clients tests openapi.json with the tools that its readers use: two
// linters, Schemathesis, and a generator of clients each for Go, TypeScript and
// Python. The client is made by the commands of origin/api/README.md, compiled or
// type-checked, and used by a program in the directory of its language.
//
// The tools are fetched by build.sh: those of npm by package-lock.json, those of
// Python by requirements.txt, oapi-codegen by .ci/tools. A test whose tool is
// missing is skipped.
package clients
