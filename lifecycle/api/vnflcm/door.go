package vnflcm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/codec"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/api/sol013"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
)

// Lifecycle keeps VNF instances and begins operations on them; [lifecycle.Lifecycle] says what each method does.
type Lifecycle interface {
	CreateInstance(ctx context.Context, p policy.Principal, r lifecycle.NewInstance) (lifecycle.Instance, error)
	Instance(ctx context.Context, p policy.Principal, id string) (lifecycle.Instance, error)
	Instances(ctx context.Context, p policy.Principal, q lifecycle.InstanceQuery) ([]lifecycle.Instance, string, error)
	Modify(ctx context.Context, p policy.Principal, id string, m lifecycle.Modification) (lifecycle.Operation, error)
	DeleteInstance(ctx context.Context, p policy.Principal, id string, ifRevision int64) error
	Instantiate(ctx context.Context, p policy.Principal, id string, r lifecycle.Instantiation) (lifecycle.Operation, error)
	Preview(ctx context.Context, p policy.Principal, id string, r lifecycle.Asked) (lifecycle.Preview, error)
	Scale(ctx context.Context, p policy.Principal, id string, r lifecycle.Scaling) (lifecycle.Operation, error)
	Heal(ctx context.Context, p policy.Principal, id string, r lifecycle.Healing) (lifecycle.Operation, error)
	ChangePackage(ctx context.Context, p policy.Principal, id string, r lifecycle.PackageChange) (lifecycle.Operation, error)
	Connect(ctx context.Context, p policy.Principal, id string, r lifecycle.Connecting) (lifecycle.Operation, error)
	Terminate(ctx context.Context, p policy.Principal, id string, params json.RawMessage) (lifecycle.Operation, error)
	Forget(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Check(ctx context.Context, p policy.Principal, id string) (lifecycle.Instance, error)
}

// Occurrences shows operations that have begun, and settles those that failed; [lifecycle.Lifecycle] says what each method
// does.
type Occurrences interface {
	Operation(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Operations(ctx context.Context, p policy.Principal, q lifecycle.OperationQuery) ([]lifecycle.Operation, string, error)
	Retry(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Rollback(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Fail(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error)
	Cancel(ctx context.Context, p policy.Principal, id string, mode lifecycle.CancelMode) (lifecycle.Operation, error)
}

const (
	// answerTime bounds an answer; the work of an operation continues after it.
	answerTime = 30 * time.Second
	// maxBody bounds a request body in bytes.
	maxBody = 256 << 10
)

var wire codec.Codec

type server struct {
	life Lifecycle
	occs Occurrences
	subs Subscriptions
}

// Door returns /vnflcm, version 2.
func Door(l Lifecycle, o Occurrences, subs Subscriptions) api.Door {
	s := &server{l, o, subs}
	body := api.Body{Limit: maxBody, Types: []string{"application/json"}}
	patch := api.Body{Limit: maxBody, Types: []string{sol003.MergePatch, "application/json"}}
	optional := body
	optional.Optional = true
	anything := api.Body{Limit: maxBody, Optional: true} // of what is refused anyway
	match := []api.Parameter{{Name: "If-Match"}}
	const instances, operations = "/vnf_instances", "/vnf_lcm_op_occs"
	const instance, operation = instances + "/{id}", operations + "/{id}"
	table := []api.Route{
		{Method: "POST", Path: instances, Body: body, Status: http.StatusCreated, Handle: takes(s.create)},
		{Method: "GET", Path: instances, Handle: s.list},
		{Method: "GET", Path: instance, Handle: one(s.life.Instance, instanceAnswer)},
		{Method: "PATCH", Path: instance, Body: patch, Header: match, Status: http.StatusAccepted, Handle: asks(s.modify)},
		{Method: "DELETE", Path: instance, Header: match, Status: http.StatusNoContent, Handle: s.remove},
		{Method: "POST", Path: instance + "/instantiate", Body: body, Status: http.StatusAccepted, Handle: s.instantiate},
		{Method: "POST", Path: instance + "/scale", Body: body, Status: http.StatusAccepted, Handle: asks(s.scale)},
		{Method: "POST", Path: instance + "/heal", Body: body, Status: http.StatusAccepted, Handle: asks(s.heal)},
		{Method: "POST", Path: instance + "/change_vnfpkg", Body: body, Status: http.StatusAccepted, Handle: asks(s.changePackage)},
		{Method: "POST", Path: instance + "/change_ext_conn", Body: body, Status: http.StatusAccepted, Handle: asks(s.connect)},
		{Method: "POST", Path: instance + "/terminate", Body: body, Status: http.StatusAccepted, Handle: asks(s.terminate)},
		// Not of the standard: letting go of what cannot be terminated, and looking for drift now.
		{Method: "POST", Path: instance + "/forget", Body: optional, Status: http.StatusAccepted, Handle: one(s.life.Forget, begun)},
		{Method: "POST", Path: instance + "/check", Body: optional, Handle: one(s.life.Check, instanceAnswer)},
		{Method: "GET", Path: operations, Handle: s.listOperations},
		{Method: "GET", Path: operation, Quiet: true, Handle: one(s.occs.Operation, operationAnswer)},
		{Method: "POST", Path: operation + "/retry", Body: optional, Status: http.StatusAccepted, Handle: one(s.occs.Retry, nothing)},
		{Method: "POST", Path: operation + "/rollback", Body: optional, Status: http.StatusAccepted, Handle: one(s.occs.Rollback, nothing)},
		{Method: "POST", Path: operation + "/fail", Body: optional, Handle: one(s.occs.Fail, failAnswer)},
		{Method: "POST", Path: "/subscriptions", Body: body, Status: http.StatusCreated, Handle: takes(s.subscribe)},
		{Method: "GET", Path: "/subscriptions", Handle: s.listSubscriptions},
		{Method: "GET", Path: "/subscriptions/{id}", Handle: one(s.subs.Subscription, subscriptionAnswer)},
		{Method: "DELETE", Path: "/subscriptions/{id}", Status: http.StatusNoContent, Handle: s.unsubscribe},
		{Method: "POST", Path: operation + "/cancel", Body: body, Status: http.StatusAccepted, Handle: takes(s.cancel)},
	}
	for _, task := range []string{"scale_to_level", "change_flavour", "operate", "create_snapshot", "revert_to_snapshot"} {
		table = append(table, api.Route{
			Method: "POST", Path: instance + "/" + task, Body: anything, Handle: s.notServedOf(task + " is not served"),
		})
	}
	for _, path := range []string{
		"POST /vnf_snapshots", "GET /vnf_snapshots", "GET /vnf_snapshots/{id}", "PATCH /vnf_snapshots/{id}", "DELETE /vnf_snapshots/{id}",
		"GET /vnf_snapshots/{id}/vnf_state_snapshot",
	} {
		method, path, _ := strings.Cut(path, " ")
		of, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		table = append(table, api.Route{Method: method, Path: path, Body: anything, Handle: notServed(of + " are not served")})
	}
	for n := range table {
		table[n].Timeout = answerTime
	}
	return sol013.Door(sol013.API{Name: "vnflcm", Majors: []sol013.Major{{Path: sol003.Prefix, Versions: []string{sol003.Version}}}}, table...)
}

// takes is an operation with a body, which it decodes.
func takes[I any](handle func(*api.Call, I) (api.Answer, error)) func(*api.Call) (api.Answer, error) {
	return func(c *api.Call) (api.Answer, error) {
		var in I
		if err := wire.Tolerant(c.Content, &in); err != nil {
			return api.Answer{}, err
		}
		return handle(c, in)
	}
}

// asks is takes for a request that is stored and shown: without what is secret of it.
func asks[I any](handle func(*api.Call, I, json.RawMessage) (api.Answer, error)) func(*api.Call) (api.Answer, error) {
	return takes(func(c *api.Call, in I) (api.Answer, error) {
		shown, err := showable(c.Content)
		if err != nil {
			return api.Answer{}, err
		}
		return handle(c, in, shown)
	})
}

// one is an operation on what has the id of the path.
func one[T any](
	do func(context.Context, policy.Principal, string) (T, error), answer func(*api.Call, T) api.Answer,
) func(*api.Call) (api.Answer, error) {
	return func(c *api.Call) (api.Answer, error) {
		found, err := do(c.Context(), c.Principal, c.PathValue("id"))
		if err != nil {
			return api.Answer{}, err
		}
		return answer(c, found), nil
	}
}

func instanceAnswer(c *api.Call, i lifecycle.Instance) api.Answer {
	return api.Answer{Header: http.Header{"Etag": {etag(i.Revision)}}, Body: instance(c, i)}
}

func operationAnswer(c *api.Call, o lifecycle.Operation) api.Answer {
	return api.Answer{Header: http.Header{"Etag": {etag(o.Revision)}}, Body: operation(c, o)}
}

func failAnswer(c *api.Call, o lifecycle.Operation) api.Answer {
	return api.Answer{Body: operation(c, o)}
}

func subscriptionAnswer(c *api.Call, s subscription.Subscription) api.Answer {
	return api.Answer{Body: shownSubscription(c, s)}
}

func nothing(*api.Call, lifecycle.Operation) api.Answer { return api.Answer{} }

// begun says where the operation is.
func begun(c *api.Call, o lifecycle.Operation) api.Answer {
	return api.Answer{Header: http.Header{"Location": {operationURL(c, o)}}}
}

// notServedOf is notServed for a task of an instance: one that the caller does not see is not found.
func (s *server) notServedOf(why string) func(*api.Call) (api.Answer, error) {
	return func(c *api.Call) (api.Answer, error) {
		if _, err := s.life.Instance(c.Context(), c.Principal, c.PathValue("id")); err != nil {
			return api.Answer{}, err
		}
		return api.Answer{}, sol013.NotImplemented(why)
	}
}

func notServed(why string) func(*api.Call) (api.Answer, error) {
	return func(*api.Call) (api.Answer, error) { return api.Answer{}, sol013.NotImplemented(why) }
}

func (s *server) create(c *api.Call, in sol003.CreateVNFRequest) (api.Answer, error) {
	if in.VNFDID == "" {
		return api.Answer{}, missing("vnfdId")
	}
	i, err := s.life.CreateInstance(c.Context(), c.Principal, lifecycle.NewInstance{
		VNFDID: in.VNFDID, Name: in.Name, Description: in.Description, Metadata: json.RawMessage(in.Metadata),
	})
	if err != nil {
		return api.Answer{}, unusable(err)
	}
	shown := instance(c, i)
	return api.Answer{Header: http.Header{"Location": {shown.Links["self"].Href}, "Etag": {etag(i.Revision)}}, Body: shown}, nil
}

// unusable turns the error for a package that is missing or disabled into one about an invalid request
// (SOL003 clauses 5.4.2.3.1 and 5.4.11a.3.1); it returns other errors unchanged.
func unusable(err error) error {
	e, ok := errors.AsType[*broker.Error](err)
	if !ok || e.Field != "vnfdId" || !errors.Is(e, broker.ErrNotFound) && !errors.Is(e, broker.ErrConflict) {
		return err
	}
	said := *e
	said.Kind = broker.ErrInvalid
	return &said
}

func missing(field string) error {
	return api.Refuse(api.ErrMalformed, "body", field, "is required")
}

var instanceShape = sol013.Selectable{
	Mandatory: []string{"id", "vnfdId", "vnfProvider", "vnfProductName", "vnfSoftwareVersion", "vnfdVersion", "instantiationState", "_links"},
	ExcludedByDefault: []string{
		"vnfConfigurableProperties", "vimConnectionInfo", "instantiatedVnfInfo", "metadata", "extensions", "vimbroker",
	},
}

func (s *server) list(c *api.Call) (api.Answer, error) {
	q := lifecycle.InstanceQuery{Page: broker.Page{Token: sol013.Marker(c)}}
	return sol013.Lists(c, instanceShape, instance)(s.life.Instances(c.Context(), c.Principal, q))
}

func (s *server) modify(c *api.Call, in sol003.ModifyRequest, shown json.RawMessage) (api.Answer, error) {
	if in.VNFDID != nil {
		return api.Answer{}, broker.Invalid("vnfdId", "is changed with change_vnfpkg")
	}
	revision, err := ifMatch(c)
	if err != nil {
		return api.Answer{}, err
	}
	m := lifecycle.Modification{
		Name: in.Name, Description: in.Description, Metadata: json.RawMessage(in.Metadata), Extensions: json.RawMessage(in.Extensions),
		Configurable: json.RawMessage(in.Configurable), IfRevision: revision, Params: shown,
	}
	if err := changedVIM(in.VIMs, &m); err != nil {
		return api.Answer{}, err
	}
	return begins(c, m, s.life.Modify)
}

func (s *server) remove(c *api.Call) (api.Answer, error) {
	revision, err := ifMatch(c)
	if err != nil {
		return api.Answer{}, err
	}
	return api.Answer{}, s.life.DeleteInstance(c.Context(), c.Principal, c.PathValue("id"), revision)
}

func (s *server) instantiate(c *api.Call) (api.Answer, error) {
	r, err := instantiation(c)
	if err != nil {
		return api.Answer{}, err
	}
	return beginOrPreview(s, c, r, s.life.Instantiate)
}

// begins has an operation begin.
func begins[R any](
	c *api.Call, r R, begin func(context.Context, policy.Principal, string, R) (lifecycle.Operation, error),
) (api.Answer, error) {
	return one(func(ctx context.Context, p policy.Principal, id string) (lifecycle.Operation, error) {
		return begin(ctx, p, id, r)
	}, begun)(c)
}

// beginOrPreview has an operation begin, or with a dry run says what it would do.
func beginOrPreview[R lifecycle.Asked](
	s *server, c *api.Call, r R, begin func(context.Context, policy.Principal, string, R) (lifecycle.Operation, error),
) (api.Answer, error) {
	if c.Query.Has(sol003.DryRun) {
		seen, err := s.life.Preview(c.Context(), c.Principal, c.PathValue("id"), r)
		if err != nil {
			return api.Answer{}, err
		}
		return api.Answer{Status: http.StatusOK, Body: preview(seen)}, nil
	}
	return begins(c, r, begin)
}

func instantiation(c *api.Call) (lifecycle.Instantiation, error) {
	var in sol003.InstantiateRequest
	if err := wire.Tolerant(c.Content, &in); err != nil {
		return lifecycle.Instantiation{}, err
	}
	if in.FlavourID == "" {
		return lifecycle.Instantiation{}, missing("flavourId")
	}
	if err := withoutCode(in.Params); err != nil {
		return lifecycle.Instantiation{}, err
	}
	r := lifecycle.Instantiation{
		Flavour: in.FlavourID, Level: in.LevelID,
		Namespace: in.Params.Namespace, Release: in.Params.Release, Variables: in.Params.Variables,
		Others: in.Params.Unknown(), Volumes: in.Params.Volumes,
	}
	var err error
	if r.Links, err = links(in.AskedLinks); err != nil {
		return lifecycle.Instantiation{}, err
	}
	if r.Files, r.Parameters, err = made(in.Params); err != nil {
		return lifecycle.Instantiation{}, err
	}
	if r.Waves, err = waves(in.Params); err != nil {
		return lifecycle.Instantiation{}, err
	}
	if err := askedVIMs(in, &r); err != nil {
		return lifecycle.Instantiation{}, err
	}
	r.Params, err = showable(c.Content)
	return r, err
}

// made are the files of the package that a request names, and the parameters of a base HOT or of a chart.
func made(p sol003.AdditionalParams) ([]string, json.RawMessage, error) {
	valued := p.Valued()
	if p.Chart == "" && !valued {
		return p.Files, json.RawMessage(p.NFV), nil
	}
	const field = "additionalParams.helm_chart_path"
	if len(p.Files) > 0 {
		return nil, nil, broker.Invalid(field, "and lcm-kubernetes-def-files are not both of one instance")
	}
	var named []string // none is the package's only chart
	if p.Chart != "" {
		named = []string{p.Chart}
	}
	if !valued {
		return named, nil, nil
	}
	parameters, err := json.Marshal(struct {
		Values jsontext.Value `json:"helm_values,omitzero"`
		Sets   jsontext.Value `json:"helm_parameters,omitzero"`
		Names  jsontext.Value `json:"helm_value_names,omitzero"`
		New    bool           `json:"helm_new_secrets,omitempty"`
	}{p.ChartValues, p.ChartSets, p.ChartNames, p.NewSecrets})
	return named, parameters, err
}

// waves are the rules of a request that put objects into waves; nil where it says nothing of them.
func waves(p sol003.AdditionalParams) (all []lifecycle.WaveRule, err error) {
	if p.Order != nil {
		all = []lifecycle.WaveRule{}
	}
	for i, rule := range p.Order {
		if len(rule.Others) > 0 {
			return nil, broker.Invalid("additionalParams.order", "rule %d has a member that is none of wave, kind, name and labels", i+1)
		}
		all = append(all, lifecycle.WaveRule{Wave: rule.Wave, Kind: rule.Kind, Name: rule.Name, Labels: rule.Labels})
	}
	return all, nil
}

// withoutCode refuses parameters that would have code of the package, or Helm elsewhere, do the work: without
// that the operation would do something else than was asked for.
func withoutCode(p sol003.AdditionalParams) error {
	if name := p.NeedsCode(); name != "" {
		return &broker.Error{
			Kind: broker.ErrUnsupported, Field: "additionalParams." + name,
			Detail: "no code of packages is run, no Terraform, and no Helm elsewhere",
			Remedy: "leave it out; put manifests, or a chart that helm_chart_path names, into the package, " +
				"or a base HOT that gets its parameters from {get_param: [nfv, ...]}",
		}
	}
	return nil
}

func (s *server) scale(c *api.Call, in sol003.ScaleRequest, shown json.RawMessage) (api.Answer, error) {
	steps := 1
	if in.Steps != nil {
		steps = *in.Steps
	}
	switch {
	case in.AspectID == "":
		return api.Answer{}, missing("aspectId")
	case in.Type != sol003.ScaleOut && in.Type != sol003.ScaleIn:
		return api.Answer{}, broker.Invalid("type", "must be SCALE_OUT or SCALE_IN")
	case steps < 1:
		return api.Answer{}, broker.Invalid("numberOfSteps", "must be 1 or more")
	case in.Type == sol003.ScaleIn:
		steps = -steps
	}
	return beginOrPreview(s, c, lifecycle.Scaling{Aspect: in.AspectID, Steps: steps, Params: shown}, s.life.Scale)
}

func (s *server) heal(c *api.Call, in sol003.HealRequest, shown json.RawMessage) (api.Answer, error) {
	return beginOrPreview(s, c, lifecycle.Healing{VNFCs: in.VNFCs, Params: shown}, s.life.Heal)
}

func (s *server) changePackage(c *api.Call, in sol003.ChangePackageRequest, shown json.RawMessage) (api.Answer, error) {
	if in.VNFDID == "" {
		return api.Answer{}, missing("vnfdId")
	}
	if err := withoutCode(in.Params); err != nil {
		return api.Answer{}, err
	}
	if in.Params.Namespace != "" {
		return api.Answer{}, broker.Invalid("additionalParams.namespace", "cannot be changed while the instance has resources")
	}
	if in.Params.Release != "" {
		return api.Answer{}, broker.Invalid("additionalParams.helm_release_name", "cannot be changed: a release keeps its name")
	}
	for _, v := range in.VIMs {
		if v.Brings() {
			return api.Answer{}, &broker.Error{
				Kind: broker.ErrUnsupported, Field: "vimConnectionInfo", Detail: "access information does not change with the package",
				Remedy: "modify the instance (PATCH) first",
			}
		}
	}
	files, parameters, err := made(in.Params)
	if err != nil {
		return api.Answer{}, err
	}
	ordered, err := waves(in.Params)
	if err != nil {
		return api.Answer{}, err
	}
	asked, err := links(in.AskedLinks)
	if err != nil {
		return api.Answer{}, err
	}
	a, err := beginOrPreview(s, c, lifecycle.PackageChange{
		VNFDID: in.VNFDID, Files: files, Waves: ordered, Variables: in.Params.Variables, Parameters: parameters, Params: shown,
		Others: in.Params.Unknown(), Links: asked, Volumes: in.Params.Volumes,
	}, s.life.ChangePackage)
	return a, unusable(err)
}

func (s *server) connect(c *api.Call, in sol003.ConnectRequest, shown json.RawMessage) (api.Answer, error) {
	if len(in.External) == 0 {
		return api.Answer{}, missing("extVirtualLinks")
	}
	asked, err := links(sol003.AskedLinks{External: in.External})
	if err != nil {
		return api.Answer{}, err
	}
	return beginOrPreview(s, c, lifecycle.Connecting{Links: asked, Params: shown}, s.life.Connect)
}

func (s *server) terminate(c *api.Call, in sol003.TerminateRequest, shown json.RawMessage) (api.Answer, error) {
	if in.Type != "FORCEFUL" && in.Type != "GRACEFUL" {
		return api.Answer{}, broker.Invalid("terminationType", "must be FORCEFUL or GRACEFUL")
	}
	return begins(c, shown, s.life.Terminate)
}

var operationShape = sol013.Selectable{
	Mandatory: []string{
		"id", "operationState", "stateEnteredTime", "startTime", "vnfInstanceId", "operation", "isAutomaticInvocation",
		"isCancelPending", "_links",
	},
	ExcludedByDefault: []string{"operationParams", "error", "resourceChanges", "changedInfo", "vimbroker"},
}

func (s *server) listOperations(c *api.Call) (api.Answer, error) {
	q := lifecycle.OperationQuery{Instance: c.Query.Get("vnfInstanceId"), Page: broker.Page{Token: sol013.Marker(c)}}
	return sol013.Lists(c, operationShape, operation)(s.occs.Operations(c.Context(), c.Principal, q))
}

func (s *server) cancel(c *api.Call, in sol003.CancelRequest) (api.Answer, error) {
	_, err := s.occs.Cancel(c.Context(), c.Principal, c.PathValue("id"), lifecycle.CancelMode(in.Mode))
	return api.Answer{}, err
}

func etag(revision int64) string { return `"` + strconv.FormatInt(revision, 10) + `"` }

// ifMatch is the revision that the header If-Match names; 0 for none.
func ifMatch(c *api.Call) (int64, error) {
	given := strings.TrimSpace(c.Header.Get("If-Match"))
	if given == "" || given == "*" {
		return 0, nil
	}
	revision, err := strconv.ParseInt(strings.Trim(given, `"`), 10, 64)
	if err != nil || revision < 1 || etag(revision) != given {
		return 0, broker.Invalid("If-Match", "must be an ETag of the instance")
	}
	return revision, nil
}
