package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/text/language"

	"github.com/addrspec/addrspec/origin/api/wire"
)

// Operator returns the handler of the operator's listener.
func (s *Server) Operator() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := s.match(r)
		if !route.operator {
			route.name, route.handle = unknownRoute.name, (*Server).notOperatorPath
		}
		s.respond(w, r, route)
	})
}

func (s *Server) notOperatorPath(*http.Request) wire.Response {
	return wire.NotFound.With("There is no such path on the operator's listener; it has GET /metrics, GET /readyz " +
		"and GET /healthz.").Response(wire.Flat)
}

// healthz returns 200 once requests can be served.
func (s *Server) healthz(*http.Request) wire.Response {
	return wire.Response{Status: http.StatusOK, Body: []byte(`{"status":"ok"}`)}
}

// readyz returns 503 while the ledger cannot commit, while the resolvers are not
// believed and once the server stops, so that a load balancer sends requests elsewhere.
func (s *Server) readyz(r *http.Request) wire.Response {
	if s.stopping.Err() != nil {
		return wire.Unavailable("The service is stopping.").Response(wire.Flat)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.Ledger.Ready(ctx); err != nil {
		if r.Context().Err() == nil { // the client is still connected
			s.logError("not ready", err)
		}
		return wire.Unavailable("The ledger cannot commit at the moment.").Response(wire.Flat)
	}
	if s.Distrusted != nil && s.Distrusted() {
		return wire.Unavailable("The resolvers deny MX records that exist, so lookups fail (--dns-strict). " +
			"The log has their addresses.").Response(wire.Flat)
	}
	info := s.Engine.View().Info()
	return wire.Response{Status: http.StatusOK, Body: wire.Encode(struct {
		Status   string `json:"status"`
		Database string `json:"database"`
		Engine   string `json:"engine"`
		Lists    string `json:"lists"`
		Model    string `json:"model"`
	}{"ready", "ok", info.Engine, info.Lists, info.Model})}
}

// Metrics are the metrics of the HTTP server. Their only labels are route and
// status, and of sign-up hooks the name and the decision.
type Metrics struct {
	gatherer prometheus.Gatherer
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	hooks    *prometheus.CounterVec
}

// NewMetrics registers the metrics with registry. /metrics shows all metrics of
// the registry.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		gatherer: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_requests_total", Help: "Requests served, by route and HTTP status.",
		}, []string{"route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "addrspec_request_seconds", Help: "Time from the end of a request's header until its response is sent.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 15),
		}, []string{"route"}),
		hooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_hook_decisions_total", Help: "Calls of sign-up hooks, by hook and decision: allow, deny, those two by on_error, unsigned or refused.",
		}, []string{"hook", "decision"}),
	}
	registry.MustRegister(m.requests, m.latency, m.hooks)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
}

// Refusal returns the whole response to a request that reaches no handler (package conn), and counts it.
func (m *Metrics) Refusal(status int) []byte {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
	return wire.Refusal(status)
}

// metrics serves GET /metrics in Prometheus text format.
func (s *Server) metrics(*http.Request) wire.Response {
	families, err := s.Metrics.gatherer.Gather()
	if err != nil {
		s.logError("metrics are incomplete", err)
	}
	var page bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	encoder := expfmt.NewEncoder(&page, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return wire.Defect().Response(wire.Flat)
		}
	}
	return wire.Response{Status: http.StatusOK, Body: page.Bytes(), ContentType: string(format)}
}

// logEntry is what is logged and counted of a request: never the path, which has
// an address, nor a header, which may be a key.
type logEntry struct {
	route  string
	status int
	took   time.Duration
	id     string
	served bool // returned 200 to an account
}

// log counts a request and logs it.
func (s *Server) log(r logEntry) {
	s.Metrics.observe(r)
	if !r.served && !s.unserved.Allow() {
		s.leftOut.Add(1)
		return
	}
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0) // Logger would look for its caller, which is not logged
	line.AddAttrs(slog.String("route", r.route), slog.Int("status", r.status),
		slog.Duration("took", r.took), slog.String("request_id", r.id))
	if leftOut := s.leftOut.Swap(0); leftOut > 0 {
		line.AddAttrs(slog.Int64("left_out", leftOut))
	}
	if log := s.Log.Handler(); log.Enabled(s.stopping, slog.LevelInfo) {
		_ = log.Handle(s.stopping, line)
	}
}

// unservedLines is the number of lines a second for requests that are refused or have no account, so that
// callers without a key, or with a free key, cannot fill the disk. The metrics count all requests.
const unservedLines = 100

// logError logs an error for the operator. Errors of the ledger, the resolver and
// the module contain no address and no key.
func (s *Server) logError(what string, err error) {
	s.Log.Error(what, slog.String("error", err.Error()))
}

// logPanic logs the type of a panic's value, not the value, which may contain
// input.
func (s *Server) logPanic(route string, cause any) {
	s.Log.Error("panic", slog.String("route", route), slog.String("type", fmt.Sprintf("%T", cause)))
}

// securityTxt serves GET /.well-known/security.txt in the media type that RFC 9116
// section 3 requires, or 404 if no contact is configured.
func (s *Server) securityTxt(r *http.Request) wire.Response {
	if s.SecurityTxt == nil || len(s.SecurityTxt.Contacts) == 0 {
		return s.notFound(r)
	}
	return wire.Response{Status: http.StatusOK, Body: s.SecurityTxt.Text(time.Now()), ContentType: "text/plain; charset=utf-8"}
}

// SecurityTxtPath is where the file is served (RFC 9116 section 3).
const SecurityTxtPath = "/.well-known/security.txt"

// maxContacts is how many contacts a file may have. RFC 9116 has no limit.
const maxContacts = 10

const maxURI = 1000

// A SecurityTxt is the content of a security.txt.
type SecurityTxt struct {
	Contacts  []string // URIs, the preferred one first
	Policy    string   // a URI, or ""
	Canonical string   // where the file is, or ""
	Languages string   // language tags separated by commas, or ""
}

// Check returns an error for what RFC 9116 does not allow.
func (f *SecurityTxt) Check() error {
	if len(f.Contacts) == 0 {
		if f.Policy != "" || f.Languages != "" {
			return errors.New("--security-policy and --security-languages need --security-contact, which security.txt must have (RFC 9116 section 2.5.3)")
		}
		return nil
	}
	if len(f.Contacts) > maxContacts {
		return fmt.Errorf("--security-contact is given %d times: must be at most %d times", len(f.Contacts), maxContacts)
	}
	errs := []error{checkPolicy(f.Policy), checkLanguages(f.Languages)}
	for _, contact := range f.Contacts {
		errs = append(errs, checkContact(contact))
	}
	return errors.Join(errs...)
}

// checkContact accepts mailto:, tel: and https: (RFC 9116 section 2.5.3).
func checkContact(text string) error {
	u, err := url.Parse(text)
	if err == nil && printable(text) {
		switch u.Scheme {
		case "https":
			err = checkWeb(u)
		case "mailto":
			_, err = mail.ParseAddress(u.Opaque)
		case "tel":
			err = checkPhone(u.Opaque)
		default:
			err = errors.New("another scheme")
		}
	}
	if err != nil || !printable(text) {
		return fmt.Errorf("--security-contact %q must be a URI such as mailto:security@addrspec.example, https://addrspec.example/report or tel:+1-201-555-0123", text)
	}
	return nil
}

func checkPolicy(text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && u.Scheme == "https" && checkWeb(u) == nil && printable(text) {
		return nil
	}
	return fmt.Errorf("--security-policy %q must be an https URI such as https://addrspec.example/security", text)
}

func checkWeb(u *url.URL) error {
	if u.Hostname() == "" || u.User != nil {
		return errors.New("no host")
	}
	return nil
}

// checkPhone accepts a global number (RFC 3966 section 3).
func checkPhone(number string) error {
	digits, ok := strings.CutPrefix(number, "+")
	if !ok || !strings.ContainsAny(digits, "0123456789") || strings.Trim(digits, "0123456789-.()") != "" {
		return errors.New("not a global number")
	}
	return nil
}

// checkLanguages accepts tags such as en and pt-BR (RFC 5646).
func checkLanguages(list string) error {
	if list == "" {
		return nil
	}
	for tag := range strings.SplitSeq(list, ",") {
		if _, err := language.Parse(strings.TrimSpace(tag)); err != nil {
			return fmt.Errorf("--security-languages %q must be language tags separated by commas, such as en,de", list)
		}
	}
	return nil
}

// printable reports whether a URI is short and printable ASCII, so that it stays on
// its line (RFC 3986 section 2).
func printable(uri string) bool {
	return len(uri) <= maxURI && !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Text returns the file at a time.
func (f *SecurityTxt) Text(now time.Time) []byte {
	var text []byte
	field := func(name, value string) {
		if value != "" {
			text = fmt.Appendf(text, "%s: %s\r\n", name, value)
		}
	}
	for _, contact := range f.Contacts {
		field("Contact", contact)
	}
	field("Expires", securityTxtExpires(now).Format(time.RFC3339))
	field("Preferred-Languages", f.Languages)
	field("Canonical", f.Canonical)
	field("Policy", f.Policy)
	return text
}

// securityTxtExpires returns the beginning of the month that is six months away: all replicas
// write the same, and it is less than a year (RFC 9116 section 2.5.5).
func securityTxtExpires(now time.Time) time.Time {
	now = now.UTC()
	return time.Date(now.Year(), now.Month()+6, 1, 0, 0, 0, 0, time.UTC)
}
