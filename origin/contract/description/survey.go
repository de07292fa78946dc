package description

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/addrspec/addrspec/origin/api"
	"github.com/addrspec/addrspec/origin/origintest"
)

// A Survey compares answers with the description and records what of it was
// seen. It is safe for concurrent use.
type Survey struct {
	document *document

	mu   sync.Mutex
	seen map[string]bool // features; see features
}

// New returns a survey of openapi.json.
func New(t testing.TB) *Survey {
	t.Helper()
	return newSurvey(t, "openapi.json", map[string][]byte{"openapi.json": api.Description()})
}

// NewFile returns a survey of a description that is not served: openapi-edge.json or
// openapi-hooks.json.
func NewFile(t testing.TB, file string) *Survey {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name := filepath.Base(file)
	return newSurvey(t, name, map[string][]byte{name: text, "openapi.json": api.Description()})
}

func newSurvey(t testing.TB, main string, files map[string][]byte) *Survey {
	t.Helper()
	d, err := parse(main, files)
	require.NoError(t, err)
	return &Survey{document: d, seen: map[string]bool{}}
}

// Check returns an error if the answer is not as described.
func (s *Survey) Check(a Answer) error {
	r, err := s.document.check(&a)
	if err != nil {
		return fmt.Errorf("%s is not as described: %s %d: %w", r.name(), a.Method, a.Status, err)
	}
	s.record(&r, &a)
	return nil
}

// parameters has a value for each parameter of a path.
var parameters = strings.NewReplacer("{email}", "jane@mail.example", "{name}", "signup")

// Requests returns a request for each operation, with no header and no body.
func (s *Survey) Requests() (all []origintest.Request) {
	for template, item := range s.document.paths {
		target := parameters.Replace(template)
		for method := range item {
			all = append(all, origintest.Request{Method: strings.ToUpper(method), Target: target})
		}
	}
	return all
}

// name returns the name of a response for people.
func (r *described) name() string {
	if r.operation == "" {
		return "the answer without an operation"
	}
	return "the answer of " + r.operation
}

// record adds the features of an answer to those seen.
func (s *Survey) record(r *described, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[feature(r.operation, strconv.Itoa(a.Status), codeOf(a.Body))] = true
	for name := range a.Header {
		if name, ok := r.header(name); ok {
			s.seen[feature(r.operation, "header", name)] = true
		}
	}
}

// codeOf returns the code in a body of shape A or B, or "".
func codeOf(body []byte) string {
	var flat struct {
		Code  string
		Error json.RawMessage
	}
	if json.Unmarshal(body, &flat) != nil || flat.Code != "" {
		return flat.Code
	}
	_ = json.Unmarshal(flat.Error, &flat) // shape B
	return flat.Code
}

// feature returns the name of a feature: an operation, or "any" for all of
// them, and a status with its code, or a header.
func feature(operation string, parts ...string) string {
	if operation == "" {
		operation = "any"
	}
	return strings.TrimSpace(operation + " " + strings.Join(parts, " "))
}

// RequireComplete requires that everything described was seen, but for what
// matches a regular expression in except, whose value is the reason. An
// exception that was seen, or matches nothing described, fails the test as well.
func (s *Survey) RequireComplete(t testing.TB, except map[string]string) {
	t.Helper()
	missing, err := s.missing(except)
	require.NoError(t, err)
	require.Empty(t, missing, strings.Join(missing, "\n"))
}

// missing returns what RequireComplete reports.
func (s *Survey) missing(except map[string]string) (list []string, err error) {
	described, err := s.document.features()
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[string]bool{}
	for _, f := range slices.Sorted(maps.Keys(described)) {
		pattern := matching(f, except)
		used[pattern] = true
		switch {
		case pattern == "" && !s.seen[f]:
			list = append(list, f+": described, but no answer had it")
		case pattern != "" && s.seen[f]:
			list = append(list, f+": seen, so it is no exception ("+pattern+")")
		}
	}
	for pattern := range except {
		if !used[pattern] {
			list = append(list, "the exception "+pattern+" matches nothing that is described")
		}
	}
	return list, err
}

// matching returns the exception that a feature matches, or "".
func matching(feature string, except map[string]string) string {
	for pattern := range except {
		if regexp.MustCompile("^(?:" + pattern + ")$").MatchString(feature) {
			return pattern
		}
	}
	return ""
}
