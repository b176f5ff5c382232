package fakekube

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// event is a change of an object: from nothing where it is new, to nothing where it is gone.
type event struct {
	key
	revision int64
	was, is  object
}

// watched are the kinds whose changes are told.
var watched = map[string]bool{"secrets": true, "clusters": true}

// tell notes a change for the watches. The caller holds s.mu.
func (s *Server) tell(k key, was, is object) {
	if !watched[k.resource] {
		return
	}
	s.events = append(s.events, event{k, s.revision, was, is})
	close(s.news)
	s.news = make(chan struct{})
}

// ForgetHistory drops what has changed so far: a watch from before is answered 410.
func (s *Server) ForgetHistory() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events, s.forgot = nil, s.revision
}

// EndWatches ends the watches that there are, as an API server does when their time is up.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ends)
	s.ends, s.watching = make(chan struct{}), 0
}

// Watching is how many watches are open, which [Server.EndWatches] would end.
func (s *Server) Watching() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watching
}

// watch answers with changes as they come, until the caller or the server has enough.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, c call) {
	refused := func(err apierrors.APIStatus) {
		status := err.Status()
		write(w, r, int(status.Code), &status, schema.GroupVersion{Version: "v1"})
	}
	u, err := s.authenticate(r)
	if err != nil {
		refused(apierrors.NewUnauthorized("Unauthorized"))
		return
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil || !watched[c.Resource] {
		refused(apierrors.NewBadRequest("the fake does not watch this"))
		return
	}
	at, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	s.mu.Lock()
	may, forgot := s.allowed(u, c), s.forgot
	s.mu.Unlock()
	switch {
	case !may:
		refused(apierrors.NewForbidden(c.GroupResource(), "", nil))
		return
	case at < forgot:
		refused(apierrors.NewResourceExpired("too old resource version"))
		return
	}
	s.mu.Lock()
	ends := s.ends
	s.watching++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if ends == s.ends {
			s.watching--
		}
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for {
		_ = flush.Flush()
		s.mu.Lock()
		var lines []any
		for _, e := range s.events {
			if e.revision > at && e.resource == c.Resource && e.namespace == c.namespace {
				if line := e.line(selector, partial(r)); line != nil {
					lines = append(lines, line)
				}
			}
		}
		at = max(at, s.revision)
		news := s.news
		s.mu.Unlock()
		for _, line := range lines {
			if json.NewEncoder(w).Encode(line) != nil {
				return
			}
		}
		if len(lines) > 0 {
			continue
		}
		select {
		case <-news:
		case <-ends:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// line is what a watch says of an event; nil if it is not about what was selected.
func (e event) line(selector labels.Selector, partial bool) any {
	before := e.was != nil && selector.Matches(labels.Set(e.was.GetLabels()))
	after := e.is != nil && selector.Matches(labels.Set(e.is.GetLabels()))
	kind, shown := "MODIFIED", e.is
	switch {
	case !before && !after:
		return nil
	case !after:
		kind, shown = "DELETED", e.was
	case !before:
		kind = "ADDED"
	}
	var o any = shown.DeepCopyObject()
	if partial {
		o = metadata(shown, strconv.FormatInt(e.revision, 10))
	}
	return map[string]any{"type": kind, "object": o}
}

// partial reports whether a request asks for metadata alone.
func partial(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

func metadata(o metav1.Object, version string) any {
	m := meta.AsPartialObjectMetadata(o)
	m.ResourceVersion = version
	return m
}

// metadataOf is a list with nothing but the metadata of its items.
func metadataOf(list runtime.Object) (any, error) {
	all, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	items := make([]any, 0, len(all))
	for _, o := range all {
		items = append(items, metadata(o.(object), o.(object).GetResourceVersion()))
	}
	return map[string]any{
		"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
		"metadata": map[string]any{"resourceVersion": m.GetResourceVersion(), "continue": m.GetContinue()}, "items": items,
	}, nil
}
