package grant_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/clientconfig"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/real/pki"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// lender issues leases as the broker does, and knows one client.
type lender struct {
	client  oauth.Client
	leases  map[string]broker.Lease // by key
	ended   map[string]broker.Reason
	vim     string // where leases are, whatever its name
	asked   []broker.LeaseRequest
	revoked []broker.LeaseSelector
	grade   broker.Grade
	// replaces: another lease takes the place of one that has ended.
	replaces bool
	vimCA    string
	fail     error
	// issuing and revoking are called while a lease is issued, and before leases are revoked.
	issuing, revoking func()
	mu                sync.Mutex // of revoked
}

func (l *lender) IssueLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, clientconfig.Config, error) {
	l.asked = append(l.asked, r)
	if l.issuing != nil {
		l.issuing()
	}
	if l.fail != nil {
		return broker.Lease{}, clientconfig.Config{}, l.fail
	}
	if r.Widest != "" && r.Widest != l.grade {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrDenied, Detail: "it would be " + string(l.grade)}
	}
	lease, known := l.leases[r.IdempotencyKey]
	if !known {
		at := cmp.Or(l.vim, "vim-id")
		if strings.HasSuffix(r.VIM, "-id") {
			at = r.VIM
		}
		lease = broker.Lease{ID: uuid.NewString(), VIM: at, VIMName: r.VIM, Principal: p.Name}
		l.leases[r.IdempotencyKey] = lease
	}
	if _, over := l.ended[lease.ID]; over && l.replaces && r.InPlaceOf != "" {
		lease = broker.Lease{ID: uuid.NewString(), Login: r.InPlaceOf, VIM: lease.VIM, VIMName: lease.VIMName, Principal: p.Name}
		l.leases[r.IdempotencyKey] = lease
	} else if over {
		return broker.Lease{}, clientconfig.Config{}, &broker.Error{Kind: broker.ErrConflict, Detail: "it has ended"}
	}
	return lease, clientconfig.Config{CACert: l.vimCA, Credential: secret.Credential{LeaseSecret: secret.NewText("canary-" + lease.ID)}}, nil
}

func (l *lender) EndLeases(_ context.Context, _ policy.Principal, s broker.LeaseSelector) error {
	if l.revoking != nil {
		l.revoking()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revoked = append(l.revoked, s)
	return nil
}

func (l *lender) Ended(_ context.Context, id string) (bool, broker.Reason, error) {
	if reason, over := l.ended[id]; over && l.replaces {
		return true, reason, nil
	}
	for _, known := range l.leases {
		if known.ID == id {
			reason, over := l.ended[id]
			return over, reason, nil
		}
	}
	return false, "", broker.ErrNotFound
}

func (l *lender) Replaceable(_ context.Context, id string) (bool, error) {
	_, over := l.ended[id]
	return over && l.replaces, nil
}

func (l *lender) Acting(_ context.Context, p policy.Principal) (oauth.Client, error) {
	if p.Name != "client:"+l.client.ID {
		return oauth.Client{ID: strings.TrimPrefix(p.Name, "client:"), Name: "other", Placements: l.client.Placements}, nil
	}
	return l.client, nil
}

// vnfm says how its operations stand.
type vnfm map[string]string

func (v vnfm) OperationState(_ context.Context, url string, _ *egress.Rules) (string, error) {
	state, known := v[url[strings.LastIndex(url, "/")+1:]]
	if !known {
		return "", errors.New("it does not answer")
	}
	return state, nil
}

// lends lends the links that it has, by name.
type lends map[string]asset.Asset

func (l lends) lend(_ context.Context, _ policy.Principal, kind policy.Kind, ref string, on ...broker.VIM) (asset.Asset, error) {
	one, known := l[ref]
	if !known || kind != policy.KindLink || one.VIM != on[0].ID {
		return one, &broker.Error{Kind: broker.ErrNotFound, Detail: "no such virtual link"}
	}
	return one, nil
}

type scene struct {
	*grant.Grants
	*lender
	vnfm   vnfm
	clock  *clock.Clock
	tacker policy.Principal
	t      *testing.T
	// options are those that Grants was made with.
	options grant.Options
}

func set(t *testing.T, later bool) *scene {
	t.Helper()
	return setUp(t, grant.Options{Later: later, Standing: true})
}

func setUp(t *testing.T, o grant.Options) *scene {
	t.Helper()
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "broker.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{
		lender: &lender{
			client: oauth.Client{ID: uuid.NewString(), Name: "tacker", Placements: []oauth.Placement{
				{VNFD: "wide-*", VIM: "edge", Grade: broker.GradeBounded}, {VNFD: "plain-*", VIM: "edge", Profile: oauth.Token}, {VNFD: "own-*", VIM: "cloud", Profile: oauth.PassThrough}, {VNFD: "user-*", VIM: "cloud", Profile: oauth.User}, {VNFD: "vnfd-*", VIM: "edge", Role: "edit"},
			}},
			leases: map[string]broker.Lease{}, ended: map[string]broker.Reason{}, grade: broker.GradeNamespaces,
		},
		vnfm: vnfm{}, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), t: t,
	}
	s.tacker = policy.Principal{Name: "client:" + s.client.ID, Project: "core", Roles: []string{policy.RoleVNFM}}
	o.Store, o.Leases, o.Clients, o.VNFM, o.Guard = store, s.lender, s.lender, s.vnfm, &audit.Guard{Policy: policies, Sink: store, Now: s.clock.Now}
	o.Egress, o.Log, o.Now = func(string) *egress.Rules { return nil }, testlog.Silent(t), s.clock.Now
	s.Grants, s.options = grant.New(o), o
	return s
}

func ask(operation grant.GrantedOperation, id, vnfd string) grant.GrantRequest {
	return grant.GrantRequest{
		ID: id, Type: operation, Instance: "i-1", VNFD: vnfd, Add: []string{"r1"},
		OperationURL: "http://vnfm/vnflcm/v2/vnf_lcm_op_occs/" + id, InstanceURL: "http://vnfm/vnflcm/v2/vnf_instances/i-1",
	}
}

func (s *scene) granted(r grant.GrantRequest) (grant.Grant, grant.Loan) {
	s.t.Helper()
	g, c, err := s.Request(s.t.Context(), s.tacker, r)
	if err != nil {
		s.t.Fatalf("%s: %v", r.ID, err)
	}
	return g, c
}

func (s *scene) refused(what string, kind error, words string, p policy.Principal, r grant.GrantRequest) {
	s.t.Helper()
	_, c, err := s.Request(s.t.Context(), p, r)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), words) || !c.Config.LeaseSecret.Empty() {
		s.t.Errorf("%s = %v, want %v: %s", what, err, kind, words)
	}
}

func TestTheLeaseStandsWithTheInstance(t *testing.T) {
	s := set(t, false)
	first, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	if r := s.asked[0]; !r.Standing || r.Instance != "i-1" || r.Operation != "op-1" || r.Role != "edit" || first.Lease != lent.Lease.ID || !first.Holds {
		t.Errorf("asked for %+v, and granted %+v", r, first)
	}
	again, same := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	if again.ID != first.ID || same.Lease.ID != lent.Lease.ID || same.Config.LeaseSecret.Reveal() != lent.Config.LeaseSecret.Reveal() {
		t.Errorf("a repeat is answered with grant %s and lease %s", again.ID, same.Lease.ID)
	}
	s.client.Placements = nil // what stands stays as it was made
	scaled, after := s.granted(ask("SCALE", "op-2", "vnfd-1"))
	if scaled.ID == first.ID || after.Lease.ID != lent.Lease.ID || scaled.Holds {
		t.Errorf("SCALE is lent %s, want %s", after.Lease.ID, lent.Lease.ID)
	}
	shown, read, err := s.Grant(t.Context(), s.tacker, scaled.ID)
	if err != nil || shown.ID != scaled.ID || read.Lease.ID != lent.Lease.ID {
		t.Errorf("Grant = %+v, %v", shown, err)
	}

	end, _ := s.granted(ask(grant.Terminate, "op-3", "vnfd-1"))
	s.vnfm["op-3"], s.vnfm["op-2"], s.vnfm["op-1"] = "PROCESSING", "COMPLETED", "COMPLETED"
	follow := func() {
		t.Helper()
		s.clock.Add(time.Minute)
		if err := s.Follow(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if follow(); len(s.revoked) != 0 {
		t.Fatalf("revoked %+v while TERMINATE runs", s.revoked)
	}
	s.vnfm["op-3"] = "COMPLETED"
	follow()
	want := []broker.LeaseSelector{{Principal: s.tacker.Name, Instance: "i-1"}}
	if !slices.Equal(s.revoked, want) {
		t.Errorf("revoked %+v, want %+v", s.revoked, want)
	}
	if over, _, _ := s.Grant(t.Context(), s.tacker, end.ID); over.State != grant.Ended || over.Outcome != "COMPLETED" {
		t.Errorf("the grant is %s, %s", over.State, over.Outcome)
	}
	if follow(); len(s.revoked) != 1 {
		t.Errorf("revoked once more: %+v", s.revoked)
	}
}

func TestWhatEndsALease(t *testing.T) {
	for name, c := range map[string]struct {
		operation grant.GrantedOperation
		vnfd      string
		state     string
		want      int
	}{
		"an INSTANTIATE that is rolled back":     {grant.Instantiate, "vnfd-1", "ROLLED_BACK", 1},
		"an INSTANTIATE that failed":             {grant.Instantiate, "vnfd-1", "FAILED", 1},
		"an INSTANTIATE that may be tried again": {grant.Instantiate, "vnfd-1", "FAILED_TEMP", 0},
		"an INSTANTIATE that is done":            {grant.Instantiate, "vnfd-1", "COMPLETED", 0},
		"a TERMINATE that failed":                {grant.Terminate, "vnfd-1", "FAILED", 0},
		"a TERMINATE that may be tried again":    {grant.Terminate, "vnfd-1", "FAILED_TEMP", 0},
		"a SCALE that is done":                   {"SCALE", "vnfd-1", "COMPLETED", 0},
		"a SCALE with a token that is done":      {"SCALE", "plain-1", "COMPLETED", 1},
		"a word of the VNFM that is no state":    {grant.Terminate, "vnfd-1", "DONE", 0},
		"an operation that nobody knows about":   {grant.Terminate, "vnfd-1", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, false)
			g, _ := s.granted(ask(c.operation, "op-1", c.vnfd))
			if err := s.Notify(t.Context(), s.tacker, "op-1", c.state); err != nil || len(s.revoked) != c.want {
				t.Errorf("told: %v, revoked %+v", err, s.revoked)
			}
			if c.want > 0 {
				return
			}
			if now, _, _ := s.Grant(t.Context(), s.tacker, g.ID); slices.Contains([]string{"FAILED_TEMP", "DONE", ""}, c.state) && now.State != grant.Granted {
				t.Errorf("an operation that goes on has its grant %s", now.State)
			}
			if err := s.Notify(t.Context(), policy.Principal{Name: "client:" + uuid.NewString(), Project: "core", Roles: s.tacker.Roles}, "op-1", "COMPLETED"); err != nil || len(s.revoked) > 0 {
				t.Errorf("told by another client: %v, revoked %+v", err, s.revoked)
			}
			s.clock.Add(25 * time.Hour)
			if err := s.Follow(t.Context()); err != nil || len(s.revoked) != 0 {
				t.Errorf("a day later: %v, revoked %+v", err, s.revoked)
			}
			if over, _, _ := s.Grant(t.Context(), s.tacker, g.ID); over.State != grant.Ended {
				t.Errorf("a day later it is %s", over.State)
			}
		})
	}
}

func TestHostileAndRefusedRequests(t *testing.T) {
	s := set(t, false)
	first, _ := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	other := ask(grant.Instantiate, "op-1", "vnfd-2")
	s.refused("a replayed id with another body", broker.ErrConflict, "another request", s.tacker, other)
	s.refused("a VNFD that no placement has", broker.ErrDenied, "no placement", s.tacker, ask(grant.Instantiate, "op-2", "none"))
	entries, err := s.options.Store.(*sqlite.Store).Entries(t.Context(), audit.Query{Action: policy.GrantRequest, Outcomes: []audit.Outcome{audit.Failed}, Limit: 10})
	if err != nil || len(entries) != 2 || entries[0].Detail[audit.DetailReason] != "no placement of the client matches" || entries[0].Detail[audit.DetailVNFD] != "none" || entries[1].Detail[audit.DetailReason] != "" {
		t.Errorf("the audit log says %+v, %v; want why nothing was granted", entries, err)
	}
	s.refused("a lease that would be too wide", broker.ErrDenied, "namespaces", s.tacker, ask(grant.Instantiate, "op-3", "wide-1"))
	s.refused("a repeat of what was refused", broker.ErrDenied, "namespaces", s.tacker, ask(grant.Instantiate, "op-3", "wide-1"))
	mallet := policy.Principal{Name: "client:" + uuid.NewString(), Project: "ran", Roles: s.tacker.Roles}
	for _, id := range []string{first.ID, uuid.NewString(), "../" + first.ID} {
		if _, c, err := s.Grant(t.Context(), mallet, id); !errors.Is(err, broker.ErrNotFound) || err.Error() != "no such grant" || !c.Config.LeaseSecret.Empty() {
			t.Errorf("another client reads %s: %v", id, err)
		}
	}
	admin := policy.Principal{Name: "root", Project: "ops", Roles: []string{"admin"}}
	if _, c, err := s.Grant(t.Context(), admin, first.ID); !errors.Is(err, broker.ErrDenied) || !c.Config.LeaseSecret.Empty() {
		t.Errorf("an administrator is given a client's credential: %v", err)
	}
	for field, spoil := range map[string]func(*grant.GrantRequest){
		"vnfLcmOpOccId":   func(r *grant.GrantRequest) { r.ID = "" },
		"vnfInstanceId":   func(r *grant.GrantRequest) { r.Instance = "a\nb" },
		"vnfdId":          func(r *grant.GrantRequest) { r.VNFD = strings.Repeat("x", 256) },
		"operation":       func(r *grant.GrantRequest) { r.Type = "EXPLODE" },
		"addResources":    func(r *grant.GrantRequest) { r.Add = make([]string, 10001) },
		"removeResources": func(r *grant.GrantRequest) { r.Remove = []string{""} },
		"updateResources": func(r *grant.GrantRequest) {
			r.Add, r.Update = numbered("a", 1001), numbered("u", 1000)
		},
		"addResources: has a resource whose id the request has twice":    func(r *grant.GrantRequest) { r.Add = []string{"a", "a"} },
		"removeResources: has a resource whose id the request has twice": func(r *grant.GrantRequest) { r.Remove = r.Add },
		"_links.vnfLcmOpOcc": func(r *grant.GrantRequest) { r.OperationURL = "http://user:secret@vnfm/" },
	} {
		r := ask(grant.Instantiate, "op-9", "vnfd-1")
		spoil(&r)
		s.refused(field, broker.ErrInvalid, field, s.tacker, r)
	}
	apart := ask(grant.Instantiate, "op-9", "vnfd-1")
	apart.Apart = "ZONE"
	s.refused("resources apart", broker.ErrDenied, "fallbackBestEffort", s.tacker, apart)
	for _, link := range []string{"", "/vnf_lcm_op_occs/op-9", "file:///vnf_lcm_op_occs/op-9", "http:///vnf_lcm_op_occs/op-9", "gopher://vnfm/vnf_lcm_op_occs/op-9"} {
		r := ask(grant.Instantiate, "op-9", "vnfd-1")
		r.OperationURL = link
		s.refused(link, broker.ErrInvalid, "_links.vnfLcmOpOcc", s.tacker, r)
	}
	many := ask(grant.Instantiate, "op-9", "vnfd-1")
	many.Add, many.Update = numbered("a", 1000), numbered("u", 1000)
	s.granted(many)
}

func numbered(prefix string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(prefix, i))
	}
	return ids
}

// A client chooses no other path for the broker to ask for; what cannot be asked ends all the same.
func TestOnlyTheOperationIsAskedFor(t *testing.T) {
	const base = "http://vnfm/vnf_lcm_op_occs/"
	for n, c := range []struct{ id, url string }{
		{"op", "http://vnfm/latest/meta-data"},
		{"op", base + "op?x=1"},
		{"op", base + "op#x"},
		{"op", base + "other"},
		{"x/../../admin", base + "x/../../admin"},
		{"..", base + ".."},
		{".", base + "%2e"},
		{`x\..\admin`, base + `x%5C..%5Cadmin`},
		{"x%2f..%2fadmin", base + "x%252f..%252fadmin"},
	} {
		s := set(t, false)
		r := ask(grant.Terminate, c.id, "vnfd-1")
		r.OperationURL = c.url
		g, _ := s.granted(r)
		if after := g.LookAt.Sub(g.DecidedAt); after != 24*time.Hour {
			t.Errorf("%d: it is looked at after %v", n, after)
		}
		s.vnfm[c.url[strings.LastIndex(c.url, "/")+1:]] = "COMPLETED"
		s.clock.Add(25 * time.Hour)
		if err := s.Follow(t.Context()); err != nil || len(s.revoked) != 0 {
			t.Errorf("%d: %s is asked: revoked %+v, %v", n, c.url, s.revoked, err)
		}
		if over, _, err := s.Grant(t.Context(), s.tacker, g.ID); err != nil || over.State != grant.Ended || over.Outcome != "" || over.Followed {
			t.Errorf("%d: a day later it is %s (%s), %v", n, over.State, over.Outcome, err)
		}
	}
}

// A VNFM verifies the VIM and the token endpoint by one bundle. Where the server's authority is not known it has none.
func TestWhatIsLentVerifiesTheTokenEndpoint(t *testing.T) {
	vim, ours, next := authority(t, "the VIM's"), authority(t, "the server's"), authority(t, "the server's next")
	known := ours
	s := setUp(t, grant.Options{Standing: true, IssuerCA: func() string { return known }})
	s.vimCA = vim
	made, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	if !s.asked[0].Verified || lent.Config.CACert != vim+ours {
		t.Errorf("leased: %+v, and lent with %q, want the authorities of VIM and server", s.asked[0], lent.Config.CACert)
	}
	known = ours + next
	if _, lent, err := s.Grant(t.Context(), s.tacker, made.ID); err != nil || lent.Config.CACert != vim+ours+next {
		t.Errorf("once the server has another authority, too: %v, %q", err, lent.Config.CACert)
	}
	s.vimCA = vim + ours // as some registered it by hand
	if _, lent := s.granted(ask("SCALE", "op-2", "vnfd-1")); lent.Config.CACert != vim+ours+next {
		t.Errorf("an authority that is the VIM's as well is lent as %q", lent.Config.CACert)
	}
	known = ""
	leased := len(s.asked)
	if _, c, err := s.Grant(t.Context(), s.tacker, made.ID); !errors.Is(err, broker.ErrUnsupported) || !c.Config.LeaseSecret.Empty() {
		t.Errorf("once the server's authority is not known, a grant is shown: %v", err)
	}
	other := ask(grant.Instantiate, "op-3", "vnfd-1")
	s.refused("a standing lease", broker.ErrUnsupported, "oauth.caFile", s.tacker, other)
	if _, err := s.options.Store.VNFGrantOf(t.Context(), s.client.ID, other.ID); len(s.asked) != leased || !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("leased: %+v, and a grant is stored: %v", s.asked[leased:], err)
	}
	s.granted(ask(grant.Instantiate, "op-4", "plain-1"))
	if r := s.asked[leased]; r.Verified {
		t.Errorf("a token, which needs no token endpoint, is asked for as %+v", r)
	}
	plain := setUp(t, grant.Options{Standing: true})
	if _, lent := plain.granted(ask(grant.Instantiate, "op-1", "vnfd-1")); plain.asked[0].Verified || lent.Config.CACert != "" {
		t.Errorf("with a token endpoint of plain HTTP: %+v, %q", plain.asked[0], lent.Config.CACert)
	}
}

// authority makes one, PEM.
func authority(t *testing.T, name string) string {
	t.Helper()
	ca, err := pki.NewCA(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(ca.PEM)
}

// Without a token endpoint nothing is leased that nobody could use.
func TestNothingThatStandsIsLentWithoutATokenEndpoint(t *testing.T) {
	s := setUp(t, grant.Options{})
	s.refused("a standing lease", broker.ErrUnsupported, "issuer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	if len(s.asked) != 0 {
		t.Errorf("leased: %+v", s.asked)
	}
	s.granted(ask(grant.Instantiate, "op-2", "plain-1"))
	// A user and the stored credential need no token endpoint, and are one lease for the instance's life.
	for vnfd, want := range map[string]broker.LeaseCredential{"own-1": broker.LeasePassThrough, "user-1": broker.LeaseUser} {
		made, scale := ask(grant.Instantiate, "op-3-"+vnfd, vnfd), ask("SCALE", "op-4-"+vnfd, vnfd)
		made.Instance, scale.Instance = vnfd, vnfd
		_, first := s.granted(made)
		_, later := s.granted(scale)
		if r := s.asked[len(s.asked)-1]; r.Credential != want || r.Standing || r.Format != clientconfig.VIMConnection || first.Lease.ID != later.Lease.ID {
			t.Errorf("%s is asked for as %+v, and again as lease %s, not %s", want, r, later.Lease.ID, first.Lease.ID)
		}
	}
	setUp(t, grant.Options{Later: true}).refused("one that is decided on later", broker.ErrUnsupported, "issuer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	o := s.options
	o.Standing = true
	with := *s
	with.Grants = grant.New(o)
	given, _ := with.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	leased := len(s.asked)
	if _, c, err := s.Grant(t.Context(), s.tacker, given.ID); !errors.Is(err, broker.ErrUnsupported) || !c.Config.LeaseSecret.Empty() || len(s.asked) != leased {
		t.Errorf("once the token endpoint is gone, a grant is shown: %v", err)
	}
}

// Nothing is issued anew for a grant that was given, also where the key of its lease is free again.
func TestALeaseThatHasEndedIsNotIssuedAnew(t *testing.T) {
	for name, end := range map[string]func(*scene, broker.Lease){
		"its row is gone": func(s *scene, _ broker.Lease) { clear(s.leases) },
		"it was taken away on the VIM": func(s *scene, l broker.Lease) {
			clear(s.leases)
			s.leases["none"], s.ended[l.ID] = l, broker.ReasonGoneUpstream
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, false)
			first, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
			s.vnfm["op-1"] = "COMPLETED"
			end(s, lent.Lease)
			issued := len(s.asked)
			for _, state := range []grant.State{grant.Granted, grant.Ended} {
				if _, c, err := s.Grant(t.Context(), s.tacker, first.ID); !errors.Is(err, broker.ErrDenied) || !strings.Contains(err.Error(), "has ended") || !c.Config.LeaseSecret.Empty() {
					t.Errorf("the grant is shown while it is %s: %v", state, err)
				}
				s.refused("a repeat", broker.ErrDenied, "has ended", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
				s.clock.Add(time.Minute)
				if err := s.Follow(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.asked) != issued {
				t.Errorf("%d leases were asked for", len(s.asked)-issued)
			}
			if _, c := s.granted(ask("SCALE", "op-2", "vnfd-1")); c.Lease.ID == lent.Lease.ID {
				t.Error("a later operation is lent what has ended")
			}
		})
	}
}

// The grant that made the lease was not recorded, and one that is lent the same was.
func TestALeaseWhoseMakerIsUndecidedIsNotIssuedAnew(t *testing.T) {
	s := set(t, false)
	s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.fail = nil
	scaled, _ := s.granted(ask("SCALE", "op-2", "vnfd-1"))
	clear(s.leases)
	issued := len(s.asked)
	if _, _, err := s.Grant(t.Context(), s.tacker, scaled.ID); !errors.Is(err, broker.ErrDenied) || len(s.asked) != issued {
		t.Errorf("the grant is shown with another lease: %v", err)
	}
}

// An instance that was instantiated anew keeps its lease when it is learnt that it was terminated before.
func TestALateTerminationLeavesTheNextLease(t *testing.T) {
	s := set(t, false)
	s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.clock.Add(time.Minute)
	s.granted(ask(grant.Terminate, "op-2", "vnfd-1"))
	s.clock.Add(time.Minute)
	s.granted(ask(grant.Instantiate, "op-3", "vnfd-1"))
	if err := s.Notify(t.Context(), s.tacker, "op-2", "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if want := []broker.LeaseSelector{{Principal: s.tacker.Name, Operation: "op-1"}}; !slices.Equal(s.revoked, want) {
		t.Errorf("revoked %+v, want %+v", s.revoked, want)
	}
	s.clock.Add(time.Minute)
	s.granted(ask(grant.Terminate, "op-4", "vnfd-1"))
	if err := s.Notify(t.Context(), s.tacker, "op-4", "COMPLETED"); err != nil {
		t.Fatal(err)
	}
	if want := (broker.LeaseSelector{Principal: s.tacker.Name, Instance: "i-1"}); len(s.revoked) != 2 || s.revoked[1] != want {
		t.Errorf("revoked %+v, want %+v at last", s.revoked, want)
	}
}

func TestARevokedLeaseCutsTheInstanceOff(t *testing.T) {
	s := set(t, false)
	first, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.ended[lent.Lease.ID] = broker.ReasonRequested
	s.refused("SCALE", broker.ErrDenied, "was revoked", s.tacker, ask("SCALE", "op-2", "vnfd-1"))
	s.refused("a repeat of INSTANTIATE", broker.ErrDenied, "has ended", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	if _, _, err := s.Grant(t.Context(), s.tacker, first.ID); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("the grant is shown: %v", err)
	}
	resumes := s.tacker
	resumes.Roles = []string{"vnfm", "project-admin"} // who has grant:resume
	if _, c, err := s.Request(t.Context(), resumes, ask("SCALE", "op-3", "vnfd-1")); err != nil || c.Lease.ID == lent.Lease.ID {
		t.Errorf("with the right to resume = %s, %v", c.Lease.ID, err)
	}
	_, anew := s.granted(ask("HEAL", "op-4", "vnfd-1"))
	s.ended[anew.Lease.ID] = broker.ReasonExpired // nobody used it for long
	if _, c := s.granted(ask("SCALE", "op-5", "vnfd-1")); c.Lease.ID == anew.Lease.ID {
		t.Error("after a lease has expired by itself the instance is lent the same")
	}
}

// A new lease of an instance is where the instance is, whatever its client's placements have become: also where
// another VIM has the name, and however often the lease ends.
func TestANewLeaseIsWhereTheInstanceIs(t *testing.T) {
	for name, end := range map[string]func(*scene, broker.Lease){
		"it has expired":                 func(s *scene, l broker.Lease) { s.ended[l.ID] = broker.ReasonExpired },
		"its account was deleted":        func(s *scene, l broker.Lease) { s.ended[l.ID] = broker.ReasonGoneUpstream },
		"it was revoked, and is resumed": func(s *scene, l broker.Lease) { s.ended[l.ID] = broker.ReasonRequested },
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, false)
			s.tacker.Roles = append(s.tacker.Roles, policy.RoleProjectAdmin) // who has grant:resume
			s.client.Placements = []oauth.Placement{{VIM: "edge", Role: "edit", Namespaces: []string{"web"}}}
			_, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
			s.vim = "another-id" // has the name now
			s.client.Placements = []oauth.Placement{{VIM: "south", Role: "admin", Namespaces: []string{"db"}}}
			for n, operation := range []grant.GrantedOperation{"SCALE", "HEAL", grant.Terminate} {
				end(s, lent.Lease)
				s.clock.Add(time.Minute)
				var given grant.Grant
				given, lent = s.granted(ask(operation, fmt.Sprintf("op-next-%d", n), "vnfd-1"))
				if r := s.asked[len(s.asked)-1]; r.VIM != "vim-id" || r.Role != "edit" || !slices.Equal(r.Namespaces, []string{"web"}) || !given.Holds || given.Maker != given.ID {
					t.Errorf("%s: a lease is asked for as %+v, for grant %+v", operation, r, given)
				}
			}
			// The next instance goes where the placements lead now.
			next := ask(grant.Instantiate, "op-9", "vnfd-1")
			if s.granted(next); s.asked[len(s.asked)-1].VIM != "south" {
				t.Errorf("INSTANTIATE is lent %+v", s.asked[len(s.asked)-1])
			}
		})
	}
}

// Where another lease takes the place of one that has ended, it is one of the same grant: under its key, where the instance
// is. What was revoked is resumed by the grant that is permitted to, and by no other.
func TestTheLeaseThatTakesThePlaceIsTheSameGrants(t *testing.T) {
	s := set(t, false)
	s.client.Placements = []oauth.Placement{{VIM: "edge", Role: "edit", Namespaces: []string{"web"}}}
	first, lent := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.replaces, s.client.Placements = true, nil
	want := func(when string, given grant.Grant, now grant.Loan, resumed bool) {
		t.Helper()
		r := s.asked[len(s.asked)-1]
		if r.InPlaceOf != lent.Lease.ID || r.Resumed != resumed || r.VIM != "vim-id" || r.Role != "edit" || r.IdempotencyKey != "vnf-grant:"+first.ID {
			t.Errorf("%s a lease is asked for as %+v", when, r)
		}
		if given.Maker != first.ID || given.Holds || now.Lease.Login != lent.Lease.ID || now.Lease.ID == lent.Lease.ID {
			t.Errorf("%s the grant is %+v, of lease %+v", when, given, now.Lease)
		}
	}
	s.ended[lent.Lease.ID] = broker.ReasonExpired
	given, now := s.granted(ask("SCALE", "op-2", "vnfd-1"))
	want("once it has expired", given, now, false)
	s.ended[lent.Lease.ID] = broker.ReasonRequested
	s.refused("once it was revoked", broker.ErrDenied, "was revoked", s.tacker, ask("SCALE", "op-3", "vnfd-1"))
	resumes := s.tacker
	resumes.Roles = []string{"vnfm", "project-admin"} // who has grant:resume
	s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", resumes, ask("SCALE", "op-4", "vnfd-1"))
	s.fail = nil
	given, now = s.granted(ask("SCALE", "op-4", "vnfd-1")) // goes on with what was permitted
	want("once it is resumed", given, now, true)
	s.ended[now.Lease.ID] = broker.ReasonExpired
	if _, _, err := s.Grant(t.Context(), s.tacker, given.ID); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("what has ended since is shown: %v", err)
	}
}

// A token that ends with its operation takes no other's place: a repeat asks for the same lease in the same words.
func TestATokenTakesNoPlace(t *testing.T) {
	s := set(t, false)
	given, lent := s.granted(ask("SCALE", "op-1", "plain-1"))
	_, again := s.granted(ask("SCALE", "op-1", "plain-1"))
	if _, shown, err := s.Grant(t.Context(), s.tacker, given.ID); err != nil || shown.Lease.ID != lent.Lease.ID || again.Lease.ID != lent.Lease.ID {
		t.Errorf("a repeat is lent %s, and shown is %s, want %s: %v", again.Lease.ID, shown.Lease.ID, lent.Lease.ID, err)
	}
	if len(s.asked) != 3 || s.asked[0].Standing {
		t.Fatalf("asked for %+v, want a token three times", s.asked)
	}
	for _, r := range s.asked {
		if r.InPlaceOf != "" || r.VIM != s.asked[0].VIM || r.IdempotencyKey != "vnf-grant:"+given.ID {
			t.Errorf("a lease is asked for as %+v, want as %+v", r, s.asked[0])
		}
	}
}

// What cannot be had now is not refused for good; what nobody asks for any more is ended.
func TestWhatIsNotDecidedInTime(t *testing.T) {
	s := set(t, false)
	s.fail = &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.refused("while the VIM is away", broker.ErrUnreachable, "no answer", s.tacker, ask(grant.Instantiate, "op-2", "vnfd-1"))
	s.fail = nil
	s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	s.clock.Add(11 * time.Minute)
	if err := s.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := (broker.LeaseSelector{Principal: s.tacker.Name, Operation: "op-2"}); !slices.Contains(s.revoked, want) {
		t.Errorf("revoked %+v, want %+v", s.revoked, want)
	}
	s.refused("what came too late", broker.ErrDenied, "in time", s.tacker, ask(grant.Instantiate, "op-2", "vnfd-1"))
}

func TestGrantsMayBeDecidedLater(t *testing.T) {
	s := set(t, true)
	for range 2 {
		if g, _ := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1")); g.State != grant.Deciding || len(s.asked) != 0 {
			t.Fatalf("the request is answered with %s", g.State)
		}
	}
	g, _ := s.granted(ask(grant.Instantiate, "op-1", "vnfd-1"))
	if shown, c, err := s.Grant(t.Context(), s.tacker, g.ID); err != nil || shown.State != grant.Granted || c.Config.LeaseSecret.Empty() {
		t.Errorf("asked for it is %s, %v", shown.State, err)
	}
}

// A grant of an operation that connects an instance names the links of the placement as the client may use them; one that it may
// not is refused, and the lease goes. What was granted keeps its links.
func TestAGrantNamesTheLinksOfItsPlacement(t *testing.T) {
	all := lends{
		"sgi": {ID: "l1", VIM: "vim-id", Made: asset.Made{Network: "n1", Subnet: "s1"}}, "inner": {ID: "l2", VIM: "vim-id", Made: asset.Made{Network: "n2"}},
		"pods": {ID: "l3", VIM: "vim-id"}, "else": {ID: "l4", VIM: "other", Made: asset.Made{Network: "n4"}},
	}
	s := setUp(t, grant.Options{Standing: true, Lend: all.lend})
	s.client.Placements = []oauth.Placement{
		{VNFD: "no-*", VIM: "edge", Links: map[string]string{"CP": "nowhere"}},
		{VNFD: "pods-*", VIM: "edge", ManagedLinks: map[string]string{"VL": "pods"}},
		{VNFD: "else-*", VIM: "edge", Links: map[string]string{"CP": "else"}},
		{VIM: "edge", Links: map[string]string{"SGI_CP": "sgi"}, ManagedLinks: map[string]string{"VL1": "inner"}},
	}
	for n, vnfd := range []string{"no-1", "pods-1", "else-1"} {
		id := fmt.Sprintf("op-%d", n)
		s.refused(vnfd, broker.ErrDenied, "which is no virtual link", s.tacker, ask(grant.Instantiate, id, vnfd))
		s.clock.Add(time.Hour)
		if err := s.Follow(t.Context()); err != nil || len(s.revoked) != n+1 || s.revoked[n].Operation != id {
			t.Errorf("of the refused grant for %s there is revoked %+v, %v", id, s.revoked, err)
		}
	}
	wants := func(g grant.Grant, want int) {
		t.Helper()
		if len(g.Links) != want || len(g.ManagedLinks) != want || want > 0 && (g.Links["SGI_CP"].Made.Subnet != "s1" || g.ManagedLinks["VL1"].Made.Network != "n2") {
			t.Errorf("the grant for %s has the links %v and %v, want %d of each", g.Request.Type, g.Links, g.ManagedLinks, want)
		}
	}
	first, _ := s.granted(ask(grant.Instantiate, "op-7", "v"))
	wants(first, 1)
	delete(all, "sgi")
	again, _ := s.granted(ask(grant.Instantiate, "op-7", "v"))
	wants(again, 1)
	scaled, _ := s.granted(ask("SCALE", "op-8", "v"))
	wants(scaled, 0)
	s.refused("one whose link is gone", broker.ErrDenied, "names sgi", s.tacker, ask("CHANGE_EXT_CONN", "op-9", "v"))
}
