package broker_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// kept is everything that callers are shown, but for what issuing answers.
func (b *bench) kept() string {
	b.t.Helper()
	vims, _, err := b.VIMs(b.t.Context(), root, broker.VIMQuery{})
	if err != nil {
		b.t.Fatal(err)
	}
	leases, _, err := b.store.Leases(b.t.Context(), broker.LeaseFilter{Page: broker.Page{Size: 100}})
	if err != nil {
		b.t.Fatal(err)
	}
	entries, err := b.store.Entries(b.t.Context(), audit.Query{Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	var all strings.Builder
	for _, v := range vims {
		fmt.Fprintf(&all, "%+v %+v %+v\n", v, v.Current.Discovered.Cluster, v.Current.Discovered.Cloud)
	}
	fmt.Fprintf(&all, "%+v\n%+v\n%s", leases, entries, b.log.String())
	return all.String()
}

// A cluster that sends the registered token back, as a name for example, is not
// believed, and the token is kept nowhere.
func TestAClusterThatEchoesItsCredential(t *testing.T) {
	b := newBench(t, benchOptions{})
	for path, was := range map[string]string{"/selfsubjectreviews$": "admin", "/version$": "gitVersion\":\"v"} {
		asked := 0
		b.kube.Fail(fake.Fault{Path: path, Times: -1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
			asked++
			return bytes.ReplaceAll(body, []byte(was), []byte(was+b.kube.AdminToken))
		}})
		_, err := b.RegisterVIM(t.Context(), alice, b.registration("edge1"))
		wantKind(t, "registering a cluster that answers "+path+" with the token", err, broker.ErrUnreachable)
		if asked == 0 {
			t.Errorf("%s was not asked", path)
		}
		b.kube.Heal()
	}
	v := b.mustRegister(alice, "edge1")
	b.kube.Fail(fake.Fault{Path: "/version$", Times: -1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte("gitVersion\":\"v"), []byte("gitVersion\":\""+b.kube.AdminToken))
	}})
	if v, err := b.CheckVIM(t.Context(), alice, v.ID); err != nil || v.Health.Status != broker.HealthUnreachable {
		t.Errorf("checking it = %s, %v", v.Health.Status, err)
	}
	if strings.Contains(b.kept(), b.kube.AdminToken[:40]) {
		t.Error("the registered token is kept")
	}
}

// echoing is a driver whose answers hold what the VIM was sent.
type echoing struct {
	*grading
	echo func(*broker.Minted, broker.Access)
}

func (d *echoing) Issue(ctx context.Context, a broker.Access, g broker.Grant) (broker.Minted, error) {
	m, err := d.grading.Issue(ctx, a, g)
	d.echo(&m, a)
	return m, err
}

func TestALeaseThatEchoesACredential(t *testing.T) {
	for name, echo := range map[string]func(*broker.Minted, broker.Access){
		"the registered one in its id":     func(m *broker.Minted, a broker.Access) { m.CredentialID = "JTI=" + a.Credential.Token.Reveal() },
		"its own in its id":                func(m *broker.Minted, _ broker.Access) { m.CredentialID = m.Credential.Token.Reveal()[:64] },
		"its own in what was not compared": func(m *broker.Minted, _ broker.Access) { m.Unseen = "no: " + m.Credential.Token.Reveal() },
	} {
		t.Run(name, func(t *testing.T) {
			b, g := newGradingBench(t)
			b.options.Drivers = []broker.Driver{&echoing{g, echo}}
			b.Broker = mustNew(t, b.options)
			_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
			wantKind(t, "IssueLease", err, broker.ErrUnreachable)
			for _, token := range []string{b.kube.AdminToken, g.minted.Credential.Token.Reveal()} {
				if strings.Contains(b.kept(), token[:48]) {
					t.Error("a token is kept")
				}
			}
			if n := b.upstream(); n != 0 {
				t.Errorf("%d objects are left upstream", n)
			}
		})
	}
}

// A credential that is empty, or has expired by the broker's clock, is none: nobody is handed it as a lease, and what stands
// upstream goes.
func TestALeaseWithoutACredentialIsNone(t *testing.T) {
	for name, spoil := range map[string]func(*broker.Minted, broker.Access){
		"empty":     func(m *broker.Minted, _ broker.Access) { m.Credential = broker.Credential{} },
		"expired":   func(m *broker.Minted, _ broker.Access) { m.ExpiresAt = m.ExpiresAt.AddDate(-1, 0, 0) },
		"no expiry": func(m *broker.Minted, _ broker.Access) { m.ExpiresAt = time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			b, g := newGradingBench(t)
			b.options.Drivers = []broker.Driver{&echoing{g, spoil}}
			b.Broker = mustNew(t, b.options)
			_, config, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
			wantKind(t, "IssueLease", err, broker.ErrUnreachable)
			if err == nil || !strings.Contains(err.Error(), "empty or has expired") || !config.Token.Empty() {
				t.Errorf("IssueLease = %v, with a token %t", err, !config.Token.Empty())
			}
			if n := b.upstream(); n != 0 {
				t.Errorf("%d objects are left upstream", n)
			}
		})
	}
}

func TestAGradeThatEchoesTheCredential(t *testing.T) {
	b, g := newGradingBench(t)
	g.grade = func(r broker.Grant) (broker.Graded, error) {
		return broker.Graded{Grant: r, Grade: broker.GradeNamespaces, Reasons: []string{"role " + b.kube.AdminToken[:64] + " can"}}, nil
	}
	_, _, err := b.IssueLease(t.Context(), alice, broker.LeaseRequest{VIM: "edge1"})
	wantKind(t, "IssueLease", err, broker.ErrUnreachable)
	if strings.Contains(b.kept(), b.kube.AdminToken[:48]) {
		t.Error("the registered token is kept")
	}
}

// What the holder of a lease made is listed by the cloud: its secrets are not read, and
// a cloud that sends the registered password back is not repeated.
func TestWhatIsLeftBehindHoldsNoSecret(t *testing.T) {
	b := newCloudBench(t, benchOptions{})
	l, token := b.heat(0)
	b.cloud.Plant(fakekeystone.Planted{UserID: b.user.ID, Type: "ec2", ID: b.user.Password})
	if _, err := b.RevokeLease(t.Context(), root, l.ID); err != nil {
		t.Fatal(err)
	}
	row := b.row(l.ID)
	if len(row.LeftBehind) != 1 {
		t.Errorf("left behind is %q, want one sentence", row.LeftBehind)
	}
	for what, s := range map[string]string{"the password": b.user.Password, "the token": token, "a blob": fake.Canary} {
		if strings.Contains(b.kept(), s) {
			t.Errorf("%s is kept", what)
		}
	}
}

// Whatever a cluster calls its user, what is kept of that is short and can be printed.
func TestTheNameOfAUserIsPrintable(t *testing.T) {
	b := newBench(t, benchOptions{})
	b.kube.Fail(fake.Fault{Path: "/selfsubjectreviews$", Times: -1, Kind: fake.Edit, Edit: func(_ http.Header, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`"username":"`), []byte(`"username":"\u001b[2J\u202e\n`+strings.Repeat("x", 5000)))
	}})
	v := b.mustRegister(alice, "edge1")
	user := v.Current.Discovered.User
	if len(user) != 256 || strings.ContainsFunc(user, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
		t.Errorf("the cluster's user is %q", user)
	}
}
