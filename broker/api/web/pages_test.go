package web

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/golden"
)

// id of a thing: a digit again and again.
func uid(digit string) string {
	return strings.Repeat(digit, 8) + strings.Repeat("-"+strings.Repeat(digit, 4), 3) + "-" + strings.Repeat(digit, 12)
}

func ago(hours int) time.Time { return noon.Add(-time.Duration(hours) * time.Hour) }

var errSealed = &broker.Error{Kind: broker.ErrUnavailable, Detail: "vault is sealed"}

// edge is a cluster of which everything is known.
func edge() broker.VIM {
	return broker.VIM{
		ID: uid("1"), Project: "demo", Name: "edge", Type: "kubernetes", State: broker.VIMRegistered, Labels: map[string]string{"site": "north", "tier": "far"},
		Description: "in the north", SharedWith: []string{"core", "lab"}, CreatedBy: "alice", CreatedAt: ago(48), UpdatedAt: ago(24),
		Past: []broker.Generation{{Number: 1, Target: broker.Target{Endpoint: "https://old.example:6443"}, CredentialKind: "token", KeyStore: "keydir"}},
		Current: broker.Generation{
			Number: 2, Target: broker.Target{Endpoint: "https://edge.example:6443", CACert: "PEM", Namespace: "lent"}, Identity: "system-1",
			CredentialKind: "clientCertificate", CredentialExpiresAt: noon.Add(24 * time.Hour), KeyStore: "vault",
			Discovered: broker.Discovered{Regions: []string{"default", "shop"}, Cluster: &broker.Cluster{Mode: broker.ModeManaged, User: "system:serviceaccount:a:b", Profile: "narrow", RenewAt: noon.Add(time.Hour)}},
		},
		Health: broker.Health{Status: broker.HealthReachable, CheckedAt: noon.Add(-time.Minute), Version: "v1.35.0", CanMint: true, MintMessage: "it may not bind roles"},
	}
}

// lit is a world where there is something of everything.
func lit() *world {
	cloud := broker.VIM{
		ID: uid("2"), Project: "demo", Name: "cloud", Type: "openstack", Suspended: "maintenance", Shared: true, Current: broker.Generation{
			Number: 1, Target: broker.Target{Endpoint: "http://keystone.example:5000"}, CredentialExpiresAt: noon.Add(-time.Hour),
			Discovered: broker.Discovered{Regions: []string{"north", "south"}, Cloud: &broker.Cloud{ProjectName: "acme", Roles: []string{"member", "reader"}}},
		}, Health: broker.Health{Status: broker.HealthReachable, MintMessage: "it may make none"},
	}
	bare := broker.VIM{ID: uid("3"), Name: "bare", Type: "kubernetes", State: broker.VIMDraining, Current: broker.Generation{Number: 1, Target: broker.Target{Endpoint: "https://x", InsecureSkipVerify: true}}}
	away := broker.VIM{ID: uid("4"), Name: "away", Type: "kubernetes", Suspended: "gone", Health: broker.Health{Status: broker.HealthUnreachable, CheckedAt: ago(1), Message: "no route to host"}}
	active := broker.Lease{
		ID: uid("5"), VIM: uid("1"), VIMName: "edge", Project: "demo", Principal: "alice", For: "dave", Operation: uid("9"), Instance: "vnf-1", Door: audit.DoorREST,
		State: broker.LeaseActive, Role: "edit", Namespaces: []string{"shop", "till"}, Format: "kubeconfig", Purpose: "to look", Grade: broker.GradeNamespaces,
		GradeReasons: []string{"it reads secrets"}, IssuedAt: noon.Add(-30 * time.Minute), ExpiresAt: noon.Add(30 * time.Minute), MaxExpiresAt: noon.Add(8 * time.Hour),
		CredentialKind: "token", CredentialID: "jti-1", Handle: "vimbroker-5", Derived: true, Revocable: true, MaxRevocationLag: time.Minute,
	}
	standing := broker.Lease{
		ID: uid("6"), VIM: uid("2"), VIMName: "cloud", Project: "core", Principal: "bob", State: broker.LeaseActive, ClusterWide: true, Derived: true, Grade: broker.GradeUnbounded,
		Rules:    []broker.Rule{{Verbs: []string{"get", "list"}, APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"web"}}},
		IssuedAt: ago(30), ExpiresAt: ago(1), MaxExpiresAt: noon.Add(time.Hour), TokenTTL: time.Hour, LastError: "unreachable",
	}
	late := active
	late.ID, late.ExpiresAt, late.For, late.Grade, late.GradeReasons = uid("7"), ago(2), "", broker.GradeBounded, nil
	revoked := broker.Lease{
		ID: uid("8"), VIM: uid("1"), VIMName: "edge", Principal: "carol", State: broker.LeaseRevoked, Reason: "revoked", ExpiresAt: ago(3), RevokedAt: ago(4), ConfirmedDeadAt: ago(2),
		LeftBehind: []string{"a role binding"},
	}
	of := func(digit string, state broker.LeaseState, fault string, hours int) broker.Lease {
		return broker.Lease{ID: uid(digit), VIM: uid("1"), VIMName: "edge", State: state, LastError: fault, ExpiresAt: ago(hours)}
	}
	return &world{
		vims: []broker.VIM{edge(), cloud, bare, away},
		leases: []broker.Lease{
			active, standing, late, revoked, of("a", broker.LeaseIrrevocable, "its account is not ours", 5), of("b", broker.LeaseRevoking, "", 1), of("c", broker.LeaseRevoking, "timeout", 1),
			of("d", broker.LeaseRevoking, "", -1), of("e", broker.LeaseRevoking, "refused", -1), of("f", broker.LeasePending, "", -1), of("0", broker.LeaseIrrevocable, "", 5),
		},
		entries: []audit.Entry{
			{
				Seq: 7, Time: ago(1), Request: "request-7", Door: audit.DoorREST, Principal: "alice", Project: "demo", Action: policy.LeaseIssue, Kind: "Lease", Resource: uid("5"), Outcome: audit.Failed,
				Detail: map[string]string{"vim": uid("1"), "vimName": "edge", "lease": uid("5"), "error": "unreachable", "reason": "asked"},
			},
			{Seq: 6, Time: ago(2), Principal: "bob", Action: policy.VIMShow, Outcome: audit.Read, Detail: map[string]string{"vim": uid("2"), "reason": "asked"}},
		},
		anchors: []notary.AnchorStatus{
			{Anchoring: notary.Anchoring{Anchor: "swift", Size: 7, Time: noon}},
			{Anchoring: notary.Anchoring{Anchor: "broken", Size: 5, Time: ago(1)}, Behind: 2, Fault: "disk full"},
			{Anchoring: notary.Anchoring{Anchor: "just", Size: 5, Time: noon.Add(-lateAfter)}, Behind: 2},
			{Anchoring: notary.Anchoring{Anchor: "late", Size: 5, Time: noon.Add(-lateAfter - 1)}, Behind: 1},
		},
		sinks: []delivery.Status{
			{Name: "siem", Cursor: delivery.Cursor{Sink: "siem", Start: 1, Seq: 7}, Within: time.Minute},
			{Name: "slow", Cursor: delivery.Cursor{Sink: "slow", Start: 1, Seq: 3}, Within: time.Minute, Behind: time.Hour, Waiting: 4},
			{Name: "stuck", Cursor: delivery.Cursor{Sink: "stuck", Start: 1, Seq: 2}, Within: time.Minute, Behind: time.Hour, Waiting: 5, Fault: "refused"},
		},
		replicas: []broker.Replica{
			{ID: "one", Version: "1.2.3", Own: true, Fault: "seen already", StartedAt: ago(9), SeenAt: noon},
			{ID: "two", Version: "1.2.2", Fault: "its store", SeenAt: ago(1)},
			{ID: "three", Late: true, SeenAt: ago(2)},
			{ID: "four", SeenAt: noon},
		},
		parts: []broker.PartStatus{{Part: "database"}, {Part: "issuing", Fault: "vault is sealed"}},
		clusters: []onboard.View{
			{Cluster: onboard.Cluster{
				ID: uid("a"), Management: uid("1"), Namespace: "tenant", Name: "c1", UID: "uid-1", Project: "demo", State: onboard.StateQuarantined, Reason: "gone", Message: "its control plane is gone",
				VIM: uid("3"), System: "system-3", CreatedAt: ago(9), ReadyAt: ago(8), RegisteredAt: ago(7), GoneAt: ago(1), UpdatedAt: ago(1),
			}, VIMName: "bare", CredentialExpiresAt: noon.Add(time.Hour), SameSystem: []onboard.Cluster{{ID: uid("b"), Namespace: "tenant", Name: "c2"}}},
			{Cluster: onboard.Cluster{ID: uid("b"), Management: uid("1"), Namespace: "tenant", Name: "c2", State: onboard.StateWaiting, CreatedAt: ago(2)}},
		},
		managements: []onboard.ManagementView{
			{Management: onboard.Management{VIM: uid("1"), Settings: onboard.Settings{Namespaces: []string{"tenant", "more"}}, WatchedAt: noon}, Name: "edge"},
			{Management: onboard.Management{VIM: uid("3"), Trouble: "refused", HeldAt: ago(3)}, Name: "bare"},
			{Management: onboard.Management{VIM: uid("4"), Trouble: "no route"}, Name: "away"},
		},
		clients: []oauth.Client{
			{ID: uid("c"), Name: "tacker", Project: "demo", State: oauth.Active, Roles: []string{"vnfm", "reader"}, SHA256: "ab", RotatedAt: ago(5), PreviousUntil: noon.Add(time.Hour), CreatedBy: "alice", CreatedAt: ago(6)},
			{ID: uid("d"), Name: "mano", State: oauth.Deleting},
		},
		grants: []grant.Record{{Grant: grant.Grant{
			ID: uid("e"), State: grant.Granted, Request: grant.GrantRequest{Type: "INSTANTIATE", Instance: uid("f")}, VIMName: "edge", Lease: uid("5"), CreatedAt: ago(1),
		}}, {Grant: grant.Grant{ID: uid("0"), State: grant.Refused}}},
		sessions: []session.Session{
			{ID: "session-1", Source: "10.0.0.1", CreatedAt: ago(1), UsedAt: noon, Until: noon.Add(time.Hour), EndsAt: noon.Add(9 * time.Hour)}, {ID: "session-2", Source: "10.0.0.2"},
		},
		inventory: broker.Inventory{
			VIM: uid("1"), VIMName: "edge", Upstream: 3, Rows: 1, Orphans: []broker.Upstream{{Handle: "vimbroker-x", Lease: uid("8")}}, Ghosts: []broker.Lease{active},
			Unbound: []broker.Unbound{{Lease: late, Namespaces: []string{"shop", "till"}}}, Unseen: 2, Foreign: []string{"a cluster role of others"},
		},
		needs:  []Need{{What: Cell{Text: "a toy", Href: "/ui/toys", Mark: Bad}, Why: "it is broken", Since: ago(1)}},
		logins: []string{"corp", "a/b c"}, live: map[string]int{uid("1"): 3, uid("2"): broker.MostLiveOn}, next: "token-2",
		who: policy.Principal{Name: "oidc:corp:alice", Project: "demo", Roles: []string{"member", "reader"}, Login: policy.Arrival{Shown: "Alice"}},
	}
}

// dark is a world where there is nothing, but who looks.
func dark() *world { return &world{who: policy.Principal{Name: "bob", Project: "demo"}} }

// addresses are those of all pages, with every word that they take.
var addresses = []string{
	"/ui/", "/ui/vims?name=edge&type=kubernetes&status=reachable&label=site%3Dnorth&page=t", "/ui/vims?label=site", "/ui/vims/" + uid("1"), "/ui/vims/" + uid("2"), "/ui/vims/" + uid("3"),
	"/ui/vims/" + uid("1") + "/inventory", "/ui/vims/" + uid("1") + "/check", "/ui/vims/" + uid("1") + "/suspend", "/ui/vims/" + uid("2") + "/resume", "/ui/vims/" + uid("1") + "/drain",
	"/ui/leases", "/ui/leases?state=&vim=edge&principal=alice&for=dave&operation=op&instance=vnf&id=55&page=t", "/ui/leases/" + uid("5"), "/ui/leases/" + uid("6"), "/ui/leases/" + uid("8"),
	"/ui/leases/" + uid("5") + "/revoke", "/ui/revocation?vim=edge&principal=alice&for=dave&operation=op&instance=vnf&page=t", "/ui/revocation?for=dave", "/ui/toys", "/ui/clusters",
	"/ui/clusters?name=c1&namespace=tenant&management=edge&state=waiting&page=t", "/ui/clusters/" + uid("a"), "/ui/clusters/" + uid("b"), "/ui/managements/" + uid("3") + "/release",
	"/ui/audit", "/ui/audit?principal=a&action=vim:show&vim=edge&lease=l&resource=r&request=q&project=p&since=1h&until=1m&outcome=failed&page=9", "/ui/audit/7", "/ui/policies",
	"/ui/policies?principal=bob&roles=member,reader&project=core&action=lease:issue&role=edit&namespaces=shop+till&grade=bounded", "/ui/policies?action=vim:show&vim=" + uid("1"),
	"/ui/policies?action=lease:revoke&roles=member&lease=" + uid("5"), "/ui/policies?action=vim:show&project=core", "/ui/policies?action=vim:show&principal=bob", "/ui/clients?name=tacker&page=t",
	"/ui/clients/" + uid("c"), "/ui/clients/" + uid("d"), "/ui/grants?client=c&instance=i&operation=o&vim=edge&state=granted&page=t", "/ui/sessions", "/ui/sessions/session-2/end", "/ui/export?after=5",
}

type form struct {
	path   string
	fields url.Values
}

// forms are those of all that is done.
var forms = []form{
	{"/ui/vims/" + uid("1") + "/check", own()},
	{"/ui/vims/" + uid("1") + "/suspend", own("why", " maintenance ")},
	{"/ui/vims/" + uid("1") + "/suspend", own("why", " ")},
	{"/ui/vims/" + uid("2") + "/resume", own()},
	{"/ui/vims/" + uid("1") + "/drain", own()},
	{"/ui/leases/" + uid("5") + "/revoke", own()},
	{"/ui/revocation", own("vim", "edge", "principal", "alice", "for", "dave", "operation", "op", "instance", "vnf")},
	{"/ui/revocation", own("vim", "edge")},
	{"/ui/managements/" + uid("3") + "/release", own()},
	{"/ui/sessions/session-2/end", own()},
	{"/ui/logout", own()},
	{"/ui/login", own("token", " vbt_x ", "back", "/ui/leases")},
}

// exchange is a request, what was asked for it, and the answer in words.
func exchange(t *testing.T, w *world, path string, fields url.Values, change ...func(*http.Request)) string {
	t.Helper()
	w.asked = nil
	r := w.send(t, path, fields, change...)
	text := whole(t, r)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		text = told(t, text)
	}
	if frame, rest, framed := strings.Cut(text, "<post /ui/logout>\n"); framed && path != "/ui/" { // whose frame is shown once
		text = rest[:strings.LastIndex(strings.TrimSpace(rest), "\n")+1]
		for line := range strings.Lines(frame) {
			if strings.HasSuffix(line, "(here)\n") {
				text = line + text
			}
		}
	}
	said := fmt.Sprintf("=== %s\n", path)
	if fields != nil {
		said = fmt.Sprintf("=== POST %s %s\n", path, fields.Encode())
	}
	for _, q := range w.asked {
		said += "asks " + q + "\n"
	}
	said += fmt.Sprintln(r.StatusCode, r.Header.Get("Location"))
	for _, c := range r.Header["Set-Cookie"] {
		said += "sets " + c + "\n"
	}
	return said + text + "\n"
}

// mayLittle is what a person may who may look at VIMs alone.
func mayLittle(a policy.Action, _ string) bool { return a == policy.VIMShow }

// Each page asks the domain for what its address says, and shows what there is: all of it, nothing, or what the person may see.
func TestPagesShowWhatThereIs(t *testing.T) {
	for name, w := range map[string]*world{"full.txt": lit(), "empty.txt": dark(), "little.txt": lit()} {
		said, pages := "", addresses
		switch name {
		case "empty.txt":
			w.vims, w.leases = make([]broker.VIM, 2), make([]broker.Lease, 1)
			for n := range w.vims {
				w.vims[n].ID = uid(fmt.Sprint(n + 1))
			}
			w.leases[0].ID = uid("5")
			pages = nil
			for _, path := range addresses {
				if !strings.Contains(path, "/"+uid("6")) && !strings.Contains(path, uid("8")) && !strings.Contains(path, uid("a")) && !strings.Contains(path, uid("3")) && !strings.Contains(path, "?") {
					pages = append(pages, path)
				}
			}
		case "little.txt":
			w.may, w.next = mayLittle, ""
			pages = []string{"/ui/", "/ui/vims/" + uid("1"), "/ui/leases/" + uid("5"), "/ui/audit", "/ui/audit/7", "/ui/clients", "/ui/clients/" + uid("c"), "/ui/policies?action=vim:delete&principal=bob"}
		}
		for _, path := range pages {
			said += exchange(t, w, path, nil)
		}
		golden.Compare(t, filepath.Join("testdata", name), said)
	}
}

// Each form does one thing, by its fields, and leads on.
func TestFormsDoWhatTheySay(t *testing.T) {
	w, said := lit(), ""
	for _, f := range forms {
		said += exchange(t, w, f.path, f.fields)
	}
	w.gone = true
	said += exchange(t, w, "/ui/vims/"+uid("1")+"/drain", own())
	golden.Compare(t, "testdata/forms.txt", said)
}

// Whatever the domain refuses, the page says so, and shows nothing of the rest.
func TestWhatIsRefusedIsSaid(t *testing.T) {
	all := make([]form, len(addresses), len(addresses)+len(forms))
	for n, path := range addresses {
		all[n].path = path
	}
	tried := 0
	for _, f := range append(all, forms...) {
		w := lit()
		w.send(t, f.path, f.fields)
		for n, question := range w.asked {
			if strings.HasPrefix(question, "may ") {
				continue
			}
			w := lit()
			w.fail, w.err = n+1, errSealed
			r := w.send(t, f.path, f.fields)
			text, said := told(t, whole(t, r)), "vault is sealed."
			if strings.HasPrefix(question, "Find") && n == 0 && f.path != "/ui/logout" {
				said = "callers cannot be authenticated now."
			}
			if tried++; r.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "\nVIMs </ui/vims>") || !strings.Contains(text, said) || r.Header.Get("Location") != "" || len(r.Header["Set-Cookie"]) > 0 {
				t.Errorf("%s, where %s fails: %d %v\n%s", f.path, question, r.StatusCode, r.Header, text)
			}
		}
	}
	w := lit()
	w.gone, w.fail = true, 2
	if r := w.send(t, "/ui/vims/"+uid("1")+"/drain", own()); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a VIM that goes, and cannot be deleted: %d", r.StatusCode)
	}
	w = lit()
	w.entries[0].Damaged = true
	if r := w.send(t, "/ui/audit/7", nil); r.StatusCode < 500 {
		t.Errorf("an entry without a line: %d", r.StatusCode)
	}
	if tried < 2*len(all) {
		t.Errorf("only %d faults were tried", tried)
	}
}

// stranger is a browser that shows no session, changed.
func stranger(change ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Cookie")
		for n := 1; n < len(change); n += 2 {
			r.Header.Set(change[n-1], change[n])
		}
	}
}

// from is where a browser says that a request comes from.
func from(said ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del("Sec-Fetch-Site")
		for n := 1; n < len(said); n += 2 {
			r.Header.Set(said[n-1], said[n])
		}
	}
}

func atHost(r *http.Request) { r.Host = "broker.example" }

// Whoever is not let in is asked to log in, and comes back to where it wanted to go, by cookies of this page alone.
func TestPeopleComeIn(t *testing.T) {
	said := ""
	for _, c := range []struct {
		path    string
		form    url.Values
		refused bool
		change  []func(*http.Request)
	}{
		{"/ui", nil, false, nil},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){stranger()}},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){stranger("Sec-Fetch-Site", "cross-site")}},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){stranger("Sec-Fetch-Site", "same-site")}},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){stranger("Sec-Fetch-Site", "none")}},
		{"/ui/vims?name=a", nil, true, []func(*http.Request){stranger("Sec-Fetch-Site", "cross-site", "Cookie", sessionCookie+"=secret-1")}},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){stranger("Cookie", sessionCookie+"=secret-1; "+sessionCookie+"=secret-9")}},
		{"/ui/vims?name=a", nil, false, []func(*http.Request){atHost}},
		{"/ui/sessions", nil, false, []func(*http.Request){atHost, stranger("Cookie", "__Host-"+sessionCookie+"=secret-1", refreshing, "1")}},
		{"/ui/sessions/session-2/end", url.Values{}, false, []func(*http.Request){stranger("Sec-Fetch-Site", "cross-site")}},
		{"/ui/login/corp?back=/ui/leases", nil, false, nil},
		{"/ui/login/corp?back=https://mallet.example/", nil, false, []func(*http.Request){atHost}},
		{"/ui/login/corp", nil, true, nil},
		{"/ui/callback?code=c&state=s", nil, false, []func(*http.Request){stranger("Cookie", loginCookie+"=kept-1")}},
		{"/ui/callback?code=c&state=s", nil, true, []func(*http.Request){atHost, stranger("Cookie", "__Host-"+loginCookie+"=kept-1")}},
		{"/ui/link/once", nil, false, nil},
		{"/ui/link/once", nil, true, nil},
		{"/ui/login", url.Values{"token": {"vbt_x"}, "back": {"/ui/leases?state="}}, true, nil},
		{"/ui/login", url.Values{"token": {"vbt_x"}, "back": {"https://mallet.example/"}}, true, nil},
		{"/ui/login", url.Values{"token": {"vbt_x"}, "back": {"https://mallet.example/"}}, false, []func(*http.Request){atHost}},
		{"/ui/login", url.Values{"token": {"a", "b"}}, false, nil},
		{"/ui/login", url.Values{"token": {"a"}}, false, []func(*http.Request){stranger("Sec-Fetch-Site", "same-site")}},
		{"/ui/logout", url.Values{}, false, nil},
		{"/ui/logout", url.Values{tokenField: {formToken("secret-1")}, "a": {"b", "c"}}, false, nil},
		{"/ui/sessions/session-2/end", own(), false, []func(*http.Request){from()}},
		{"/ui/sessions/session-2/end", own(), false, []func(*http.Request){from("Origin", "http://localhost")}},
		{"/ui/sessions/session-2/end", own(), false, []func(*http.Request){from("Origin", "http://mallet.example")}},
		{"/ui/sessions/session-2/end", own(tokenField, formToken("secret-2")), false, nil},
		{"/ui/sessions/session-2/end", own("a", "%zz"), false, []func(*http.Request){func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("a=%zz")) }}},
		{"/ui/revocation", nil, false, nil},
		{"/ui/audit/0", nil, false, nil},
		{"/ui/audit/99999999999999999999", nil, false, nil},
		{"/ui/audit?since=tomorrow", nil, false, nil},
		{"/ui/assets/none", nil, false, nil},
	} {
		w := lit()
		if c.refused {
			w.fail, w.err = 1, policy.ErrUnauthenticated
		}
		said += exchange(t, w, c.path, c.form, c.change...)
	}
	golden.Compare(t, "testdata/doors.txt", said)
}

// A fault of a policy permits nothing that is shown.
func TestAFaultOfAPolicyShowsNothing(t *testing.T) {
	w := lit()
	w.fail = 1
	s := &server{Options: w.options()}
	if s.may(&Visit{Call: visit(t, "", true).Call}, policy.VIMShow, "demo") || !s.may(&Visit{Call: visit(t, "", true).Call}, policy.VIMShow, "demo") {
		t.Errorf("a policy that cannot be asked shows something: %v", w.asked)
	}
}

// A question that is none is answered with what is wrong with it, and whoever may not ask about others sees no policy's text.
func TestAQuestionThatIsNone(t *testing.T) {
	path := "/ui/policies?principal=bob&action=vim:fly"
	w := lit()
	w.fail, w.err = 2, broker.Invalid("action", "is not known")
	if said := exchange(t, w, path, nil); !strings.Contains(said, "No question\n| warn: action: is not known") || strings.Contains(said, "Policy says") {
		t.Errorf("a question that is none: %s", said)
	}
	w = lit()
	w.fail, w.err = 2, broker.ErrInvalid
	if r := w.send(t, path, nil); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a question that is none, for a reason that nobody gives: %d", r.StatusCode)
	}
	for may, want := range map[bool]int{true: 1, false: 0} {
		w := lit()
		w.may = func(a policy.Action, _ string) bool { return may || a == "vim:fly" }
		said := exchange(t, w, path, nil)
		if strings.Count(said, "permit (principal") != want || !strings.Contains(said, "good: allowed") || !strings.Contains(said, "may oidc:corp:alice policy:explain demo") {
			t.Errorf("whoever may explain, %v: %s", may, said)
		}
	}
}

// A page of leases is gathered from what is asked for until it is full, the list ends, or it was asked for often enough.
func TestAPageOfLeasesIsGathered(t *testing.T) {
	some := func(n int) []broker.Lease { return make([]broker.Lease, n) }
	often := make([][]broker.Lease, windows+1)
	for _, c := range []struct {
		pages [][]broker.Lease
		next  string
		found int
		sizes []int
		left  string
	}{
		{[][]broker.Lease{some(5)}, "", 5, []int{5}, ""},
		{[][]broker.Lease{some(5)}, "x", 5, []int{5}, "x"},
		{[][]broker.Lease{some(4), some(1), nil}, "", 5, []int{5, 1}, "more"},
		{[][]broker.Lease{nil, some(2), some(1)}, "", 3, []int{5, 5, 3}, ""},
		{often, "", 0, make([]int, windows), "more"},
	} {
		w := &world{leasePages: c.pages, next: c.next}
		found, next, err := leasePage(visit(t, "", true), w, broker.LeaseQuery{Page: broker.Page{Size: 5}})
		if err != nil || len(found) != c.found || next != c.left || len(w.asked) != len(c.sizes) {
			t.Errorf("%d pages: %d leases, next %q, %v, after %q", len(c.pages), len(found), next, err, w.asked)
		}
		for n, size := range c.sizes {
			if size > 0 && !strings.Contains(w.asked[n], fmt.Sprintf("Size: %d", size)) {
				t.Errorf("question %d is %s, want one for %d", n, w.asked[n], size)
			}
		}
	}
	w := lit()
	w.leasePages = often
	if text := exchange(t, w, "/ui/leases", nil); !strings.Contains(text, "None of the newest is one of these. Go on with the next page.\nNext page <?page=more>") {
		t.Errorf("a page of leases without one: %s", text)
	}
	w.leasePages, w.next = [][]broker.Lease{some(few)}, "x"
	if text := exchange(t, w, "/ui/vims/"+uid("1"), nil); !strings.Contains(text, "Live leases\nThe newest of them.\n") || strings.Contains(text, "Next page") {
		t.Errorf("more leases than a VIM's page shows: %s", text)
	}
	for size, want := range map[int]string{0: "200 leases are live.", 1: "More than 200 leases are live. These figures are of the newest 200."} {
		w := lit()
		w.leasePages = append(make([][]broker.Lease, 4), some(counted))
		if size == 0 {
			w.next = ""
		}
		if text := exchange(t, w, "/ui/", nil); !strings.Contains(text, "Lent now\n"+want+"\n") {
			t.Errorf("the overview does not say %q: %s", want, text)
		}
	}
}

// Templates that are none, or that do not fit, are no page.
func TestAPageThatCannotBeMadeIsNone(t *testing.T) {
	fails := func(path string, change func(*Options)) {
		t.Helper()
		o := lit().options()
		change(&o)
		if r := sendTo(t, o, path, nil); r.StatusCode != http.StatusInternalServerError {
			t.Errorf("%s = %d %s", path, r.StatusCode, whole(t, r))
		}
	}
	fails("/ui/games", func(*Options) {})
	fails("/ui/vims", func(o *Options) { o.Rooms[0].Pages = fstest.MapFS{"x.html": {Data: []byte("{{")}} })
	s := &server{templates: func() (*template.Template, error) { return nil, errSealed }}
	if text, err := s.body(&frame{}); !errors.Is(err, errSealed) || text != "" {
		t.Errorf("templates that are none: %q, %v", text, err)
	}
	if err := s.encode(io.Discard, &frame{}); !errors.Is(err, errSealed) || !strings.HasPrefix(err.Error(), "writing a page: ") {
		t.Errorf("templates that are none: %v", err)
	}
}

// Each file of the page is what is embedded, of its type, and kept by browsers.
func TestFilesOfThePage(t *testing.T) {
	s := &server{}
	s.loadAssets()
	for file, c := range map[string]struct{ at, media string }{
		"style.css": {s.Style, "text/css; charset=utf-8"}, "page.js": {s.Script, "text/javascript; charset=utf-8"}, "icon.svg": {s.Icon, "image/svg+xml"},
	} {
		want, err := files.ReadFile("assets/" + file)
		if err != nil {
			t.Fatal(err)
		}
		r := dark().send(t, c.at, nil)
		if got := whole(t, r); got != string(want) || r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != c.media || !strings.HasSuffix(c.at, "-"+file) {
			t.Errorf("%s = %d %v, %d bytes, want %d", c.at, r.StatusCode, r.Header, len(got), len(want))
		}
	}
}

// Without a clock of its own the page shows the time that it is.
func TestThePageHasATime(t *testing.T) {
	o := dark().options()
	o.Now = nil
	before := time.Now().Add(-time.Second)
	text := told(t, whole(t, sendTo(t, o, "/ui/sessions", nil)))
	_, said, _ := strings.Cut(strings.TrimSpace(text), "seen ")
	if seen, err := time.Parse("2006-01-02 15:04:05 UTC", said); err != nil || seen.Before(before) || seen.After(time.Now()) {
		t.Errorf("the page is of another time: %v, %s", err, text)
	}
}

// What needs somebody is counted in words.
func TestOneThingNeedsSomebody(t *testing.T) {
	w := dark()
	w.parts = lit().parts
	if text := exchange(t, w, "/ui/", nil); !strings.Contains(text, "Overview bad: 1 thing needs somebody\n") || !strings.Contains(text, "| bad: the broker: issuing | vault is sealed |") {
		t.Errorf("one thing needs somebody: %s", text)
	}
}

// Each answer keeps others from framing it and from running in it, and a page that asks VIMs has more time than others.
func TestAnswersAndRoutesOfThePage(t *testing.T) {
	for _, path := range []string{"/ui/vims", "/ui", "/ui/nothing"} {
		h := dark().send(t, path, nil).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
				"frame-ancestors 'none'; base-uri 'none'",
			"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: the header %s is %q, want %q", path, name, got, want)
			}
		}
	}
	for _, r := range Door(lit().options()).Routes {
		want := readTime
		switch {
		case r.Path == "/ui/export":
			want = exportTime
		case strings.HasSuffix(r.Path, "/inventory"), r.Method == "POST" && !slices.Contains([]string{"/ui/login", "/ui/logout"}, r.Path):
			want = actTime
		}
		asset := r.Path == "/ui/assets/{name}"
		if r.Timeout != want || (r.Lane == api.Free) != asset || r.Quiet != asset {
			t.Errorf("%s %s has %v, want %v; its lane is %v", r.Method, r.Path, r.Timeout, want, r.Lane)
		}
	}
	s := &server{rooms: []Room{{Nav: "Overview"}, {Nav: "VIMs", Path: "vims"}, {Path: "sessions"}}}
	for path, want := range map[string][]bool{"/ui/": {true, false}, "/ui/vims": {false, true}, "/ui/vims/x": {false, true}, "/ui/vimsy": {false, false}, "/ui//x": {false, false}} {
		if got := s.navigation(path); len(got) != 2 || got[0].Current != want[0] || got[1].Current != want[1] {
			t.Errorf("at %s the navigation is %+v", path, got)
		}
	}
	if got := id("", "leases"); got != (Cell{Code: true}) {
		t.Errorf("an id that is none leads to %q", got.Href)
	}
}
