package onboard_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
)

// management is the hub as it is stored.
func (b *bench) management() onboard.Management {
	b.t.Helper()
	m, err := b.store.Management(b.t.Context(), b.hub.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

// TestAManagementClusterThatHangsIsSeen, although its watches are open and say nothing.
func TestAManagementClusterThatHangsIsSeen(t *testing.T) {
	b := newBench(t)
	b.look("a", "none")
	if m := b.management(); !m.WatchedAt.Equal(b.clock.Now()) || m.Trouble != "" {
		t.Fatalf("it was watched at %s, trouble %q", m.WatchedAt, m.Trouble)
	}
	since := b.clock.Now()
	for _, err := range []error{
		context.DeadlineExceeded, &broker.Error{Kind: broker.ErrUnreachable, Detail: "it refuses connections"},
		&broker.Error{Kind: broker.ErrUnsupported, Detail: "Cluster API is not served"},
	} {
		b.source.silent = err
		b.clock.Add(30 * time.Second)
		if err := b.w.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m := b.management(); !m.WatchedAt.Equal(since) || m.Trouble == "" {
			t.Errorf("%v: it is said to be watched at %s, trouble %q", err, m.WatchedAt, m.Trouble)
		}
	}
	c, err := b.Count(t.Context())
	if err != nil || c.Troubled != 1 || len(c.Each) != 1 || c.Each[0].Age != 90*time.Second || c.Each[0].VIM != "hub" {
		t.Errorf("Count() = %+v, %v", c, err)
	}
	b.source.silent = &broker.Error{Kind: broker.ErrUnauthorized}
	if err := b.w.Refresh(t.Context()); !errors.Is(err, broker.ErrUnauthorized) {
		t.Errorf("Refresh() = %v, want that the watch begins anew with another lease", err)
	}
	b.source.silent = nil
	if err := b.w.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := b.management(); !m.WatchedAt.Equal(b.clock.Now()) || m.Trouble != "" {
		t.Errorf("it is well, watched at %s, trouble %q", m.WatchedAt, m.Trouble)
	}
}

// TestANamespaceThatIsMissingStopsNoOther: it is left out of the lease, and told.
func TestANamespaceThatIsMissingStopsNoOther(t *testing.T) {
	b := newBench(t)
	b.cluster("b", "edge")
	b.look("b", "edge")
	edge := b.want("b", "edge", onboard.StateRegistered, "")
	b.kube("hub").PutSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "any"}})
	b.work(func() bool {
		return strings.Contains(b.management().Trouble, "namespace b: ") && !b.management().WatchedAt.Before(b.clock.Now())
	})
	b.want("b", "edge", onboard.StateRegistered, onboard.ReasonNotFollowed)
	leases, _, err := b.Leases(t.Context(), root, broker.LeaseQuery{VIM: b.hub.ID})
	if err != nil || !slices.ContainsFunc(leases, func(l broker.Lease) bool { return slices.Equal(l.Namespaces, []string{"a"}) }) {
		t.Errorf("namespace a is not watched: %v", err)
	}
	if v := b.vim(edge.VIM); v.State != broker.VIMRegistered {
		t.Errorf("the VIM of a cluster in the namespace is %s", v.State)
	}
	// It is made, and looked for.
	b.kube("hub").PutSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "any"}})
	b.work(func() bool { return b.row("b", "edge").Reason == "" })
}

// work has the worker watch the hub until so holds.
func (b *bench) work(so func() bool) {
	b.t.Helper()
	b.source.shows = true
	ctx, stop := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Worker().Work(ctx, b.hub.ID) }()
	defer func() {
		stop()
		<-ended
	}()
	patience := time.After(time.Minute)
	for !so() {
		select {
		case err := <-ended:
			b.t.Fatalf("the watch ended: %v", err)
		case <-patience:
			b.t.Fatalf("it does not come to that: %+v", b.management())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestANamespaceThatTheSettingsNameNoMore: its clusters are not followed, and say so.
func TestANamespaceThatTheSettingsNameNoMore(t *testing.T) {
	b := newBench(t)
	for _, n := range []string{"a", "b"} {
		b.kube("hub").PutSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: n, Name: "any"}})
		b.cluster(n, "edge")
		b.look(n, "edge")
	}
	set := func(m onboard.Settings) onboard.Management {
		t.Helper()
		now, err := b.Enable(t.Context(), root, "hub", m)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	set(onboard.Settings{Namespaces: []string{"a"}})
	b.work(func() bool { return b.row("b", "edge").Reason == onboard.ReasonNotFollowed })
	b.want("b", "edge", onboard.StateRegistered, onboard.ReasonNotFollowed)
	b.want("a", "edge", onboard.StateRegistered, "")
	set(onboard.Settings{Namespaces: []string{"a", "b"}, Projects: b.m.Projects})
	b.work(func() bool { return b.row("b", "edge").Reason == "" })
}

// TestSettingsAreChangedOneByOne: what is not given stays, what is given empty is the default again.
func TestSettingsAreChangedOneByOne(t *testing.T) {
	b := newBench(t)
	first := onboard.Settings{
		Selector: map[string]string{"tier": "edge"}, CopyLabels: []string{"site"}, SecretKey: "conf", MaxGone: 7, Annotation: onboard.AnnotationIn,
	}
	m, err := b.Enable(t.Context(), root, "hub", first)
	if err != nil || m.SecretKey != "conf" || m.MaxGone != 7 || len(m.Namespaces) != 2 || m.Projects["b"] != "south" {
		t.Errorf("Enable() = %+v, %v", m, err)
	}
	m, err = b.Enable(t.Context(), root, "hub", onboard.Settings{Selector: map[string]string{}, Namespaces: []string{"a"}})
	if err != nil || len(m.Selector) != 0 || len(m.CopyLabels) != 1 || m.Annotation != onboard.AnnotationIn || m.Projects["b"] != "" || m.Projects[""] != "north" {
		t.Errorf("Enable() = %+v, %v", m, err)
	}
	// The configuration says all of it.
	all := onboard.Settings{Namespaces: []string{"b"}, Projects: map[string]string{"": "north"}}
	if err := b.EnableConfigured(t.Context(), "default", "hub", all); err != nil {
		t.Fatal(err)
	}
	if m := b.management(); m.SecretKey != "value" || m.MaxGone != 3 || len(m.CopyLabels) != 0 || m.Annotation != onboard.AnnotationOut {
		t.Errorf("as the configuration says: %+v", m)
	}
}

// TestAnotherProjectInTheSettings moves no VIM in silence: the cluster says so, and goes there once its VIM is deleted.
func TestAnotherProjectInTheSettings(t *testing.T) {
	b := newBench(t)
	b.cluster("a", "edge")
	b.look("a", "edge")
	first := b.want("a", "edge", onboard.StateRegistered, "")
	if _, err := b.Enable(t.Context(), root, "hub", onboard.Settings{Projects: map[string]string{"": "south"}}); err != nil {
		t.Fatal(err)
	}
	b.look("a", "edge")
	if c := b.want("a", "edge", onboard.StateRegistered, onboard.ReasonOtherProject); c.Project != "north" || !strings.Contains(c.Message, "south") {
		t.Errorf("it is of %s and says %q", c.Project, c.Message)
	}
	if _, gone, err := b.DeleteVIM(t.Context(), root, first.VIM, broker.Deletion{}); err != nil || !gone {
		t.Fatal(gone, err)
	}
	b.look("a", "edge")
	b.look("a", "edge")
	if c := b.want("a", "edge", onboard.StateRegistered, ""); c.Project != "south" || c.VIM == first.VIM || b.vim(c.VIM).Project != "south" {
		t.Errorf("it is of %s, with the VIM of before: %t", c.Project, c.VIM == first.VIM)
	}
}

// TestTheAnnotationOfAClusterDecides whether it is taken, and followed.
func TestTheAnnotationOfAClusterDecides(t *testing.T) {
	for setting, taken := range map[string][]string{onboard.AnnotationOut: {"", "true"}, onboard.AnnotationIn: {"true"}} {
		b := newBench(t, func(m *onboard.Settings) { m.Annotation = setting })
		for _, word := range []string{"", "true", "false"} {
			name := "c" + word
			s := b.cluster("a", name)
			s.Onboard = word
			b.source.put(s)
			b.look("a", name)
			if want := slices.Contains(taken, word); want != (len(b.rows("a", name)) == 1) {
				t.Errorf("annotation: %s, a cluster with %q is taken: %t", setting, word, !want)
			}
		}
		s := b.source.clusters["a/ctrue"]
		s.Onboard = "false"
		b.source.put(s)
		b.look("a", "ctrue")
		b.want("a", "ctrue", onboard.StateRegistered, onboard.ReasonNotSelected)
	}
}

// Whoever writes a secret learns of its address that no API server of the credential answers, whatever else is there.
func TestASecretDoesNotTellPortsApart(t *testing.T) {
	b := newBench(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("SSH-2.0-x\r\n"))
			c.Close()
		}
	}()
	foreign := httptest.NewTLSServer(http.NotFoundHandler())
	defer foreign.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nothing := closed.Addr().String()
	closed.Close()
	s := b.cluster("a", "edge")
	mine := b.kube("a/edge")
	told := map[string]bool{}
	for _, address := range []string{listener.Addr().String(), foreign.Listener.Addr().String(), nothing} {
		b.secret(s, strings.ReplaceAll(mine.Kubeconfig(), mine.URL, "https://"+address))
		b.look("a", "edge")
		c := b.want("a", "edge", onboard.StateWaiting, onboard.ReasonUnreachable)
		told[c.Message] = true
		b.clock.Add(10 * time.Minute)
	}
	if len(told) != 1 {
		t.Errorf("it tells apart what answers: %v", told)
	}
	b.secret(s, mine.Kubeconfig())
	b.look("a", "edge")
	b.want("a", "edge", onboard.StateRegistered, "")
	b.secret(s, strings.ReplaceAll(mine.Kubeconfig(), mine.URL, "https://"+nothing))
	b.look("a", "edge")
	if c := b.row("a", "edge"); strings.Contains(c.Message, "refused") || !strings.Contains(c.Message, "no API server") {
		t.Errorf("of another address it says %q", c.Message)
	}
}
