package fakekube

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/vimbroker/vimbroker/test/fake"
)

// Control is the handler behind the control endpoint of the fakekube program:
// what a test in another process can see and do. All bodies are JSON.
//
//	GET    /names?resource=secrets&namespace=N   the objects' names, as Names gives them
//	DELETE /names?resource=secrets&namespace=N&name=X
//	GET    /tokens                               the tokens alive, as Tokens gives them
//	GET    /requests                             the requests since the last call
//	POST   /faults                               arms a Fault
//	DELETE /faults                               disarms all
//	PUT    /denials                              replaces the denials
//	GET    /identity                             the UID of kube-system
//	POST   /identity                             changes it
//	POST   /black-hole?on=true|false
//	GET    /token?ttl=1h                         an administrator's token
//
// It has no authentication: serve it on loopback only.
func (s *Server) Control() http.Handler {
	mux := http.NewServeMux()
	show := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /names", func(w http.ResponseWriter, r *http.Request) {
		names := s.Names(r.FormValue("resource"), r.FormValue("namespace"))
		show(w, append([]string{}, names...))
	})
	mux.HandleFunc("DELETE /names", func(w http.ResponseWriter, r *http.Request) {
		if !s.Delete(r.FormValue("resource"), r.FormValue("namespace"), r.FormValue("name")) {
			http.Error(w, "no such object", http.StatusNotFound)
		}
	})
	mux.HandleFunc("GET /tokens", func(w http.ResponseWriter, _ *http.Request) { show(w, append([]Token{}, s.Tokens()...)) })
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { show(w, append([]fake.Request{}, s.Requests()...)) })
	mux.HandleFunc("POST /faults", func(w http.ResponseWriter, r *http.Request) {
		var f fake.Fault
		if err := strict(r, &f); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if err := f.Check(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else {
			s.Fail(f)
		}
	})
	mux.HandleFunc("DELETE /faults", func(http.ResponseWriter, *http.Request) { s.Heal() })
	mux.HandleFunc("PUT /denials", func(w http.ResponseWriter, r *http.Request) {
		var d []Denial
		if err := strict(r, &d); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.Deny(d...)
	})
	mux.HandleFunc("GET /identity", func(w http.ResponseWriter, _ *http.Request) { show(w, s.Identity()) })
	mux.HandleFunc("POST /identity", func(w http.ResponseWriter, _ *http.Request) { show(w, s.ChangeIdentity()) })
	mux.HandleFunc("POST /black-hole", func(_ http.ResponseWriter, r *http.Request) { s.BlackHole(r.FormValue("on") == "true") })
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) {
		ttl := time.Duration(0)
		if text := r.FormValue("ttl"); text != "" {
			var err error
			if ttl, err = time.ParseDuration(text); err != nil {
				http.Error(w, "ttl is no duration", http.StatusBadRequest)
				return
			}
		}
		show(w, s.AdminTokenFor(ttl))
	})
	return mux
}

func strict(r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<20))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
