package onboard_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// pushable shows a Cluster that is ready and has no secret, and returns a token for it.
func (b *bench) pushable(namespace, name string) (onboard.Seen, onboard.Cluster, string) {
	b.t.Helper()
	for _, n := range []string{"a", "b"} { // a lease on the hub is for these
		b.kube("hub").PutCluster(fakekube.Cluster{Namespace: n, Name: "some"})
	}
	s := onboard.Seen{Namespace: namespace, Name: name, UID: "uid-" + namespace + "-" + name, Ready: true}
	b.source.put(s)
	b.look(namespace, name)
	c := b.want(namespace, name, onboard.StateWaiting, onboard.ReasonSecretMissing)
	return s, c, b.token(c)
}

func (b *bench) token(c onboard.Cluster) string {
	b.t.Helper()
	token, _, err := b.IssuePushToken(b.t.Context(), root, c.ID, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	return token.Reveal()
}

// push pushes as the holder of a token.
func (b *bench) push(token string, p onboard.Pushed) (onboard.View, error) {
	b.t.Helper()
	who, err := b.Pusher(b.t.Context(), token)
	if err != nil {
		return onboard.View{}, err
	}
	return b.Push(b.t.Context(), who, p)
}

// TestAKubeconfigIsPushed: into the same states as a secret's, once for each token.
func TestAKubeconfigIsPushed(t *testing.T) {
	b := newBench(t)
	s, _, token := b.pushable("a", "edge")
	kube := b.kube("a/edge")
	in := onboard.Pushed{Management: "hub", Namespace: "a", UID: s.UID, Kubeconfig: secret.NewText(certified(kube))}
	v, err := b.push(token, in)
	if err != nil || v.State != onboard.StateRegistered || v.Reason != "" || v.VIMName != "a.edge" {
		t.Fatalf("it is %s (%s: %s), VIM %q, %v", v.State, v.Reason, v.Message, v.VIMName, err)
	}
	vim := b.vim(v.VIM)
	if vim.Project != "north" || vim.CreatedBy != "system:onboard" || vim.Current.Discovered.Profile != "engine" {
		t.Errorf("the VIM is of %s by %s with profile %q", vim.Project, vim.CreatedBy, vim.Current.Discovered.Profile)
	}
	_, err = b.push(token, in)
	wantKind(t, "a token that was used", err, broker.ErrDenied)
	// Whoever watches finds it registered, and leaves it so.
	for range 2 {
		b.look("a", "edge")
		b.clock.Add(time.Minute)
	}
	c := b.want("a", "edge", onboard.StateRegistered, "")
	b.lease(alice, c.VIM)
	// Another kubeconfig of the same system is adopted, with another token.
	in.Kubeconfig = secret.NewText(kube.Kubeconfig())
	if v, err = b.push(b.token(c), in); err != nil || v.State != onboard.StateRegistered || b.vim(c.VIM).Current.Number != 2 {
		t.Errorf("it is %s in generation %d, %v", v.State, b.vim(c.VIM).Current.Number, err)
	}
	// One that leads elsewhere quarantines the cluster; the token is good still.
	again := b.token(c)
	in.Kubeconfig = secret.NewText(b.kube("elsewhere").Kubeconfig())
	if v, err = b.push(again, in); err != nil || v.State != onboard.StateQuarantined || v.Reason != onboard.ReasonOtherSystem {
		t.Errorf("a kubeconfig that leads elsewhere: %s (%s), %v", v.State, v.Reason, err)
	}
	b.look("a", "edge") // no secret is missed
	b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem)
	in.Kubeconfig = secret.NewText("\x00{{")
	if v, err = b.push(again, in); err != nil || v.State != onboard.StateQuarantined || v.Reason != onboard.ReasonSecretInvalid {
		t.Errorf("garbage: %s (%s), %v", v.State, v.Reason, err)
	}
	in.Kubeconfig = secret.NewText(certified(kube))
	if v, err = b.push(again, in); err != nil || v.State != onboard.StateRegistered {
		t.Errorf("put right: %s (%s), %v", v.State, v.Reason, err)
	}
	// A token that is issued while another is used is good still.
	var meanwhile string
	kube.Fail(fake.Fault{Method: "GET", Path: "^/api/v1/namespaces/kube-system$", Kind: fake.Pass, Reached: func() { meanwhile = b.token(c) }})
	last := b.token(c)
	in.Kubeconfig = secret.NewText(strings.Replace(kube.Kubeconfig(), kube.AdminToken, kube.AdminTokenFor(0), 1))
	if v, err = b.push(last, in); err != nil || v.State != onboard.StateRegistered || meanwhile == "" {
		t.Errorf("pushed while another token is issued: %s (%s), %v", v.State, v.Reason, err)
	}
	in.Kubeconfig = secret.NewText(certified(kube))
	if v, err = b.push(meanwhile, in); err != nil || v.State != onboard.StateRegistered {
		t.Errorf("the token that was issued meanwhile: %s (%s), %v", v.State, v.Reason, err)
	}
	// No lease on the management cluster is left, and no secret is to be seen.
	live, _, err := b.store.Leases(t.Context(), broker.LeaseFilter{VIM: b.hub.ID, States: []broker.LeaseState{broker.LeaseActive}})
	if err != nil || len(live) > 0 {
		t.Errorf("%d leases on the management cluster are left, %v", len(live), err)
	}
	key := strings.Split(kube.AdminKey, "\n")[1]
	for name, content := range files(t, b.dir) {
		if strings.Contains(string(content), token) || strings.Contains(string(content), again) || strings.Contains(string(content), key) {
			t.Errorf("%s holds a token or a key", name)
		}
	}
	if log := b.log.String(); strings.Contains(log, token) || strings.Contains(log, key) {
		t.Error("the log holds a token or a key")
	}
	entries, err := b.store.Entries(t.Context(), audit.Query{Limit: 200})
	if err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Principal == "root" && e.Outcome == audit.Done && e.Detail[audit.DetailReason] == "push token issued" && e.Detail["cluster"] == "a/edge"
	}) || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Outcome == audit.Done && e.Detail[audit.DetailReason] == "pushed" && e.Detail["by"] == "push:"+c.ID
	}) || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Outcome == audit.Failed && e.Detail["by"] == "push:"+c.ID && e.Detail[audit.DetailError] == "the cluster is not registered with it"
	}) {
		t.Errorf("the audit log does not say who issued a token and what was pushed: %v", err)
	}
}

// TestAPushIsRefused: what the token is not for, with the reason; nothing is registered.
func TestAPushIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*bench, onboard.Cluster, *onboard.Pushed)
		kind   error
		says   string
	}{
		"another management cluster": {func(_ *bench, _ onboard.Cluster, p *onboard.Pushed) { p.Management = "other" }, broker.ErrDenied, "managementCluster"},
		"another namespace":          {func(_ *bench, _ onboard.Cluster, p *onboard.Pushed) { p.Namespace = "b" }, broker.ErrDenied, "namespace"},
		"another cluster":            {func(_ *bench, _ onboard.Cluster, p *onboard.Pushed) { p.UID = "uid-a-other" }, broker.ErrDenied, "clusterUid"},
		"expired":                    {func(b *bench, _ onboard.Cluster, _ *onboard.Pushed) { b.clock.Add(time.Hour) }, broker.ErrDenied, "expired"},
		"too large": {func(_ *bench, _ onboard.Cluster, p *onboard.Pushed) {
			p.Kubeconfig = secret.NewText(strings.Repeat("#", onboard.MaxKubeconfig+1))
		}, broker.ErrInvalid, "kubeconfig"},
		"empty": {func(_ *bench, _ onboard.Cluster, p *onboard.Pushed) { p.Kubeconfig = secret.Text{} }, broker.ErrInvalid, "kubeconfig"},
		"revoked": {func(b *bench, c onboard.Cluster, _ *onboard.Pushed) {
			if err := b.RevokePushToken(b.t.Context(), root, c.ID); err != nil {
				b.t.Fatal(err)
			}
		}, policy.ErrUnauthenticated, ""},
		"replaced": {func(b *bench, c onboard.Cluster, _ *onboard.Pushed) { b.token(c) }, policy.ErrUnauthenticated, ""},
		"the cluster is gone": {func(b *bench, _ onboard.Cluster, _ *onboard.Pushed) {
			b.source.drop("a", "edge")
		}, broker.ErrConflict, "any more"},
		"the cluster is retired": {func(b *bench, _ onboard.Cluster, _ *onboard.Pushed) {
			b.source.drop("a", "edge")
			b.gone("a", "edge")
		}, broker.ErrConflict, "the cluster is gone"},
		"the cluster is being let go of": {func(b *bench, c onboard.Cluster, _ *onboard.Pushed) {
			e := audit.Entry{Time: b.clock.Now(), Principal: "test", Action: "cluster:follow", Outcome: audit.Done}
			for _, to := range []onboard.State{onboard.StateRegistering, onboard.StateRetiring} {
				if _, err := b.store.UpdateCluster(b.t.Context(), c.ID, func(c *onboard.Cluster) error { c.State, c.VIM = to, b.hub.ID; return nil }, e); err != nil {
					b.t.Fatal(err)
				}
			}
		}, broker.ErrConflict, "the cluster is gone"},
		"the cluster was made again": {func(b *bench, _ onboard.Cluster, _ *onboard.Pushed) {
			b.source.put(onboard.Seen{Namespace: "a", Name: "edge", UID: "another", Ready: true})
		}, broker.ErrConflict, "any more"},
		"the cluster is not selected": {func(b *bench, _ onboard.Cluster, _ *onboard.Pushed) {
			m := b.m
			m.Selector = map[string]string{"onboard": "yes"}
			if _, err := b.Enable(b.t.Context(), root, "hub", m.Settings); err != nil {
				b.t.Fatal(err)
			}
		}, broker.ErrConflict, "labels"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s, row, token := b.pushable("a", "edge")
			in := onboard.Pushed{Management: b.hub.ID, Namespace: "a", UID: s.UID, Kubeconfig: secret.NewText(certified(b.kube("a/edge")))}
			c.change(b, row, &in)
			_, err := b.push(token, in)
			wantKind(t, "the push", err, c.kind)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("it does not say %q: %v", c.says, err)
			}
			if got := b.vims(); len(got) != 0 {
				t.Errorf("%d VIMs are registered", len(got))
			}
		})
	}
}

// TestWhoMayHaveAPushToken: who may enable the management cluster; forged ones are nobody's.
func TestWhoMayHaveAPushToken(t *testing.T) {
	b := newBench(t)
	_, c, token := b.pushable("a", "edge")
	_, _, err := b.IssuePushToken(t.Context(), alice, c.ID, 0)
	if err == nil || errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("a member of the project gets a token: %v", err)
	}
	_, _, err = b.IssuePushToken(t.Context(), bob, c.ID, 0)
	wantKind(t, "a token for a foreign cluster", err, broker.ErrNotFound)
	for _, ttl := range []time.Duration{time.Second, 25 * time.Hour, -time.Hour} {
		_, _, err = b.IssuePushToken(t.Context(), root, c.ID, ttl)
		wantKind(t, "a token for "+ttl.String(), err, broker.ErrInvalid)
	}
	if who, err := b.Pusher(t.Context(), token); err != nil || who.Name != "push:"+c.ID || who.Project != "north" || len(who.Roles) > 0 {
		t.Errorf("the holder of a token is %+v, %v", who, err)
	}
	for _, forged := range []string{"", "vbpush_", token[:len(token)-1] + "x", "x" + token, token + "x", "vbpush_" + c.ID + "_", strings.Replace(token, c.ID, b.hub.ID, 1)} {
		if _, err := b.Pusher(context.Background(), forged); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("a forged token is %v", err)
		}
	}
	b.source.drop("a", "edge")
	b.gone("a", "edge")
	_, _, err = b.IssuePushToken(t.Context(), root, c.ID, 0)
	wantKind(t, "a token for a cluster that is gone", err, broker.ErrConflict)
	_, err = b.Push(t.Context(), root, onboard.Pushed{})
	wantKind(t, "a push without a token", err, broker.ErrDenied)
	// One that is not ready is not registered, and its token is good still.
	s := onboard.Seen{Namespace: "a", Name: "late", UID: "u2"}
	b.source.put(s)
	b.look("a", "late")
	late := b.token(b.row("a", "late"))
	in := onboard.Pushed{Management: "hub", Namespace: "a", UID: "u2", Kubeconfig: secret.NewText(certified(b.kube("a/late")))}
	if v, err := b.push(late, in); err != nil || v.State != onboard.StateWaiting || v.Reason != onboard.ReasonNotReady {
		t.Errorf("a cluster that is not up: %s (%s), %v", v.State, v.Reason, err)
	}
	s.Ready = true
	b.source.put(s)
	if v, err := b.push(late, in); err != nil || v.State != onboard.StateRegistered {
		t.Errorf("the same token once it is up: %s (%s), %v", v.State, v.Reason, err)
	}
}

// TestAPushToAnotherServerIsSeen: whoever watches goes by the row as it is stored, and not by
// the one that it remembers from before the push.
func TestAPushToAnotherServerIsSeen(t *testing.T) {
	b := newBench(t)
	s, _, token := b.pushable("a", "edge")
	in := onboard.Pushed{Management: "hub", Namespace: "a", UID: s.UID, Kubeconfig: secret.NewText(certified(b.kube("a/edge")))}
	v, err := b.push(token, in)
	if err != nil || v.State != onboard.StateRegistered {
		t.Fatalf("it is %s (%s: %s), %v", v.State, v.Reason, v.Message, err)
	}
	before := b.vim(v.VIM)
	// Its secret comes after all, and leads elsewhere.
	b.secret(s, certified(b.kube("elsewhere")))
	if _, err := b.w.Step(t.Context(), "a", "edge"); err != nil {
		t.Fatalf("Step() = %v", err)
	}
	if c := b.want("a", "edge", onboard.StateQuarantined, onboard.ReasonOtherSystem); c.VIM != v.VIM || !c.RegisteredAt.Equal(v.RegisteredAt) {
		t.Errorf("its VIM is %s, registered %s; was %s, %s", c.VIM, c.RegisteredAt, v.VIM, v.RegisteredAt)
	}
	if got := b.vims(); len(got) != 1 || got[0].ID != before.ID || got[0].Current.Number != before.Current.Number {
		t.Errorf("the VIMs are %v", got)
	}
}

// TestAQuarantinedPushStaysSo: whoever watches finds no secret, and neither forgets why the
// kubeconfig that was pushed is not believed nor asks for a secret that is not to come.
func TestAQuarantinedPushStaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		kubeconfig func(*bench) string
		why        onboard.ClusterReason
	}{
		"garbage":                {func(*bench) string { return "\x00{{" }, onboard.ReasonSecretInvalid},
		"the management cluster": {func(b *bench) string { return b.kube("hub").Kubeconfig() }, onboard.ReasonSystemTaken},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s, _, token := b.pushable("a", "edge")
			in := onboard.Pushed{Management: "hub", Namespace: "a", UID: s.UID, Kubeconfig: secret.NewText(c.kubeconfig(b))}
			if v, err := b.push(token, in); err != nil || v.State != onboard.StateQuarantined || v.Reason != c.why || v.VIM != "" {
				t.Fatalf("it is %s (%s: %s), VIM %q, %v", v.State, v.Reason, v.Message, v.VIM, err)
			}
			reads := b.source.reads
			for range 2 {
				b.look("a", "edge")
				b.clock.Add(time.Hour)
			}
			b.want("a", "edge", onboard.StateQuarantined, c.why)
			if b.source.reads != reads {
				t.Errorf("a secret was looked for %d times", b.source.reads-reads)
			}
			in.Kubeconfig = secret.NewText(certified(b.kube("a/edge")))
			if v, err := b.push(b.token(b.row("a", "edge")), in); err != nil || v.State != onboard.StateRegistered {
				t.Errorf("put right: %s (%s), %v", v.State, v.Reason, err)
			}
		})
	}
}
