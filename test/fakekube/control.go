package fakekube

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vimbroker/vimbroker/test/fake"
)

// Names lists the objects of a kind (its plural) as NAMESPACE/NAME, sorted; an
// empty namespace lists all. Those being deleted are included.
func (s *Server) Names(plural, namespace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k := range s.objects {
		if k.resource == plural && (namespace == "" || k.namespace == namespace) {
			out = append(out, strings.TrimPrefix(k.String(), "/"))
		}
	}
	slices.Sort(out)
	return out
}

// Objects shows all objects, each in one line of JSON, without what the server alone says of them.
func (s *Server) Objects() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k, o := range s.objects {
		o = o.DeepCopyObject().(object)
		o.SetUID("")
		o.SetResourceVersion("")
		o.SetCreationTimestamp(metav1.Time{})
		text, _ := json.Marshal(o) // it was decoded
		out = append(out, k.resource+" "+strings.TrimPrefix(k.String(), "/")+" "+string(text))
	}
	slices.Sort(out)
	return out
}

// Tokens lists the tokens that would be taken now, administrators' included.
func (s *Server) Tokens() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Token
	for _, c := range s.issued {
		if !s.alive(c) {
			continue
		}
		t := Token{ID: c.ID, Namespace: c.Kubernetes.Namespace, ServiceAccount: c.Kubernetes.ServiceAccount.Name}
		if c.Kubernetes.Secret != nil {
			t.Secret = c.Kubernetes.Secret.Name
		}
		if c.Expiry != 0 {
			t.ExpiresAt = time.Unix(c.Expiry, 0).UTC()
		}
		out = append(out, t)
	}
	return out
}

// Delete removes an object behind everyone's back, finalizers or not, and
// reports whether it was there.
func (s *Server) Delete(plural, namespace, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{plural, namespace, name}
	_, ok := s.objects[k]
	s.drop(k)
	return ok
}

// Update changes an object's metadata behind everyone's back (labels,
// finalizers, uid), and reports whether it was there.
func (s *Server) Update(plural, namespace, name string, change func(metav1.Object)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{plural, namespace, name}
	o, ok := s.objects[k]
	if !ok {
		return false
	}
	o = o.DeepCopyObject().(object)
	change(o)
	s.objects[k] = o
	return true
}

// Deny takes these rights away from everyone, and gives back those that an
// earlier Deny took.
func (s *Server) Deny(d ...Denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denials = slices.Clone(d)
}

// Identity is the UID of kube-system.
func (s *Server) Identity() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.objects[key{"namespaces", "", "kube-system"}].GetUID())
}

// ChangeIdentity makes this another cluster: kube-system gets a new UID, which
// is returned.
func (s *Server) ChangeIdentity() string {
	uid := uuid.NewString()
	s.Update("namespaces", "", "kube-system", func(o metav1.Object) { o.SetUID(types.UID(uid)) })
	return uid
}

// FailNext makes the next times requests of method and path (a regular
// expression) be refused with status.
func (s *Server) FailNext(method, path string, status, times int) {
	s.Fail(fake.Fault{Method: method, Path: path, Kind: fake.Refuse, Status: status, Times: times})
}

// After runs f once, after the next request of method and path (a regular
// expression) has taken effect and before it is answered.
func (s *Server) After(method, path string, f func()) {
	s.Fail(fake.Fault{Method: method, Path: path, Kind: fake.Pass, Late: true, Reached: f})
}

// Remember returns what has all stand again as it stands now, for a test that does one thing after another to it.
func (s *Server) Remember() (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied := func(objects map[key]object) map[key]object {
		all := make(map[key]object, len(objects))
		for k, o := range objects {
			all[k] = o.DeepCopyObject().(object)
		}
		return all
	}
	objects, revision, issued := copied(s.objects), s.revision, slices.Clone(s.issued)
	cache, revoked, denials := maps.Clone(s.cache), maps.Clone(s.revoked), slices.Clone(s.denials)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.objects, s.revision, s.issued = copied(objects), revision, slices.Clone(issued)
		s.cache, s.revoked, s.denials = maps.Clone(cache), maps.Clone(revoked), slices.Clone(denials)
	}
}
