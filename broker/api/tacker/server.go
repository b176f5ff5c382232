package tacker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

const (
	// maxBody bounds a request body in bytes.
	maxBody = 1 << 20
	// answerTime bounds an answer, the check of a VIM included.
	answerTime = 2 * time.Minute
)

// Registry keeps VIMs; [broker.Broker] says what each method does.
type Registry interface {
	RegisterVIM(ctx context.Context, p policy.Principal, r broker.Registration) (broker.VIM, error)
	VIM(ctx context.Context, p policy.Principal, idOrName string) (broker.VIM, error)
	VIMs(ctx context.Context, p policy.Principal, q broker.VIMQuery) ([]broker.VIM, string, error)
	UpdateVIM(ctx context.Context, p policy.Principal, idOrName string, c broker.Change) (broker.VIM, error)
	DeleteVIM(ctx context.Context, p policy.Principal, idOrName string, d broker.Deletion) (v broker.VIM, gone bool, err error)
}

// Options wire the API. Fields without a stated default are required.
type Options struct {
	Registry      Registry
	Authenticator api.Authenticator
	// Keystone is the URL that callers without a token are pointed to; empty where
	// only static tokens are taken.
	Keystone string
	// Compat answers with the status codes that Tacker's server sends, mostly 500,
	// where its API reference has others.
	Compat bool
	// Log takes the text of errors that callers are not told.
	Log *slog.Logger
}

type server struct{ Options }

// New returns the handler of GET / and of everything under /v1.0. It starts nothing,
// and is safe for concurrent use.
func New(o Options) http.Handler { return &server{o} }

// ServeHTTP finds the operation. A path that is none is answered in HTML, before
// anyone asks for a token only if it is not under /v1.0/.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	r = r.WithContext(ctx)
	if id := audit.RequestID(ctx); id != "" {
		w.Header().Set("X-Openstack-Request-Id", "req-"+strings.TrimPrefix(id, "req-"))
	}
	if r.URL.Path == "/" && r.Method == http.MethodGet {
		s.versions(w, r)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/v1.0/") {
		notFound(w)
		return
	}
	p, err := api.Identify(r, s.Authenticator)
	if errors.Is(err, policy.ErrUnauthenticated) {
		s.unauthenticated(w)
		return
	}
	if err != nil {
		s.fail(w, r, operation{}, err)
		return
	}
	path, _ := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v1.0/"), ".json")
	id, member := strings.CutPrefix(path, "vims/")
	switch c := (call{r: r, p: p, id: id}); {
	case path == "extensions" && r.Method == http.MethodGet:
		write(w, http.StatusOK, extensions)
	case path == "vims" && r.Method == http.MethodPost:
		s.answer(w, c, operation{verb: "POST", status: http.StatusCreated}, s.create)
	case path == "vims" && r.Method == http.MethodGet:
		s.answer(w, c, operation{verb: "GET", status: http.StatusOK}, s.list)
	case !member || id == "" || strings.Contains(id, "/"):
		notFound(w)
	case r.Method == http.MethodGet:
		s.answer(w, c, operation{verb: "GET", status: http.StatusOK, id: id}, s.show)
	case r.Method == http.MethodPut:
		s.answer(w, c, operation{verb: "PUT", status: http.StatusOK, id: id}, s.update)
	case r.Method == http.MethodDelete:
		s.answer(w, c, operation{verb: "DELETE", status: http.StatusNoContent, id: id}, s.remove)
	default:
		notFound(w)
	}
}

// call is one request by a known caller.
type call struct {
	r  *http.Request
	p  policy.Principal
	id string // of the VIM; empty on the collection
}

// operation is what a call wants, for its answer.
type operation struct {
	verb, id string
	status   int
}

func (s *server) answer(w http.ResponseWriter, c call, o operation, h func(call) (any, error)) {
	body, err := h(c)
	switch {
	case err != nil:
		s.fail(w, c.r, o, err)
	case o.status == http.StatusNoContent:
		w.WriteHeader(o.status)
	default:
		write(w, o.status, body)
	}
}

func write(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil { // plain data always encodes
		status, text = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the caller may be gone
}

// notFound is how Tacker answers where it has nothing, whatever the method.
func notFound(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n"+
		"  The resource could not be found.<br /><br />\n\n\n\n </body>\n</html>")
}

// unauthenticated answers as keystonemiddleware does.
func (s *server) unauthenticated(w http.ResponseWriter) {
	challenge := `Bearer realm="vimbroker"`
	if s.Keystone != "" {
		challenge = `Keystone uri="` + s.Keystone + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	write(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{
		"code": http.StatusUnauthorized, "title": "Unauthorized",
		"message": "The request you have made requires authentication.",
	}})
}

// versions tells anyone where version 1.0 is.
func (s *server) versions(w http.ResponseWriter, r *http.Request) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	link := map[string]any{"rel": "self", "href": scheme + "://" + r.Host + "/v1.0"}
	write(w, http.StatusOK, map[string]any{"versions": []any{
		map[string]any{"id": "v1.0", "status": "CURRENT", "links": []any{link}},
	}})
}

// extensions are those that Tacker lists; of them only NFVO's VIMs are served, there
// as here.
var extensions = map[string]any{"extensions": []any{
	extension("COMMONSERVICES", "commonservices", "Common services"),
	extension("NFVO", "nfvo", "VIMs"),
	extension("VNFM", "vnfm", "Nothing: its resources are gone from version 1.0"),
}}

func extension(name, alias, description string) map[string]any {
	return map[string]any{"name": name, "alias": alias, "description": description, "links": []any{}}
}
