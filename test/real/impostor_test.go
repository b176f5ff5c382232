package real_test

import "net/http"

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// impostor claims to be a master, in the headers that only the proxy may set.
func impostor(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("X-Remote-User", "mallory")
		r.Header.Set("X-Remote-Group", "system:masters")
		return next.RoundTrip(r)
	})
}
