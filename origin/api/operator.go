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
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/text/language"
)

// operatorRoutes are the routes for the operator's tools. If the operator has a
// listener, only those with public set stay on the public one as well.
var operatorRoutes = map[string]struct{ public bool }{
	"healthz": {true},
	"readyz":  {false},
	"metrics": {false},
}

// publicRoute returns r, or the 404 route if the public listener does not serve
// r.
func (s *Server) publicRoute(r route) route {
	if of, ok := operatorRoutes[r.name]; ok && s.OperatorApart && !of.public {
		return route{"none", nil, (*Server).notFound}
	}
	return r
}

// Operator returns the handler of the operator's listener.
func (s *Server) Operator() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := s.match(r)
		if _, ok := operatorRoutes[found.name]; !ok {
			found = route{"none", nil, (*Server).notOperatorPath}
		}
		s.respond(w, r, found)
	})
}

func (s *Server) notOperatorPath(*http.Request) response {
	return notFound.with("There is no such path on the operator's listener; it has GET /metrics, GET /readyz and GET /healthz.").response(flat)
}

// healthz returns 200 once requests can be served.
func (s *Server) healthz(*http.Request) response {
	return response{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}
}

// readyz returns 503 while the ledger cannot commit, while the resolvers are not
// believed and once the server stops, so that a load balancer sends requests elsewhere.
func (s *Server) readyz(r *http.Request) response {
	if s.stopping.Err() != nil {
		return unavailable("The service is stopping.").response(flat)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	if err := s.Ledger.Ready(ctx); err != nil {
		if r.Context().Err() == nil { // the client is still connected
			s.logError("not ready", err)
		}
		return unavailable("The ledger cannot commit at the moment.").response(flat)
	}
	if s.Distrusted != nil && s.Distrusted() {
		return unavailable("The resolvers deny MX records that exist, so lookups fail (--dns-strict). The log has their addresses.").response(flat)
	}
	info := s.Engine.View().Info()
	return response{status: http.StatusOK, body: encode(struct {
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

	connections prometheus.Gauge
	shed        prometheus.Counter
	refused     prometheus.Counter

	hooks *prometheus.CounterVec
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
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "addrspec_connections", Help: "Open client connections.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_shed_total", Help: "Idle connections closed to make room for a new one.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "addrspec_connections_refused_total", Help: "Connections refused because none was idle.",
		}),
		hooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "addrspec_hook_decisions_total", Help: "Calls of sign-up hooks, by hook and decision: allow, deny, those two by on_error, unsigned or refused.",
		}, []string{"hook", "decision"}),
	}
	registry.MustRegister(m.requests, m.latency, m.connections, m.shed, m.refused, m.hooks)
	return m
}

func (m *Metrics) observe(r logEntry) {
	m.requests.WithLabelValues(r.route, strconv.Itoa(r.status)).Inc()
	m.latency.WithLabelValues(r.route).Observe(r.took.Seconds())
}

// countProtocolError counts the response to a request that is not well-formed HTTP
// and reaches no handler.
func (m *Metrics) countProtocolError(status int) {
	m.requests.WithLabelValues("none", strconv.Itoa(status)).Inc()
}

// metrics serves GET /metrics in Prometheus text format.
func (s *Server) metrics(*http.Request) response {
	families, err := s.Metrics.gatherer.Gather()
	if err != nil {
		s.logError("metrics are incomplete", err)
	}
	var page bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	encoder := expfmt.NewEncoder(&page, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return internalProblem().response(flat)
		}
	}
	return response{status: http.StatusOK, body: page.Bytes(), contentType: string(format)}
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
	now, leftOut := time.Now(), 0
	if !r.served {
		var ok bool
		if leftOut, ok = s.unservedLimit.allow(now); !ok {
			return
		}
	}
	line := slog.NewRecord(now, slog.LevelInfo, "request", 0) // Logger would look for its caller, which is not logged
	line.AddAttrs(slog.String("route", r.route), slog.Int("status", r.status),
		slog.Duration("took", r.took), slog.String("request_id", r.id))
	if leftOut > 0 {
		line.AddAttrs(slog.Int("left_out", leftOut))
	}
	if log := s.Log.Handler(); log.Enabled(s.stopping, slog.LevelInfo) {
		_ = log.Handle(s.stopping, line)
	}
}

// unservedLines is the number of lines a second for requests that are refused or
// have no account, so that callers without a key, or with a free one, cannot fill
// the disk. The metrics count all requests.
const unservedLines = 100

// A lineLimit allows unservedLines in each second.
type lineLimit struct {
	mu      sync.Mutex
	second  int64
	lines   int // in this second
	leftOut int // since the last allowed line
}

// allow reports whether a line may be logged, and how many before it were left
// out.
func (l *lineLimit) allow(now time.Time) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := now.Unix(); second != l.second {
		l.second, l.lines = second, 0
	}
	if l.lines >= unservedLines {
		l.leftOut++
		return 0, false
	}
	l.lines++
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}

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
func (s *Server) securityTxt(r *http.Request) response {
	if s.SecurityTxt == nil || len(s.SecurityTxt.Contacts) == 0 {
		return s.notFound(r)
	}
	return response{status: http.StatusOK, body: s.SecurityTxt.Text(time.Now()), contentType: "text/plain; charset=utf-8"}
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
