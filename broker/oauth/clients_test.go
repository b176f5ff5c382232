package oauth_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	root   = policy.Principal{Name: "root", Project: "ops", Roles: []string{"admin"}}
	keeper = policy.Principal{Name: "kim", Project: "core", Roles: []string{"project-admin"}}
	member = policy.Principal{Name: "alice", Project: "core", Roles: []string{"member"}}
	mallet = policy.Principal{Name: "mallet", Project: "ran", Roles: []string{"project-admin"}}
)

// leases notes whose leases are revoked, and by whom.
type leases struct {
	revoked []string
	fail    error
	// weigh answers WeighLease; nil weighs every lease as bounded.
	weigh func(p policy.Principal, r broker.LeaseRequest) (broker.Lease, error)
	// revoking is called once, before leases are revoked.
	revoking func()
}

func (l *leases) WeighLease(_ context.Context, p policy.Principal, r broker.LeaseRequest) (broker.Lease, error) {
	if l.weigh == nil {
		return broker.Lease{Grade: broker.GradeBounded}, nil
	}
	return l.weigh(p, r)
}

func (l *leases) RevokeLeases(_ context.Context, p policy.Principal, s broker.LeaseSelector) ([]broker.Lease, error) {
	if then := l.revoking; then != nil {
		l.revoking = nil
		then()
	}
	if l.fail != nil {
		return nil, l.fail
	}
	l.revoked = append(l.revoked, p.Name+" in "+p.Project+": "+s.Principal)
	return nil, nil
}

// scene is a server's clients, with time, leases and log in the test's hands.
type scene struct {
	*oauth.Clients
	store  *sqlite.Store
	leases *leases
	clock  *clock.Clock
	log    *bytes.Buffer
	path   string
	roots  *x509.CertPool
	// secrets are those that were made: they stand nowhere.
	secrets []string
}

func set(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		leases: &leases{}, log: &bytes.Buffer{}, path: filepath.Join(t.TempDir(), "broker.db"),
		clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)),
	}
	var err error
	if s.store, err = quickstore.Open(t.Context(), sqlite.Options{Path: s.path}); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Clients = oauth.New(oauth.Options{
		Store: s.store, Leases: s.leases, Guard: &audit.Guard{Policy: policies, Sink: s.store, Now: s.clock.Now},
		Log: testlog.To(t, slog.NewTextHandler(s.log, nil)), PerProject: 3, Now: s.clock.Now,
		Authorities: func() *x509.CertPool { return s.roots },
	})
	t.Cleanup(func() { s.quiet(t) })
	return s
}

// quiet checks that no secret stands in the log, the audit log or the database.
func (s *scene) quiet(t *testing.T) {
	t.Helper()
	entries, err := s.store.Entries(context.Background(), audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	places := map[string]string{"log": s.log.String(), "audit log": fmt.Sprintf("%+v", entries)}
	for _, file := range []string{s.path, s.path + "-wal"} {
		if text, err := os.ReadFile(file); err == nil {
			places[filepath.Base(file)] = string(text)
		}
	}
	for place, text := range places {
		for _, plain := range s.secrets {
			if strings.Contains(text, plain) {
				t.Errorf("a secret stands in the %s", place)
			}
		}
	}
}

// create registers a client as p would.
func (s *scene) create(t *testing.T, p policy.Principal, name string, roles ...string) (oauth.Client, string) {
	t.Helper()
	c, plain, err := s.Create(t.Context(), p, oauth.NewClient{Name: name, Roles: roles})
	if err != nil {
		t.Fatalf("Create(%s) = %v", name, err)
	}
	return c, s.known(plain)
}

func (s *scene) known(plain secret.Text) string {
	s.secrets = append(s.secrets, plain.Reveal())
	return plain.Reveal()
}

// wantIn checks who a secret lets in.
func (s *scene) wantIn(t *testing.T, what string, want bool, id, plain string) {
	t.Helper()
	c, err := s.Authenticate(t.Context(), id, plain)
	if want && (err != nil || c.ID != id) {
		t.Errorf("%s: refused: %v", what, err)
	}
	if !want && !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("%s: let in as %q, %v", what, c.Name, err)
	}
}

func TestAClientLogsInWithItsSecretAlone(t *testing.T) {
	s := set(t)
	c, plain := s.create(t, keeper, "tacker", "vnfm")
	other, otherPlain := s.create(t, keeper, "onap", "vnfm")
	if want := (policy.Principal{Name: "client:" + c.ID, Project: "core", Roles: []string{"vnfm"}}); c.Principal().Name != want.Name ||
		c.Principal().Project != want.Project || !slices.Equal(c.Principal().Roles, want.Roles) || c.Principal().Authenticator() != policy.ByClient {
		t.Errorf("the client acts as %+v, want %+v", c.Principal(), want)
	}
	s.wantIn(t, "its secret", true, c.ID, plain)
	s.wantIn(t, "another's secret", false, c.ID, otherPlain)
	s.wantIn(t, "another's id", false, other.ID, plain)
	s.wantIn(t, "nobody's id", false, uuid.NewString(), plain)
	for _, id := range []string{"", "tacker", "../" + c.ID, c.ID + " ", "client:" + c.ID} {
		s.wantIn(t, "the id "+id, false, id, plain)
	}
	for _, wrong := range []string{"", "vbc_", plain[:len(plain)-1], plain + "x", strings.TrimPrefix(plain, "vbc_"), c.SHA256, "vbc_" + c.SHA256} {
		s.wantIn(t, "the secret "+wrong, false, c.ID, wrong)
	}
	if p, err := s.Lookup(t.Context(), "client:"+c.ID, "core"); err != nil || p.Name != "client:"+c.ID {
		t.Errorf("Lookup = %+v, %v", p, err)
	}
	for _, who := range [][2]string{{"client:" + c.ID, "ran"}, {c.ID, "core"}, {"client:", "core"}, {"client:" + uuid.NewString(), "core"}} {
		if p, err := s.Lookup(t.Context(), who[0], who[1]); !errors.Is(err, policy.ErrUnauthenticated) {
			t.Errorf("Lookup(%v) = %+v, %v", who, p, err)
		}
	}
}

func TestASecretBeforeIsTakenForAWhile(t *testing.T) {
	s := set(t)
	c, first := s.create(t, keeper, "tacker", "vnfm")
	rotate := func(r oauth.Rotation) (oauth.Client, string) {
		t.Helper()
		rotated, plain, err := s.Rotate(t.Context(), keeper, c.ID, r)
		if err != nil {
			t.Fatalf("Rotate(%+v) = %v", r, err)
		}
		return rotated, s.known(plain)
	}
	hour := time.Hour
	after, second := rotate(oauth.Rotation{Overlap: &hour})
	if !after.PreviousUntil.Equal(s.clock.Now().Add(hour)) {
		t.Errorf("the secret before is taken until %v", after.PreviousUntil)
	}
	s.clock.Add(hour - time.Second)
	s.wantIn(t, "the first within the overlap", true, c.ID, first)
	s.wantIn(t, "the second", true, c.ID, second)
	s.clock.Add(time.Second)
	s.wantIn(t, "the first after the overlap", false, c.ID, first)
	s.wantIn(t, "the second after the overlap", true, c.ID, second)

	_, third := rotate(oauth.Rotation{})
	_, fourth := rotate(oauth.Rotation{})
	s.wantIn(t, "the one in use, of two quick rotations", true, c.ID, second)
	s.wantIn(t, "the third, which nobody has used", false, c.ID, third)
	s.wantIn(t, "the fourth", true, c.ID, fourth)
	s.clock.Add(oauth.DefaultOverlap)
	s.wantIn(t, "the second a day later", false, c.ID, second)

	zero := time.Duration(0)
	_, fifth := rotate(oauth.Rotation{Overlap: &zero})
	s.wantIn(t, "one that is replaced without an overlap", false, c.ID, fourth)
	if len(s.leases.revoked) != 0 {
		t.Errorf("leases were revoked: %v", s.leases.revoked)
	}
	after, sixth := rotate(oauth.Rotation{RevokeLeases: true})
	s.wantIn(t, "one that leaked", false, c.ID, fifth)
	s.wantIn(t, "the one after it", true, c.ID, sixth)
	if want := []string{"system:clients in core: client:" + c.ID}; !slices.Equal(s.leases.revoked, want) || after.Ending {
		t.Errorf("revoked %v (ending: %v), want %v", s.leases.revoked, after.Ending, want)
	}

	long, minus := oauth.MaxOverlap+time.Second, -time.Second
	for _, r := range []oauth.Rotation{{Overlap: &long}, {Overlap: &minus}, {Overlap: &hour, RevokeLeases: true}} {
		if _, _, err := s.Rotate(t.Context(), keeper, c.ID, r); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Rotate(%+v) = %v, want ErrInvalid", r, err)
		}
	}
	s.wantIn(t, "the present one after refused rotations", true, c.ID, sixth)
}

// A rotation whose answer was lost is repeated, as often as it takes: the secret in use stays taken, and no other.
func TestARepeatedRotationLeavesTheSecretInUse(t *testing.T) {
	s := set(t)
	c, mine := s.create(t, keeper, "tacker", "vnfm")
	rotate := func() string {
		t.Helper()
		_, plain, err := s.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{})
		if err != nil {
			t.Fatal(err)
		}
		return s.known(plain)
	}
	for range 2 {
		lost, again, last := rotate(), rotate(), rotate()
		s.wantIn(t, "the one in use", true, c.ID, mine)
		s.wantIn(t, "the lost one", false, c.ID, lost)
		s.wantIn(t, "the one lost then", false, c.ID, again)
		revision := s.revision(t, c.ID)
		for range 3 {
			s.wantIn(t, "the last one", true, c.ID, last)
		}
		if now := s.revision(t, c.ID); now != revision+1 {
			t.Errorf("its use was noted %d times", now-revision)
		}
		s.wantIn(t, "the one before, while it changes over", true, c.ID, mine)
		next := rotate()
		s.wantIn(t, "the one that is used by now", true, c.ID, last)
		s.wantIn(t, "the one from before it", false, c.ID, mine)
		mine = next
		s.wantIn(t, "the newest", true, c.ID, mine)
	}
	// Only what was in use within its overlap goes on.
	lost := rotate()
	s.clock.Add(oauth.DefaultOverlap)
	rotate()
	s.wantIn(t, "one whose time was over", false, c.ID, mine)
	s.wantIn(t, "the one that took over then", true, c.ID, lost)
}

func (s *scene) revision(t *testing.T, id string) int64 {
	t.Helper()
	c, err := s.store.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c.Revision
}

// What a VIM or the store keeps from ending at once, the pass ends.
func TestLeasesOfAClientEndWithIt(t *testing.T) {
	s := set(t)
	c, _ := s.create(t, keeper, "tacker", "vnfm")
	s.leases.fail = errors.New("the store is gone")
	rotated, next, err := s.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{RevokeLeases: true})
	if err != nil || !rotated.Ending {
		t.Fatalf("Rotate = %+v, %v: the new secret is the caller's, and the leases are the pass's", rotated, err)
	}
	plain := s.known(next)
	if err := s.Settle(t.Context()); err == nil {
		t.Error("Settle says nothing of what it could not do")
	}
	s.leases.fail = nil
	if err := s.Settle(t.Context()); err != nil || len(s.leases.revoked) != 1 {
		t.Errorf("Settle = %v, revoked %v", err, s.leases.revoked)
	}
	if err := s.Settle(t.Context()); err != nil || len(s.leases.revoked) != 1 {
		t.Errorf("a second Settle = %v, revoked %v: once is enough", err, s.leases.revoked)
	}

	s.leases.fail = errors.New("the store is gone")
	if err := s.Delete(t.Context(), keeper, c.ID); err == nil {
		t.Error("Delete says that a client is gone whose leases live")
	}
	s.wantIn(t, "one that is being deleted", false, c.ID, plain)
	if _, _, err := s.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{}); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Rotate of one that is being deleted = %v, want ErrNotFound", err)
	}
	if shown, err := s.Client(t.Context(), keeper, c.ID); err != nil || shown.State != oauth.Deleting {
		t.Errorf("it is shown as %q, %v", shown.State, err)
	}
	s.leases.fail = nil
	if err := s.Settle(t.Context()); err != nil || len(s.leases.revoked) != 2 {
		t.Errorf("Settle = %v, revoked %v", err, s.leases.revoked)
	}
	if _, err := s.Client(t.Context(), keeper, c.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a deleted client: %v, want ErrNotFound", err)
	}
	again, _ := s.create(t, keeper, "tacker", "vnfm")
	if again.ID == c.ID {
		t.Error("another client has the id of one that was deleted")
	}
}

// A client that is deleted while its rotation revokes leases stays one whose leases are ending: the pass removes it.
func TestADeletionDuringARotationIsFinished(t *testing.T) {
	s := set(t)
	c, _ := s.create(t, keeper, "tacker", "vnfm")
	s.leases.revoking = func() {
		s.leases.fail = errors.New("the store is gone")
		if err := s.Delete(t.Context(), keeper, c.ID); err == nil {
			t.Error("Delete says that a client is gone whose leases live")
		}
		s.leases.fail = nil
	}
	_, next, err := s.Rotate(t.Context(), keeper, c.ID, oauth.Rotation{RevokeLeases: true})
	if err != nil {
		t.Fatal(err)
	}
	s.known(next)
	if log := s.log.String(); strings.Contains(log, "left for the next pass") {
		t.Errorf("the rotation would take the deletion back: %s", log)
	}
	if now, err := s.Client(t.Context(), keeper, c.ID); err != nil || now.State != oauth.Deleting || !now.Ending {
		t.Errorf("it is %+v, %v, want one that is being deleted and whose leases are ending", now, err)
	}
	if err := s.Settle(t.Context()); err != nil || len(s.leases.revoked) != 2 {
		t.Errorf("Settle = %v, revoked %v", err, s.leases.revoked)
	}
	if _, err := s.Client(t.Context(), keeper, c.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("a deleted client: %v, want ErrNotFound", err)
	}
}

func TestWhoMayKeepClients(t *testing.T) {
	s := set(t)
	c, _ := s.create(t, keeper, "tacker", "vnfm")
	for what, ask := range map[string]func(policy.Principal, string) error{
		"show":   func(p policy.Principal, id string) error { _, err := s.Client(t.Context(), p, id); return err },
		"delete": func(p policy.Principal, id string) error { return s.Delete(t.Context(), p, id) },
		"rotate": func(p policy.Principal, id string) error {
			_, _, err := s.Rotate(t.Context(), p, id, oauth.Rotation{})
			return err
		},
	} {
		for _, p := range []policy.Principal{mallet, member, c.Principal()} {
			foreign, missing := ask(p, c.ID), ask(p, uuid.NewString())
			if !errors.Is(foreign, broker.ErrNotFound) || foreign.Error() != missing.Error() {
				t.Errorf("%s by %s = %v, and of one that does not exist: %v", what, p.Name, foreign, missing)
			}
		}
	}
	for _, p := range []policy.Principal{member, c.Principal()} {
		if _, _, err := s.Create(t.Context(), p, oauth.NewClient{Name: "x", Roles: []string{"vnfm"}}); !errors.Is(err, broker.ErrDenied) {
			t.Errorf("Create by %s = %v, want ErrDenied", p.Name, err)
		}
		if found, _, err := s.Clients.Clients(t.Context(), p, oauth.Query{}); err == nil && len(found) > 0 {
			t.Errorf("%s lists %v", p.Name, found)
		}
	}
	if found, _, err := s.Clients.Clients(t.Context(), mallet, oauth.Query{}); err != nil || len(found) != 0 {
		t.Errorf("another project's administrator lists %v, %v", found, err)
	}
	if found, _, err := s.Clients.Clients(t.Context(), root, oauth.Query{}); err != nil || len(found) != 1 {
		t.Errorf("an administrator lists %v, %v", found, err)
	}

	// Nobody gives a client more than he has.
	for _, r := range []oauth.NewClient{
		{Name: "a", Roles: []string{"admin"}}, {Name: "b", Roles: []string{"vnfm", "operator"}}, {Name: "c", Project: "ran", Roles: []string{"vnfm"}},
	} {
		if _, _, err := s.Create(t.Context(), keeper, r); !errors.Is(err, broker.ErrDenied) {
			t.Errorf("Create(%+v) by a project's administrator = %v, want ErrDenied", r, err)
		}
	}
	strong, plain, err := s.Create(t.Context(), root, oauth.NewClient{Name: "strong", Project: "core", Roles: []string{"admin"}})
	if err != nil {
		t.Fatal(err)
	}
	s.known(plain)
	if _, _, err := s.Rotate(t.Context(), keeper, strong.ID, oauth.Rotation{}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a project's administrator takes the secret of an administrator: %v", err)
	}
}

func TestClientsAreRefusedByField(t *testing.T) {
	s := set(t)
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprint("role-", i)
	}
	for field, r := range map[string]oauth.NewClient{
		"name":    {Name: "a:b", Roles: []string{"vnfm"}},
		"project": {Name: "a", Project: "a b", Roles: []string{"vnfm"}},
		"roles":   {Name: "a", Roles: many},
	} {
		_, _, err := s.Create(t.Context(), root, r)
		if known := (*broker.Error)(nil); !errors.As(err, &known) || !errors.Is(err, broker.ErrInvalid) || known.Field != field {
			t.Errorf("Create(%+v) = %v, want ErrInvalid about %s", r, err, field)
		}
	}
	for _, roles := range [][]string{nil, {"system"}, {""}, {"a b"}} {
		if _, _, err := s.Create(t.Context(), root, oauth.NewClient{Name: "a", Roles: roles}); !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("Create with the roles %q = %v, want ErrInvalid", roles, err)
		}
	}
	for i := range 3 {
		s.create(t, keeper, fmt.Sprint("c", i), "vnfm")
	}
	if _, _, err := s.Create(t.Context(), keeper, oauth.NewClient{Name: "fourth", Roles: []string{"vnfm"}}); !errors.Is(err, broker.ErrQuota) {
		t.Errorf("Create beyond the quota = %v, want ErrQuota", err)
	}
}
