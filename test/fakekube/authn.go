package fakekube

import (
	"crypto/subtle"
	"crypto/x509"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// user is who a request comes from.
type user struct {
	name   string
	uid    string
	groups []string
	extra  map[string][]string
}

const masters = "system:masters"

// authenticate says who a request comes from: a client certificate, a bearer
// token or a name and password, in that order, as an API server looks for them.
// A request with none is anonymous; one with a wrong one is refused.
func (s *Server) authenticate(r *http.Request) (user, error) {
	certified := r.TLS != nil && len(r.TLS.PeerCertificates) > 0
	if certified {
		cert := r.TLS.PeerCertificates[0]
		_, err := cert.Verify(x509.VerifyOptions{
			Roots: s.Authority.Pool(), CurrentTime: s.now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err == nil {
			return authenticated(user{name: cert.Subject.CommonName, groups: cert.Subject.Organization}), nil
		}
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		c, ok := s.verify(strings.TrimSpace(token))
		if !ok {
			return user{}, apierrors.NewUnauthorized("Unauthorized")
		}
		u := user{
			name: c.Subject, uid: c.Kubernetes.ServiceAccount.UID,
			groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + c.Kubernetes.Namespace},
			extra:  map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=" + c.ID}},
		}
		return authenticated(u), nil
	}
	if name, password, ok := r.BasicAuth(); ok {
		if name == s.Username && subtle.ConstantTimeCompare([]byte(password), []byte(s.Password)) == 1 {
			return authenticated(user{name: name, groups: []string{masters}}), nil
		}
		return user{}, apierrors.NewUnauthorized("Unauthorized")
	}
	if certified {
		return user{}, apierrors.NewUnauthorized("Unauthorized")
	}
	return user{name: "system:anonymous", groups: []string{"system:unauthenticated"}}, nil
}

func authenticated(u user) user {
	u.groups = append(u.groups, "system:authenticated")
	return u
}
