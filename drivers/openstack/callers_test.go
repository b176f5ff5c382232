package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/clock"
)

type object = map[string]any

// doorKeystone is as much of a Keystone as validating tokens takes: it logs the
// broker in, and answers for the callers' tokens as the test says.
type doorKeystone struct {
	*httptest.Server
	mu       sync.Mutex
	password string
	callers  map[string]func(http.ResponseWriter)
	service  string // the broker's token
	refuse   int    // the status of every answer, if not 0
	logins   atomic.Int32
	asked    atomic.Int32
	tried    int // logins, also those that refuse is the answer to
}

func newDoorKeystone(t *testing.T) *doorKeystone {
	t.Helper()
	k := &doorKeystone{password: "right", callers: map[string]func(http.ResponseWriter){}}
	k.Server = httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(k.Close)
	return k
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func sayError(w http.ResponseWriter, status int) {
	say(w, status, object{"error": object{"code": status, "title": http.StatusText(status), "message": "canary-in-a-remote-answer"}})
}

func (k *doorKeystone) serve(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.Method == http.MethodPost {
		k.tried++
	}
	switch {
	case k.refuse != 0:
		sayError(w, k.refuse)
	case r.Method == http.MethodPost:
		n := k.logins.Add(1)
		var body struct {
			Auth struct {
				Identity struct {
					Password struct{ User struct{ Password string } }
				}
			}
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.Auth.Identity.Password.User.Password != k.password {
			sayError(w, http.StatusUnauthorized)
			return
		}
		k.service = fmt.Sprint("service-", n)
		w.Header().Set("X-Subject-Token", k.service)
		say(w, http.StatusCreated, object{"token": token("service", "default", "services", time.Now().Add(time.Hour), "service")})
	case r.Header.Get("X-Auth-Token") != k.service:
		sayError(w, http.StatusUnauthorized)
	default:
		k.asked.Add(1)
		if answer := k.callers[r.Header.Get("X-Subject-Token")]; answer != nil {
			answer(w)
			return
		}
		sayError(w, http.StatusNotFound)
	}
}

func (k *doorKeystone) set(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// knows gives a caller's token a meaning.
func (k *doorKeystone) knows(name string, body object) {
	k.set(func() { k.callers[name] = func(w http.ResponseWriter) { say(w, http.StatusOK, object{"token": body}) } })
}

// token is a token's document; without a project it is unscoped.
func token(user, domain, project string, expires time.Time, roles ...string) object {
	t := object{
		"user":       object{"id": user, "name": "name of " + user, "domain": object{"id": domain, "name": domain}},
		"expires_at": expires.UTC().Format("2006-01-02T15:04:05.000000Z"),
	}
	if project != "" {
		var list []object
		for _, r := range roles {
			list = append(list, object{"id": "id-of-" + r, "name": r})
		}
		t["project"] = object{"id": project, "name": "name", "domain": object{"id": domain, "name": domain}}
		t["roles"] = list
	}
	return t
}

// doorOptions reach it; the file holds the password.
func doorOptions(t *testing.T, k *doorKeystone) openstack.CallersOptions {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("right\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return openstack.CallersOptions{
		AuthURL: k.URL + "/v3/", Timeout: time.Second,
		Login: keystone.Auth{Password: &keystone.Password{UserID: "service", ProjectID: "services", PasswordFile: file}},
	}
}

func mustCallers(t *testing.T, o openstack.CallersOptions) *openstack.Callers {
	t.Helper()
	c, err := openstack.NewCallers(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func wantCaller(t *testing.T, c *openstack.Callers, name string, want policy.Principal) {
	t.Helper()
	got, err := c.Authenticate(t.Context(), name)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Authenticate(%q) = %v, differs (-want +got):\n%s", name, err, diff)
	}
}

func wantStranger(t *testing.T, c *openstack.Callers, name string) {
	t.Helper()
	if p, err := c.Authenticate(t.Context(), name); !errors.Is(err, policy.ErrUnauthenticated) || p.Name != "" {
		t.Errorf("Authenticate(%q) = %+v, %v, want ErrUnauthenticated", name, p, err)
	}
}

// wantLater wants that nothing is said of the caller.
func wantLater(t *testing.T, c *openstack.Callers, name string) {
	t.Helper()
	p, err := c.Authenticate(t.Context(), name)
	if err == nil || errors.Is(err, policy.ErrUnauthenticated) || p.Name != "" || strings.Contains(err.Error(), "canary") {
		t.Errorf("Authenticate(%q) = %+v, %v, want that it cannot be told now, in our own words", name, p, err)
	}
}

func TestCallers(t *testing.T) {
	k := newDoorKeystone(t)
	c := mustCallers(t, doorOptions(t, k))
	later := time.Now().Add(time.Hour)
	k.knows("alice", token("a1", "default", "p1", later, "member", "reader", "creator"))
	k.knows("other alice", token("a1", "d2", "p1", later, "member"))
	k.knows("alice-in-d2", token("a1", "d2", "p2", later, "admin"))
	k.knows("guest", token("g1", "default", "p1", later, "creator"))
	wantCaller(t, c, "alice", policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member", "reader"}})
	wantCaller(t, c, "alice-in-d2", policy.Principal{Name: "keystone:a1@d2", Project: "p2", Roles: []string{"project-admin"}})
	wantCaller(t, c, "guest", policy.Principal{Name: "keystone:g1@default", Project: "p1"})
	wantStranger(t, c, "nobody")
	wantStranger(t, c, "")
	wantStranger(t, c, "other alice") // no token holds a space
	if n := k.logins.Load(); n != 1 {
		t.Errorf("the broker logged in %d times, want once", n)
	}
}

func TestCallersOfNoProject(t *testing.T) {
	k := newDoorKeystone(t)
	c := mustCallers(t, doorOptions(t, k))
	later := time.Now().Add(time.Hour)
	ruled := token("a1", "default", "p1", later, "member")
	ruled["application_credential"] = object{"id": "x", "access_rules": []object{{"service": "compute"}}}
	system := token("a1", "default", "", later)
	system["system"] = object{"all": true}
	k.knows("unscoped", token("a1", "default", "", later))
	k.knows("system", system)
	k.knows("ruled", ruled)
	for _, name := range []string{"unscoped", "system", "ruled"} {
		wantStranger(t, c, name)
	}
	free := token("a1", "default", "p1", later, "member")
	free["application_credential"] = object{"id": "x", "restricted": true}
	k.knows("free", free)
	wantCaller(t, c, "free", policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member"}})
}

// A login shows all of a caller's roles, but with a token that holds only a part of them.
func TestALoginIsToldOnce(t *testing.T) {
	k := newDoorKeystone(t)
	var told []string
	o := doorOptions(t, k)
	o.LoggedIn = func(_ context.Context, p policy.Principal) {
		told = append(told, p.Name+" "+strings.Join(p.Roles, ","))
	}
	c := mustCallers(t, o)
	later := time.Now().Add(time.Hour)
	part, trusted := token("a1", "default", "p1", later, "member"), token("a1", "default", "p1", later, "member")
	part["application_credential"] = object{"id": "x", "restricted": true}
	trusted["OS-TRUST:trust"] = object{"id": "x"}
	k.knows("whole", token("a1", "default", "p1", later, "member", "reader"))
	k.knows("part", part)
	k.knows("trusted", trusted)
	for _, name := range []string{"whole", "part", "trusted", "whole"} {
		if _, err := c.Authenticate(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	wantStranger(t, c, "stranger")
	if want := []string{"keystone:a1@default member,reader"}; !slices.Equal(told, want) {
		t.Errorf("told of the logins %q, want %q", told, want)
	}
}

// A login that fails is told once, however often it is tried, and told to be found again once; one that was refused is not
// tried again for half a minute, one that was not answered for a second.
func TestALostLoginIsToldOnce(t *testing.T) {
	for status, pause := range map[int]time.Duration{
		401: 30 * time.Second, 403: 30 * time.Second, 404: 30 * time.Second, 400: time.Second, 409: time.Second, 429: time.Second, 500: time.Second, 503: time.Second,
	} {
		k := newDoorKeystone(t)
		o := doorOptions(t, k)
		now := time.Now()
		var log bytes.Buffer
		o.Now, o.Log = func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil))
		c := mustCallers(t, o)
		k.knows("alice", token("a1", "default", "p1", now.Add(time.Hour), "member"))
		for round := 1; round <= 2; round++ {
			k.set(func() { k.refuse, k.tried, k.service = status, 0, "another" })
			for n := 1; n <= 3; n++ {
				for _, after := range []time.Duration{0, pause - 1} {
					now = now.Add(after)
					wantLater(t, c, fmt.Sprintf("stranger-%d-%d-%d", round, n, after))
				}
				k.set(func() {
					if k.tried != n {
						t.Errorf("an answer of %d is asked for %d times, want %d", status, k.tried, n)
					}
				})
				now = now.Add(1)
			}
			k.set(func() { k.refuse = 0 })
			wantCaller(t, c, "alice", policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member"}})
			for says, want := range map[string]int{"callers cannot be authenticated by Keystone": round, "callers are authenticated by Keystone again": round} {
				if got := strings.Count(log.String(), says); got != want {
					t.Errorf("an answer of %d: told %d times that %s, want %d", status, got, says, want)
				}
			}
			now = now.Add(45 * time.Minute) // our token is replaced then
		}
	}
}

// What no Keystone says makes no principal.
func TestCallersOfAHostileKeystone(t *testing.T) {
	k := newDoorKeystone(t)
	c := mustCallers(t, doorOptions(t, k))
	later := time.Now().Add(time.Hour)
	k.knows("system-pass", token("system:reaper", "default", "p1", later, "admin"))
	k.knows("two-ats", token("a@b", "default", "p1", later, "admin"))
	k.knows("path", token("a1", "default", "../p1", later, "admin"))
	k.knows("all", token("a1", "default", "*", later, "admin"))
	k.knows("domain-path", token("a1", "../default", "p1", later, "admin"))
	k.knows("nobody", token("", "default", "p1", later, "admin"))
	k.knows("no-end", object{"user": object{"id": "a1", "domain": object{"id": "default"}}, "project": object{"id": "p1"}})
	k.set(func() {
		k.callers["page"] = func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>canary</html>")) }
		k.callers["proxy-404"] = func(w http.ResponseWriter) { http.Error(w, "canary", http.StatusNotFound) }
		k.callers["forbidden"] = func(w http.ResponseWriter) { sayError(w, http.StatusForbidden) }
		k.callers["busy"] = func(w http.ResponseWriter) { sayError(w, http.StatusTooManyRequests) }
	})
	for name := range k.callers {
		wantLater(t, c, name)
	}
}

// A validated token is believed for a minute, and not past its expiry.
func TestCallersAreRemembered(t *testing.T) {
	var mu sync.Mutex
	now := time.Now()
	k := newDoorKeystone(t)
	o := doorOptions(t, k)
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
	c := mustCallers(t, o)
	alice := policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member"}}
	k.knows("alice", token("a1", "default", "p1", now.Add(time.Hour), "member"))
	asked := func(want int32) {
		t.Helper()
		if n := k.asked.Load(); n != want {
			t.Errorf("Keystone was asked %d times, want %d", n, want)
		}
	}
	wantCaller(t, c, "alice", alice)
	if p, err := c.Authenticate(t.Context(), "alice"); err == nil {
		p.Roles[0] = "admin" // the caller's own copy
	}
	pass(59 * time.Second)
	wantCaller(t, c, "alice", alice)
	asked(1)
	k.set(func() { delete(k.callers, "alice") }) // revoked
	pass(2 * time.Second)
	wantStranger(t, c, "alice")
	asked(2)
	k.knows("brief", token("a1", "default", "p1", now.Add(20*time.Second), "member"))
	wantCaller(t, c, "brief", alice)
	k.set(func() { delete(k.callers, "brief") })
	pass(21 * time.Second)
	wantStranger(t, c, "brief")
	asked(4)
}

// A token that Keystone does not know is refused for a while without asking again.
func TestStrangersAreRemembered(t *testing.T) {
	k := newDoorKeystone(t)
	now := clock.New(time.Now())
	o := doorOptions(t, k)
	o.Now = now.Now
	c := mustCallers(t, o)
	if !c.Remote("late") || c.Remote("no token") {
		t.Error("Keystone is asked about what cannot be a token, or not about what can be one")
	}
	wantStranger(t, c, "late")
	if c.Remote("late") {
		t.Error("Keystone would be asked again")
	}
	k.knows("late", token("a1", "default", "p1", now.Now().Add(time.Hour), "member"))
	wantStranger(t, c, "late")
	if n := k.asked.Load(); n != 1 {
		t.Errorf("Keystone was asked %d times, want once", n)
	}
	now.Add(6 * time.Second)
	wantCaller(t, c, "late", policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member"}})
	if c.Remote("late") {
		t.Error("Keystone would be asked about a caller that it knows")
	}
}

// However many different tokens come, no more than the bound are remembered.
func TestCallersRememberedAreBounded(t *testing.T) {
	if n := openstack.CacheSizeAfter(10_001); n != 10_000 {
		t.Errorf("the first that is too many leaves %d", n)
	}
	if n := openstack.CacheSizeAfter(10_050); n != 10_000 {
		t.Errorf("%d callers are remembered, want 10000", n)
	}
}

// Keystone away is not a wrong token.
func TestCallersWithoutKeystone(t *testing.T) {
	var skew atomic.Int64
	k := newDoorKeystone(t)
	o := doorOptions(t, k)
	o.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
	c := mustCallers(t, o)
	k.knows("alice", token("a1", "default", "p1", time.Now().Add(time.Hour), "member"))
	k.set(func() { k.refuse = http.StatusServiceUnavailable })
	wantLater(t, c, "alice")
	if _, err := c.Authenticate(t.Context(), "alice"); err == nil || !strings.Contains(err.Error(), "the broker cannot log in") {
		t.Errorf("Authenticate where the broker cannot log in = %v", err)
	}
	k.set(func() { k.refuse = 0 })
	skew.Add(int64(2 * time.Second))
	alice := policy.Principal{Name: "keystone:a1@default", Project: "p1", Roles: []string{"member"}}
	wantCaller(t, c, "alice", alice)

	// The broker's own token is no longer accepted: one login, and nobody notices.
	k.set(func() { k.service = "another" })
	skew.Add(int64(2 * time.Minute))
	before := k.logins.Load()
	wantCaller(t, c, "alice", alice)
	if n := k.logins.Load() - before; n != 1 {
		t.Errorf("the broker logged in %d times, want once", n)
	}

	// It is replaced before it expires.
	skew.Add(int64(50 * time.Minute))
	k.knows("berta", token("b1", "default", "p1", time.Now().Add(3*time.Hour), "member"))
	before = k.logins.Load()
	wantCaller(t, c, "berta", policy.Principal{Name: "keystone:b1@default", Project: "p1", Roles: []string{"member"}})
	if n := k.logins.Load() - before; n != 1 {
		t.Errorf("near the end of its token the broker logged in %d times, want once", n)
	}
	skew.Add(-int64(50 * time.Minute))

	// Nor is a password that the operator has to replace; it is not tried over and over.
	k.set(func() { k.service, k.password = "another", "new" })
	skew.Add(int64(2 * time.Minute))
	before = k.logins.Load()
	for range 3 {
		wantLater(t, c, "alice")
	}
	if n := k.logins.Load() - before; n != 1 {
		t.Errorf("the broker tried a refused password %d times, want once", n)
	}
	if err := os.WriteFile(o.Login.Password.PasswordFile, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCaller(t, c, "alice", alice)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Authenticate(cancelled, "bob"); err == nil || errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("Authenticate with a cancelled context = %v, want that it cannot be told", err)
	}
}

func TestCallersOptionsSayEveryFault(t *testing.T) {
	err := openstack.CallersOptions{
		AuthURL: "http://keystone.example", Timeout: -1, Roles: map[string]string{"cloud": policy.RoleSystem},
		Login: keystone.Auth{Password: &keystone.Password{Username: "u", ProjectID: "p", Project: "p", ProjectDomainID: "d"}},
	}.Validate()
	for _, want := range []string{"address of Keystone", "timeout", `role "cloud"`, "the file of the password", "the user's id", "the project's id"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate() = %v, want that it says %q", err, want)
		}
	}
}
