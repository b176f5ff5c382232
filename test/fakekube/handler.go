package fakekube

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/vimbroker/vimbroker/test/fake"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// maxBody is how much of a request the fake reads, as etcd limits a real one.
const maxBody = 3 << 20

// serve answers as an API server does, in JSON or protobuf as asked for.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if c := parseCall(r); c.verb == "watch" && c.isResource() {
		s.watch(w, r, c)
		return
	}
	status, answer, gv, err := s.answer(r)
	if err != nil {
		var known apierrors.APIStatus
		if !errors.As(err, &known) {
			known = apierrors.NewInternalError(err)
		}
		st := known.Status()
		status, answer, gv = int(st.Code), &st, schema.GroupVersion{Version: "v1"}
	}
	if status == http.StatusUnauthorized && r.ProtoMajor == 2 {
		w.Header().Set("Connection", "close") // UnauthenticatedHTTP2DOSMitigation of API servers
	}
	write(w, r, status, answer, gv)
}

// answer does what a request asks. The answer is an API object of version gv,
// or a plain value to be written as JSON.
func (s *Server) answer(r *http.Request) (status int, answer any, gv schema.GroupVersion, err error) {
	fail := func(err error) (int, any, schema.GroupVersion, error) { return 0, nil, gv, err }
	u, err := s.authenticate(r)
	if err != nil {
		return fail(err)
	}
	c := parseCall(r)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return fail(apierrors.NewBadRequest("reading body"))
	}
	if len(body) > maxBody {
		return fail(apierrors.NewRequestEntityTooLargeError("limit is 3145728"))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.allowed(u, c) {
		return fail(forbidden(u, c))
	}
	if !c.isResource() {
		switch {
		case c.path == "/version" || c.path == "/version/":
			return http.StatusOK, version.Info{Major: "1", Minor: "36", GitVersion: s.opts.Version, Platform: "linux/amd64"}, gv, nil
		case c.path == "/api/v1":
			core := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1"}
			for _, name := range []string{"configmaps", "namespaces", "pods", "secrets", "serviceaccounts", "services"} {
				core.APIResources = append(core.APIResources, metav1.APIResource{Name: name, Namespaced: name != "namespaces"})
			}
			return http.StatusOK, core, gv, nil
		case c.path == "/apis/"+clusterGroup && len(s.opts.ClusterAPI) > 0:
			return http.StatusOK, s.clusterVersions(), gv, nil
		case c.path == "/apis":
			return http.StatusOK, s.groups(), gv, nil
		case c.path == "/apis/"+clusterGroup:
			return fail(notServed())
		case public.MatchString(c.path):
			return http.StatusOK, []byte("ok"), gv, nil
		}
		return fail(notServed())
	}
	gv = c.GroupVersion()
	res, kept := find(c.GroupVersionResource)
	switch {
	case !kept:
		answer, err = s.review(u, c, body)
		return http.StatusCreated, answer, gv, err
	case c.subresource == "token" && res.Resource == "serviceaccounts" && c.verb == "create":
		req := &authenticationv1.TokenRequest{}
		if err := decode(body, req); err != nil {
			return fail(err)
		}
		answer, err = s.requestToken(c.namespace, c.name, req)
		return http.StatusCreated, answer, authenticationv1.SchemeGroupVersion, err
	case c.subresource != "", res.Group == clusterGroup && !slices.Contains(s.opts.ClusterAPI, res.Version):
		return fail(notServed())
	case res.Group == clusterGroup && c.verb != "get" && c.verb != "list":
		return fail(apierrors.NewMethodNotSupported(c.GroupResource(), c.verb))
	}
	namespace := c.namespace
	if !res.namespaced {
		namespace = ""
	}
	switch c.verb {
	case "get":
		answer, err = s.get(res, namespace, c.name)
		return http.StatusOK, answer, gv, err
	case "list":
		opts := metav1.ListOptions{}
		if err := scheme.ParameterCodec.DecodeParameters(r.URL.Query(), schema.GroupVersion{Version: "v1"}, &opts); err != nil {
			return fail(apierrors.NewBadRequest(err.Error()))
		}
		if opts.FieldSelector != "" {
			return fail(apierrors.NewBadRequest("the fake does not select by field"))
		}
		answer, err = s.list(res, namespace, opts)
		if err == nil && partial(r) {
			answer, err = metadataOf(answer.(runtime.Object))
		}
		return http.StatusOK, answer, gv, err
	case "create", "update":
		o, err := s.fresh(res)
		if err != nil {
			return fail(err)
		}
		if err := decode(body, o); err != nil {
			return fail(err)
		}
		if r.URL.Query().Get("dryRun") != "" {
			return http.StatusCreated, o, gv, nil
		}
		if c.verb == "create" {
			answer, err = s.create(res, namespace, o)
			return http.StatusCreated, answer, gv, err
		}
		answer, err = s.update(res, namespace, c.name, o)
		return http.StatusOK, answer, gv, err
	case "patch":
		answer, err = s.patch(res, namespace, c.name, r.Header.Get("Content-Type"), body)
		return http.StatusOK, answer, gv, err
	case "delete":
		opts := &metav1.DeleteOptions{}
		if len(body) > 0 {
			if err := decode(body, opts); err != nil {
				return fail(err)
			}
		}
		o, gone, err := s.remove(res, namespace, c.name, opts)
		if err != nil {
			return fail(err)
		}
		if !gone || res.Resource == "serviceaccounts" {
			return http.StatusOK, o, gv, nil
		}
		return http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{
			Name: c.name, Group: res.Group, Kind: res.Resource, UID: o.GetUID(),
		}}, schema.GroupVersion{Version: "v1"}, nil
	}
	return fail(apierrors.NewMethodNotSupported(c.GroupResource(), c.verb))
}

// review answers questions about the caller.
func (s *Server) review(u user, c call, body []byte) (any, error) {
	if c.Group == authenticationv1.GroupName {
		extra := map[string]authenticationv1.ExtraValue{}
		for k, v := range u.extra {
			extra[k] = v
		}
		out := &authenticationv1.SelfSubjectReview{}
		out.Status.UserInfo = authenticationv1.UserInfo{Username: u.name, UID: u.uid, Groups: u.groups, Extra: extra}
		return out, nil
	}
	if c.GroupVersionResource == subjectReviews {
		out := &authorizationv1.SubjectAccessReview{}
		if err := decode(body, out); err != nil {
			return nil, err
		}
		asked, err := reviewed(out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes)
		out.Status.Allowed = err == nil && s.allowed(user{name: out.Spec.User, groups: out.Spec.Groups}, asked)
		return out, err
	}
	out := &authorizationv1.SelfSubjectAccessReview{}
	if err := decode(body, out); err != nil {
		return nil, err
	}
	asked, err := reviewed(out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes)
	out.Status.Allowed = err == nil && s.allowed(u, asked)
	return out, err
}

// reviewed is the request that a review asks about.
func reviewed(a *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) (call, error) {
	switch {
	case a != nil:
		asked := call{verb: a.Verb, namespace: a.Namespace, name: a.Name, subresource: a.Subresource}
		asked.Group, asked.Version, asked.Resource = a.Group, a.Version, a.Resource
		return asked, nil
	case path != nil:
		return call{verb: path.Verb, path: path.Path}, nil
	}
	return call{}, apierrors.NewBadRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified")
}

func (s *Server) patch(res resource, namespace, name, contentType string, body []byte) (object, error) {
	old, err := s.get(res, namespace, name)
	if types.PatchType(contentType) == types.ApplyPatchType {
		return s.apply(res, namespace, name, old, body)
	}
	if err != nil {
		return nil, err
	}
	was, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	var is []byte
	switch types.PatchType(contentType) {
	case types.MergePatchType:
		is, err = jsonpatch.MergePatch(was, body)
	case types.StrategicMergePatchType:
		is, err = strategicpatch.StrategicMergePatch(was, body, old)
	default:
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType,
			Reason: metav1.StatusReasonUnsupportedMediaType, Message: "the fake takes merge and strategic merge patches only",
		}}
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	o, err := s.fresh(res)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(is, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return s.update(res, namespace, name, o)
}

// apply makes an object of what is applied in JSON, or puts it in the place of the one that it names; nothing is merged.
func (s *Server) apply(res resource, namespace, name string, old object, body []byte) (object, error) {
	o, err := s.fresh(res)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, o); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if old == nil {
		o.SetResourceVersion("")
		return s.create(res, namespace, o)
	}
	return s.update(res, namespace, name, o) // which is a conflict with another than it names
}

// fresh makes an empty object of a kind.
func (s *Server) fresh(res resource) (object, error) {
	o, err := scheme.Scheme.New(res.gvk())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return o.(object), nil
}

// groups lists those of others that it says it serves.
func (s *Server) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	if s.opts.Networks {
		list.Groups = append(list.Groups, metav1.APIGroup{Name: "k8s.cni.cncf.io"})
	}
	return list
}

// notServed is the answer about a path or a subresource that there is not.
func notServed() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
	}}
}

// refuse answers with a Status object, as an API server does.
func refuse(w http.ResponseWriter, _ *http.Request, status int) {
	fake.Say(w, status, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(status), Reason: reasonOf(status), Message: fake.Canary,
	})
}

func reasonOf(status int) metav1.StatusReason {
	switch status {
	case http.StatusUnauthorized:
		return metav1.StatusReasonUnauthorized
	case http.StatusForbidden:
		return metav1.StatusReasonForbidden
	case http.StatusNotFound:
		return metav1.StatusReasonNotFound
	case http.StatusConflict:
		return metav1.StatusReasonConflict
	case http.StatusTooManyRequests:
		return metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		return metav1.StatusReasonServiceUnavailable
	case http.StatusGatewayTimeout:
		return metav1.StatusReasonTimeout
	}
	return metav1.StatusReasonInternalError
}
