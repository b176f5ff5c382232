package subscription_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/broker/keyring"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/callback"
	"github.com/vimbroker/vimbroker/drivers/keydir"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnflcm"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/quickstore"
	"github.com/vimbroker/vimbroker/test/testlog"
)

var (
	alice = policy.Principal{Name: "alice", Project: "core", Roles: []string{policy.RoleMember}}
	rita  = policy.Principal{Name: "rita", Project: "core", Roles: []string{policy.RoleReader}}
	carol = policy.Principal{Name: "carol", Project: "ran", Roles: []string{policy.RoleMember}}
)

const canary = "canary-5b1f" // in every secret of a subscriber

// office is everything around subscriptions: a real store, key store, policies and HTTP.
type office struct {
	*subscription.Subscriptions
	t     *testing.T
	store *sqlite.Store
	keys  secret.KeyStore
	clock *clock.Clock
	dir   string
	log   *strings.Builder
	ca    string
}

type ledger struct{}

func (ledger) RetireKeys(context.Context) {}

func newOffice(t *testing.T, change ...func(*subscription.Options)) *office {
	t.Helper()
	o := &office{t: t, clock: clock.New(time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)), dir: t.TempDir(), log: new(strings.Builder)}
	log := testlog.To(t, slog.NewTextHandler(o.log, nil))
	store, err := quickstore.Open(t.Context(), sqlite.Options{Path: filepath.Join(o.dir, "vimbroker.db"), Now: o.clock.Now, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	o.store = store
	if o.keys, err = keydir.Open(filepath.Join(o.dir, "keys")); err != nil {
		t.Fatal(err)
	}
	made := catalog.Package{ID: "web-1", Project: "core", State: catalog.Created, CreatedAt: o.clock.Now()}
	if err := store.CreatePackage(t.Context(), made, 0, o.entry()); err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := egress.Parse(true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.ca = filepath.Join(o.dir, "ca.pem")
	server := httptest.NewTLSServer(nil)
	server.Close()
	if err := os.WriteFile(o.ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	reach := callback.New(callback.Options{CAFile: o.ca})
	t.Cleanup(reach.Close)
	options := subscription.Options{
		Store: store, Keys: []secret.KeyStore{o.keys}, Ledger: ledger{}, Endpoint: reach, Render: vnflcm.Notification,
		Guard:  &audit.Guard{Policy: policies, Sink: store, Now: o.clock.Now, Reads: audit.NewReads()},
		Egress: func(string) *egress.Rules { return rules }, Terms: subscription.DefaultTerms(), Log: log, Now: o.clock.Now,
	}
	for _, f := range change {
		f(&options)
	}
	o.Subscriptions = subscription.New(options)
	return o
}

func (o *office) entry() audit.Entry {
	return audit.Entry{Time: o.clock.Now(), Action: policy.PackageCreate, Outcome: audit.Done}
}

// subscriber is a server that takes notifications.
type subscriber struct {
	*httptest.Server
	mu   sync.Mutex
	got  []notification
	seen []http.Header
	// answer is what it answers to a POST; nil answers 204.
	answer http.HandlerFunc
}

type notification struct {
	ID, NotificationType, SubscriptionID, VNFInstanceID, NotificationStatus, OperationState, Operation, VNFLcmOpOccID string
	TimeStamp                                                                                                         time.Time
	Error                                                                                                             *struct{ Detail string }
	VIMBroker                                                                                                         struct{ Number int }
	Links                                                                                                             map[string]struct{ Href string } `json:"_links"`
}

func newSubscriber(t *testing.T, answer http.HandlerFunc) *subscriber {
	s := &subscriber{answer: answer}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, r.Header.Clone())
		if r.Method == http.MethodPost {
			var n notification
			if err := json.Unmarshal(body, &n); err != nil || strings.Contains(string(body), canary) {
				t.Errorf("a notification: %v in %s", err, body)
			}
			s.got = append(s.got, n)
		}
		answer := s.answer
		s.mu.Unlock()
		if r.Method == http.MethodPost && answer != nil {
			answer(w, r)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *subscriber) answers(f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *subscriber) told() []notification {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (o *office) subscribe(s *subscriber, change ...func(*subscription.NewSubscription)) subscription.Subscription {
	o.t.Helper()
	r := subscription.NewSubscription{Callback: s.URL + "/notify", Base: "https://broker.example.org"}
	for _, f := range change {
		f(&r)
	}
	one, made, err := o.Create(o.t.Context(), alice, r)
	if err != nil || !made {
		o.t.Fatalf("Create = %v, made %v", err, made)
	}
	return one
}

// happens makes an instance and lets an operation on it go through states; it is deleted again.
func (o *office) happens(states ...lifecycle.OperationState) (instance, operation string) {
	o.t.Helper()
	ctx := o.t.Context()
	i := lifecycle.Instance{ID: uuid.NewString(), Project: "core", Name: "web", State: lifecycle.NotInstantiated, CreatedAt: o.clock.Now(), Revision: 1}
	i.Shape.Package, i.Shape.Product = "web-1", lifecycle.Product{VNFDID: "d", Provider: "acme", Name: "web", SoftwareVersion: "1", VNFDVersion: "2"}
	op := lifecycle.Operation{
		ID: uuid.NewString(), Instance: i.ID, Project: "core", Type: lifecycle.Instantiate, State: lifecycle.Starting, StartedAt: o.clock.Now(),
		StateEnteredAt: o.clock.Now(), Before: i.Shape, Target: i.Shape, Revision: 1, Params: []byte(`{"x":"` + canary + `"}`),
	}
	err := o.store.CreateInstance(ctx, i, 0, o.entry())
	if err == nil && len(states) > 0 {
		err = o.store.BeginOperation(ctx, op, 1, nil, o.entry())
	}
	for _, s := range states[min(1, len(states)):] {
		if err == nil {
			_, err = o.store.UpdateOperation(ctx, op.ID, func(op *lifecycle.Operation, _ *lifecycle.Instance) error {
				op.State, op.StateEnteredAt = s, o.clock.Now()
				op.Failure = &lifecycle.Failure{Status: 409, Title: "conflict", Detail: "the object is another's"}
				return nil
			}, o.entry())
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return i.ID, op.ID
}

func (o *office) work(id string) error { return o.Work(o.t.Context(), id) }

func states(all []notification) (out []string) {
	for _, n := range all {
		out = append(out, n.NotificationStatus+" "+n.OperationState)
	}
	return out
}

func TestNotificationsComeInTheirOrder(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	one := o.subscribe(s)
	instance, operation := o.happens(lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack, lifecycle.RolledBack)
	if err := o.store.DeleteInstance(t.Context(), instance, o.entry()); err != nil {
		t.Fatal(err)
	}
	if err := o.work(one.ID); err != nil {
		t.Fatal(err)
	}
	got := s.told()
	want := []string{" ", "START STARTING", "START PROCESSING", "RESULT FAILED_TEMP", "START ROLLING_BACK", "RESULT ROLLED_BACK", " "}
	if !slices.Equal(states(got), want) {
		t.Fatalf("told of %q, want %q", states(got), want)
	}
	ids := map[string]bool{}
	for n, g := range got {
		ids[g.ID] = true
		if g.SubscriptionID != one.ID || g.VNFInstanceID != instance || g.TimeStamp.IsZero() ||
			g.Links["vnfInstance"].Href != "https://broker.example.org/vnflcm/v2/vnf_instances/"+instance || g.Links["subscription"].Href != "https://broker.example.org/vnflcm/v2/subscriptions/"+one.ID {
			t.Errorf("notification %d is %+v", n, g)
		}
		if of := n > 0 && n < 6; of != (g.VNFLcmOpOccID == operation) || of != (g.Links["vnfLcmOpOcc"].Href != "") || of && g.VIMBroker.Number != n {
			t.Errorf("notification %d is %+v", n, g)
		}
		if (g.Error != nil) != (g.OperationState == "FAILED_TEMP" || g.OperationState == "ROLLED_BACK") {
			t.Errorf("notification %d has the error %v", n, g.Error)
		}
	}
	if len(ids) != len(got) || got[0].NotificationType != "VnfIdentifierCreationNotification" || got[6].NotificationType != "VnfIdentifierDeletionNotification" {
		t.Errorf("%d ids of %d notifications: %+v", len(ids), len(got), got)
	}
	if err := o.work(one.ID); err != nil || len(s.told()) != len(got) {
		t.Errorf("worked again, with nothing to send: %v, %d told", err, len(s.told()))
	}
	if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.Delivered != 7 || shown.Waiting != 0 || shown.Failures != 0 {
		t.Errorf("Subscription = %+v, %v", shown, err)
	}
}

// TestFilters: each subscriber is told what it asked for.
func TestFilters(t *testing.T) {
	o := newOffice(t)
	for name, c := range map[string]struct {
		f    subscription.Filter
		want int
	}{
		"all":                {subscription.Filter{}, 4},
		"the VNFD":           {subscription.Filter{VNFDs: []string{"c", "d"}}, 4},
		"another VNFD":       {subscription.Filter{VNFDs: []string{"c"}}, 0},
		"the name":           {subscription.Filter{Names: []string{"web"}}, 4},
		"another instance":   {subscription.Filter{Instances: []string{"x"}}, 0},
		"instances made":     {subscription.Filter{Kinds: []lifecycle.EventKind{lifecycle.InstanceCreated}}, 1},
		"operations":         {subscription.Filter{Kinds: []lifecycle.EventKind{lifecycle.OperationMoved}}, 3},
		"another operation":  {subscription.Filter{Types: []lifecycle.OperationType{lifecycle.Heal}}, 1},
		"a state":            {subscription.Filter{Kinds: []lifecycle.EventKind{lifecycle.OperationMoved}, States: []lifecycle.OperationState{lifecycle.Completed}}, 1},
		"the provider":       {subscription.Filter{Providers: []sol003.ProviderFilter{{Provider: "acme"}}}, 4},
		"another provider":   {subscription.Filter{Providers: []sol003.ProviderFilter{{Provider: "other"}}}, 0},
		"another product":    {subscription.Filter{Providers: []sol003.ProviderFilter{{Provider: "acme", Products: []sol003.ProductFilter{{Name: "dns"}}}}}, 0},
		"the version":        {subscription.Filter{Providers: []sol003.ProviderFilter{{Provider: "acme", Products: []sol003.ProductFilter{{Name: "web", Versions: []sol003.VersionFilter{{Software: "1", VNFDs: []string{"2"}}}}}}}}, 4},
		"another descriptor": {subscription.Filter{Providers: []sol003.ProviderFilter{{Provider: "acme", Products: []sol003.ProductFilter{{Name: "web", Versions: []sol003.VersionFilter{{Software: "1", VNFDs: []string{"3"}}}}}}}}, 0},
	} {
		s := newSubscriber(t, nil)
		one := o.subscribe(s, func(r *subscription.NewSubscription) { r.Filter = c.f })
		o.happens(lifecycle.Starting, lifecycle.Processing, lifecycle.Completed)
		if err := o.work(one.ID); err != nil || len(s.told()) != c.want {
			t.Errorf("%s: %v, told %q, want %d", name, err, states(s.told()), c.want)
		}
		if err := o.Delete(t.Context(), alice, one.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRequestsAreRefused that the standard, the rules or the configuration do not allow; none leaves anything.
func TestRequestsAreRefused(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	grim := newSubscriber(t, nil)
	grim.Config.Handler = http.RedirectHandler(s.URL, http.StatusFound)
	page := newSubscriber(t, nil)
	page.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}) // 200
	plain := strings.Replace(s.URL, "https://127.0.0.1", "http://nfvo.example.org", 1)
	for name, c := range map[string]struct {
		change func(*subscription.NewSubscription)
		field  string
	}{
		"no URI":         {func(r *subscription.NewSubscription) { r.Callback = "nonsense" }, "callbackUri"},
		"another scheme": {func(r *subscription.NewSubscription) { r.Callback = "file:///etc/passwd" }, "callbackUri"},
		"a password":     {func(r *subscription.NewSubscription) { r.Callback = "https://u:" + canary + "@nfvo.example.org" }, "callbackUri"},
		"a redirect":     {func(r *subscription.NewSubscription) { r.Callback = grim.URL }, "callbackUri"},
		"a page":         {func(r *subscription.NewSubscription) { r.Callback = page.URL }, "callbackUri"},
		"metadata":       {func(r *subscription.NewSubscription) { r.Callback = "http://169.254.169.254/latest" }, "callbackUri"},
		"a secret without TLS": {func(r *subscription.NewSubscription) {
			r.Callback, r.Auth, r.Credentials = plain, []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary)}
		}, "callbackUri"},
		"a token endpoint without TLS": {func(r *subscription.NewSubscription) {
			r.Auth, r.Credentials = []string{subscription.OAuth2}, subscription.Credentials{ClientID: "c", ClientPassword: secret.NewText(canary), TokenEndpoint: plain}
		}, "authentication.paramsOauth2ClientCredentials.tokenEndpoint"},
		"no password": {func(r *subscription.NewSubscription) {
			r.Auth, r.Credentials.User = []string{subscription.Basic}, "u"
		}, "authentication.paramsBasic"},
		"no certificate": {func(r *subscription.NewSubscription) { r.Auth = []string{subscription.TLS} }, "authentication.authType"},
		"another way":    {func(r *subscription.NewSubscription) { r.Auth = []string{"MAGIC"} }, "authentication.authType"},
		"both": {func(r *subscription.NewSubscription) {
			r.Filter.Names, r.Filter.Instances = []string{"a"}, []string{"b"}
		}, "filter.vnfInstanceSubscriptionFilter"},
		"a type":  {func(r *subscription.NewSubscription) { r.Filter.Kinds = []lifecycle.EventKind{"Other"} }, "filter.notificationTypes"},
		"a state": {func(r *subscription.NewSubscription) { r.Filter.States = []lifecycle.OperationState{"DONE"} }, "filter.operationStates"},
		"states of instances": {func(r *subscription.NewSubscription) {
			r.Filter.Kinds, r.Filter.States = []lifecycle.EventKind{lifecycle.InstanceCreated}, []lifecycle.OperationState{lifecycle.Completed}
		}, "filter.notificationTypes"},
		"a colon": {func(r *subscription.NewSubscription) {
			r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u:v", Password: secret.NewText(canary)}
		}, "authentication.paramsBasic.userName"},
		"a secret of two lines": {func(r *subscription.NewSubscription) {
			r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary + "\n")}
		}, "authentication.paramsBasic.password"},
		"a long secret": {func(r *subscription.NewSubscription) {
			r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "u", Password: secret.NewText(canary + strings.Repeat("x", 4096))}
		}, "authentication.paramsBasic.password"},
		"a password that is not accepted": {func(r *subscription.NewSubscription) {
			r.Credentials = subscription.Credentials{User: "u", Password: secret.NewText(canary)}
		}, "authentication.authType"},
		"a user that is not accepted": {func(r *subscription.NewSubscription) { r.Credentials.User = "u" }, "authentication.authType"},
		"a client that is not accepted": {func(r *subscription.NewSubscription) {
			r.Credentials = subscription.Credentials{ClientID: "u", ClientPassword: secret.NewText(canary), TokenEndpoint: "https://login.example.org"}
		}, "authentication.authType"},
		"a fragment": {func(r *subscription.NewSubscription) { r.Callback += "#here" }, "callbackUri"},
		"a long URI": {func(r *subscription.NewSubscription) { r.Callback += "/" + strings.Repeat("x", 2048) }, "callbackUri"},
		"a product twice": {func(r *subscription.NewSubscription) {
			r.Filter.VNFDs, r.Filter.Providers = []string{"d"}, []sol003.ProviderFilter{{Provider: "acme"}}
		}, "filter.vnfInstanceSubscriptionFilter"},
		"a name of two lines": {func(r *subscription.NewSubscription) { r.Filter.Names = []string{"a\nb"} }, "filter"},
		"a version that rings": {func(r *subscription.NewSubscription) {
			r.Filter.Providers = []sol003.ProviderFilter{{Provider: "a", Products: []sol003.ProductFilter{{Name: "b", Versions: []sol003.VersionFilter{{Software: "1", VNFDs: []string{"2", "\a"}}}}}}}
		}, "filter"},
		"an operation":  {func(r *subscription.NewSubscription) { r.Filter.Types = []lifecycle.OperationType{"DANCE"} }, "filter.operationTypes"},
		"a long filter": {func(r *subscription.NewSubscription) { r.Filter.Names = []string{strings.Repeat("x", 40<<10)} }, "filter"},
	} {
		r := subscription.NewSubscription{Callback: s.URL}
		c.change(&r)
		_, _, err := o.Create(t.Context(), alice, r)
		known, ok := errors.AsType[*broker.Error](err)
		if !ok || known.Field != c.field || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: Create = %v, want a refusal of %s", name, err, c.field)
		}
		if strings.HasSuffix(name, "without TLS") && !strings.Contains(err.Error(), "must begin with https://") {
			t.Errorf("%s: Create = %v, which names another fault", name, err)
		}
	}
	if n := len(s.seen); n != 0 {
		t.Errorf("the subscriber that others name was asked %d times", n)
	}
	if _, _, err := o.Create(t.Context(), rita, subscription.NewSubscription{Callback: s.URL}); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("Create by a reader = %v, want ErrDenied", err)
	}
	if all, _, err := o.store.Subscriptions(t.Context(), subscription.Query{}); err != nil || len(all) != 0 {
		t.Errorf("%d subscriptions are left, %v", len(all), err)
	}
}

// TestForeignIsNotFound: another project neither sees nor ends a subscription, and is told nothing.
func TestForeignIsNotFound(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	one := o.subscribe(s)
	other, made, err := o.Create(t.Context(), carol, subscription.NewSubscription{Callback: s.URL + "/notify", Base: "https://broker.example.org"})
	if err != nil || !made {
		t.Fatalf("the same of another project: %v, made %v", err, made)
	}
	again, made, err := o.Create(t.Context(), carol, subscription.NewSubscription{Callback: s.URL + "/notify", Base: "https://broker.example.org"})
	if err != nil || made || again.ID != other.ID {
		t.Errorf("the same again = %s, made %v, %v, want %s", again.ID, made, err, other.ID)
	}
	if _, err := o.Subscription(t.Context(), carol, one.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Subscription = %v, want ErrNotFound", err)
	}
	if err := o.Delete(t.Context(), carol, one.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Delete = %v, want ErrNotFound", err)
	}
	if err := o.Delete(t.Context(), rita, one.ID); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("Delete by a reader = %v, want ErrDenied", err)
	}
	if all, _, err := o.Subscriptions.Subscriptions(t.Context(), carol, broker.Page{}); err != nil || len(all) != 1 || all[0].ID != other.ID {
		t.Errorf("the other project lists %+v, %v", all, err)
	}
	o.happens()
	if err := o.work(other.ID); err != nil || len(s.told()) != 0 {
		t.Errorf("the other project was told %+v, %v", s.told(), err)
	}
}

// TestADuplicateIsTheOneThatIsThere, also where two come at the same time.
func TestADuplicateIsTheOneThatIsThere(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	var all sync.WaitGroup
	ids, fresh := make([]string, 8), make([]bool, 8)
	for n := range ids {
		all.Go(func() {
			one, made, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL})
			if err != nil && !errors.Is(err, broker.ErrConflict) { // while the first is being made
				t.Error(err)
			}
			ids[n], fresh[n] = one.ID, made
		})
	}
	all.Wait()
	there, again, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: s.URL})
	if err != nil || again {
		t.Errorf("one more: made %v, %v", again, err)
	}
	made := 0
	for n := range ids {
		if fresh[n] {
			made++
		}
		if ids[n] != "" && ids[n] != there.ID {
			t.Errorf("ids %v, want %s", ids, there.ID)
		}
	}
	if made != 1 {
		t.Errorf("%d were made, want 1", made)
	}
	o.subscribe(s, func(r *subscription.NewSubscription) { r.Verbosity = subscription.Short }) // gets others
}

func TestQuota(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Terms.PerProject = 1 })
	o.subscribe(newSubscriber(t, nil))
	more := newSubscriber(t, nil)
	if _, _, err := o.Create(t.Context(), alice, subscription.NewSubscription{Callback: more.URL}); !errors.Is(err, broker.ErrQuota) || len(more.seen) != 0 {
		t.Errorf("Create = %v, want ErrQuota, and the subscriber was asked %d times", err, len(more.seen))
	}
}

// TestSecretsAreSealed: what authenticates the broker is sent to the subscriber, and is nowhere else.
func TestSecretsAreSealed(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	tokens := 0
	login := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, password, _ := r.BasicAuth()
		if r.PostFormValue("grant_type") != "client_credentials" || id != "broker" || password != canary+"-o" {
			t.Errorf("the token endpoint is asked by %s for %s", id, r.PostFormValue("grant_type"))
		}
		tokens++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"%s-token-%d","token_type":"Bearer","expires_in":3600}`, canary, tokens)
	}))
	t.Cleanup(login.Close)
	basic := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Auth, r.Credentials = []string{subscription.Basic}, subscription.Credentials{User: "broker", Password: secret.NewText(canary + "-b")}
	})
	oauth := o.subscribe(s, func(r *subscription.NewSubscription) {
		r.Callback += "/oauth"
		r.Auth = []string{subscription.OAuth2}
		r.Credentials = subscription.Credentials{ClientID: "broker", ClientPassword: secret.NewText(canary + "-o"), TokenEndpoint: login.URL}
	})
	o.happens(lifecycle.Starting)
	for _, one := range []subscription.Subscription{basic, oauth} {
		if err := o.work(one.ID); err != nil {
			t.Fatal(err)
		}
	}
	if tokens != 2 { // one for the test, one for all that was sent
		t.Errorf("the token endpoint was asked %d times, want 2", tokens)
	}
	var withBasic, withToken int
	for _, h := range s.seen {
		switch got := h.Get("Authorization"); {
		case strings.HasPrefix(got, "Basic "):
			withBasic++
		case got == "Bearer "+canary+"-token-1", got == "Bearer "+canary+"-token-2":
			withToken++
		default:
			t.Errorf("Authorization %q", got)
		}
	}
	if withBasic != 3 || withToken != 3 {
		t.Errorf("%d requests with user and password, %d with a token, want 3 and 3", withBasic, withToken)
	}
	// A token that is refused is replaced, once.
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("Authorization"), "-token-2") {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	o.happens()
	if err := o.work(oauth.ID); err != nil || tokens != 3 {
		t.Errorf("with a token that is refused: %v, the token endpoint was asked %d times, want 3", err, tokens)
	}
	for what, text := range map[string]func() (string, error){
		"the log": func() (string, error) { return o.log.String(), nil },
		"an answer": func() (string, error) {
			one, err := o.Subscription(t.Context(), alice, basic.ID)
			return fmt.Sprintf("%+v", one), err
		},
		"the audit log": func() (string, error) {
			all, err := o.store.Entries(t.Context(), audit.Query{Limit: 1000})
			return fmt.Sprintf("%+v", all), err
		},
	} {
		if got, err := text(); err != nil || strings.Contains(got, canary) {
			t.Errorf("%s holds a secret, or %v: %s", what, err, got)
		}
	}
	// The request of an operation is stored; what was sealed is not, in whatever form.
	for _, name := range []string{"vimbroker.db", "vimbroker.db-wal"} {
		if content, err := os.ReadFile(filepath.Join(o.dir, name)); err == nil && (strings.Contains(string(content), canary+"-b") || strings.Contains(string(content), canary+"-o") || strings.Contains(string(content), canary+"-token")) {
			t.Errorf("%s holds a secret", name)
		}
	}
	// A row that leads elsewhere opens nothing.
	if held, err := o.keys.List(t.Context(), basic.ID); err != nil || len(held) != 1 {
		t.Errorf("%d keys of the subscription, %v", len(held), err)
	}
	if err := o.Delete(t.Context(), alice, basic.ID); err != nil {
		t.Fatal(err)
	}
	retired, err := o.store.RetiredKeys(t.Context(), 10)
	if err != nil || len(retired) != 1 || retired[0].Owner.ID != basic.ID {
		t.Errorf("the ledger of retired keys holds %+v, %v", retired, err)
	}
}

// TestHostileSubscribers delay their own notifications and nothing else, and are told again.
func TestHostileSubscribers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"1 GB": func(w http.ResponseWriter, _ *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"closes": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"hangs up with a secret": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, canary)
		},
	} {
		o, s := newOffice(t), newSubscriber(t, answer)
		s.Config.ErrorLog = nil
		one := o.subscribe(s)
		o.happens(lifecycle.Starting, lifecycle.Processing)
		for n := range 2 {
			err := o.work(one.ID)
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: Work = %v", name, err)
			}
			shown, err := o.Subscription(t.Context(), alice, one.ID)
			if err != nil || shown.Failures != int64(n+1) || shown.Waiting != 3 || shown.Fault == "" || strings.Contains(shown.Fault, canary) || !shown.FailingSince.Equal(o.clock.Now()) {
				t.Errorf("%s: Subscription = %+v, %v", name, shown, err)
			}
		}
		s.answers(nil)
		if err := o.work(one.ID); err != nil {
			t.Errorf("%s: once it takes them, Work = %v", name, err)
		}
		got := s.told()
		if len(got) != 5 || got[0].ID != got[1].ID || got[1].ID != got[2].ID || got[3].OperationState != "STARTING" || got[4].OperationState != "PROCESSING" {
			t.Errorf("%s: told %+v", name, got)
		}
		if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.Failures != 0 || shown.Fault != "" || !shown.FailingSince.IsZero() {
			t.Errorf("%s: afterwards %+v, %v", name, shown, err)
		}
	}
}

// TestGivingUp is counted, recorded, and lets what is newer go on.
func TestGivingUp(t *testing.T) {
	o := newOffice(t, func(o *subscription.Options) { o.Terms.Keep = 2 })
	s := newSubscriber(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	one := o.subscribe(s)
	given := func(want int64, waiting int) {
		t.Helper()
		_ = o.work(one.ID)
		if shown, err := o.Subscription(t.Context(), alice, one.ID); err != nil || shown.GivenUp != want || shown.Waiting != waiting {
			t.Errorf("%d given up, %d waiting, %v; want %d and %d", shown.GivenUp, shown.Waiting, err, want, waiting)
		}
	}
	o.happens(lifecycle.Starting, lifecycle.Processing, lifecycle.Completed)
	given(2, 2) // more than are kept
	o.clock.Add(23 * time.Hour)
	o.happens()
	given(3, 2)
	o.clock.Add(2 * time.Hour)
	given(4, 1) // what is older than a day
	if entries, err := o.store.Entries(t.Context(), audit.Query{Limit: 100}); err != nil || !slices.ContainsFunc(entries, func(e audit.Entry) bool {
		return e.Action == policy.SubscriptionNotify && e.Outcome == audit.Failed && e.Detail[audit.DetailCount] == "2" && e.Project == "core"
	}) {
		t.Errorf("the audit log does not say that notifications were given up: %v", err)
	}
	// What it refuses again and again is given up alone, however often it failed before.
	s.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	o.happens()
	for range 4 {
		given(4, 2)
	}
	given(5, 1)
	if v := o.Vitals(t.Context()); v.GivenUp != 5 || v.Sent != 0 || v.Waiting == nil || *v.Waiting != 1 {
		t.Errorf("Vitals = %+v", v)
	}
}

// TestDeletedIsToldNothingMore, though it was being told.
func TestDeletedIsToldNothingMore(t *testing.T) {
	o, s := newOffice(t), newSubscriber(t, nil)
	one := o.subscribe(s)
	o.happens(lifecycle.Starting, lifecycle.Processing, lifecycle.Completed)
	s.answers(func(w http.ResponseWriter, _ *http.Request) {
		if err := o.Delete(t.Context(), alice, one.ID); err != nil && !errors.Is(err, broker.ErrNotFound) {
			t.Error(err)
		}
		w.WriteHeader(http.StatusNoContent)
	})
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Errorf("Work = %v, told %d, want the one that was being sent", err, len(s.told()))
	}
	o.happens()
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Errorf("afterwards Work = %v, told %d", err, len(s.told()))
	}
}

// hanging has subscribers that have failed hang in all places there are for such. It returns another one that has
// failed, for which there is none, and what lets the others go on.
func (o *office) hanging() (last string, release func()) {
	o.t.Helper()
	hang, entered := make(chan struct{}), make(chan struct{}, 64)
	var all []string
	for range 17 {
		s := newSubscriber(o.t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
		one := o.subscribe(s)
		all = append(all, one.ID)
		o.happens()
		if err := o.work(one.ID); err == nil {
			o.t.Fatal("it takes them")
		}
		s.answers(func(http.ResponseWriter, *http.Request) {
			select {
			case entered <- struct{}{}:
			default: // enough have come
			}
			<-hang
		})
	}
	var working sync.WaitGroup
	for _, one := range all[:16] {
		working.Go(func() { _ = o.work(one) })
	}
	for range 16 {
		<-entered
	}
	return all[16], func() {
		close(hang)
		working.Wait()
	}
}

// TestTardySubscribersLeavePlaces: those that fail wait for each other, and never for long; others do not wait for them.
func TestTardySubscribersLeavePlaces(t *testing.T) {
	o := newOffice(t, func(opts *subscription.Options) { opts.Terms.SendTime = time.Hour })
	last, release := o.hanging()
	if err := o.work(last); err == nil || !strings.Contains(err.Error(), "other subscribers") {
		t.Errorf("one more that fails: %v, want that it waits", err)
	}
	s := newSubscriber(t, nil)
	one := o.subscribe(s)
	o.happens()
	if err := o.work(one.ID); err != nil || len(s.told()) != 1 {
		t.Errorf("one that does not fail: %v, told %d", err, len(s.told()))
	}
	release()
}

// TestUnfinishedIsSettled: what a process that died has left is removed, with its key.
func TestUnfinishedIsSettled(t *testing.T) {
	o := newOffice(t)
	left := subscription.Subscription{
		ID: uuid.NewString(), Project: "core", SealedRow: keyring.SealedRow{State: subscription.Making, Sealed: keyring.Sealed{KeyStore: o.keys.Name()}}, Callback: "https://nfvo.example.org", Digest: "x", CreatedBy: "alice", CreatedAt: o.clock.Now(),
		Auth: []string{subscription.Basic},
	}
	if err := o.store.CreateSubscription(t.Context(), left, 0, o.entry()); err != nil {
		t.Fatal(err)
	}
	key, err := secret.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.keys.Put(t.Context(), secret.Owner{ID: left.ID, Generation: 1}, key); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Subscription(t.Context(), alice, left.ID); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("one that is being made: %v, want ErrNotFound", err)
	}
	if err := o.Passes()[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held, err := o.keys.List(t.Context(), left.ID); err != nil || len(held) != 1 {
		t.Errorf("at once %d keys are left, %v", len(held), err)
	}
	o.clock.Add(6 * time.Minute)
	if err := o.Passes()[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	held, err := o.keys.List(t.Context(), left.ID)
	_, gone := o.store.Subscription(t.Context(), left.ID)
	if err != nil || len(held) != 0 || !errors.Is(gone, broker.ErrNotFound) {
		t.Errorf("%d keys are left, %v; the row: %v", len(held), err, gone)
	}
}
