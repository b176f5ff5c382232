package kubernetes_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

func TestCheckOfLesserCredentials(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		deny []fakekube.Denial
		says string // empty: leases can be minted all the same
	}{
		{nil, ""},
		{[]fakekube.Denial{{Verb: "create", Resource: "namespaces"}}, "may not create namespaces, and sees no namespace vimbroker-"},
		{[]fakekube.Denial{{Verb: "create", Resource: "serviceaccounts/token"}}, "may not create serviceaccounts/token;"},
		{[]fakekube.Denial{{Verb: "create", Resource: "serviceaccounts"}}, "may not create serviceaccounts;"},
		{[]fakekube.Denial{{Verb: "delete", Resource: "serviceaccounts"}}, "may not delete serviceaccounts;"},
		{[]fakekube.Denial{{Verb: "delete"}}, "may not delete namespaces, delete serviceaccounts, delete rolebindings"},
		{[]fakekube.Denial{{Resource: "secrets"}}, ""},
		{[]fakekube.Denial{{Resource: "clusterroles"}}, "may not get clusterroles"},
		{[]fakekube.Denial{{Verb: "bind"}}, "may not bind clusterroles view"},
		{[]fakekube.Denial{{Resource: "clusterrolebindings"}}, ""}, // leases limited to namespaces can be
		{[]fakekube.Denial{{Resource: "clusterrolebindings"}, {Resource: "rolebindings"}}, "may not create rolebindings in namespace default"},
		{[]fakekube.Denial{{Resource: "selfsubjectaccessreviews"}}, "does not say what the credential may do"},
	} {
		l.Deny(c.deny...)
		r, err := l.driver.Check(t.Context(), l.access)
		if err != nil {
			t.Errorf("Check without %v: %v", c.deny, err)
			continue
		}
		if r.CanMint != (c.says == "") || !strings.Contains(r.MintMessage, c.says) || r.CanMint != (r.MintMessage == "") {
			t.Errorf("Check without %v: can mint %v, %q, want %q", c.deny, r.CanMint, r.MintMessage, c.says)
		}
		if r.Identity != l.Identity() {
			t.Errorf("identity %q, want %q", r.Identity, l.Identity())
		}
	}
}

func TestCheckNeedsTheIdentity(t *testing.T) {
	l := newLab(t)
	l.Deny(fakekube.Denial{Verb: "get", Resource: "namespaces"})
	_, err := l.driver.Check(t.Context(), l.access)
	want(t, "Check", err, broker.ErrForbidden)
	if err != nil && !strings.Contains(err.Error(), "grant it get on namespaces") {
		t.Errorf("Check says no remedy: %v", err)
	}
}

// Servers that no longer know names and passwords take everyone who sends them for
// nobody, and answer 403 to that.
func TestCheckOfACredentialThatIsIgnored(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"forbidden": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"selfsubjectreviews.authentication.k8s.io is forbidden: User \"system:anonymous\" cannot create resource","details":{"group":"authentication.k8s.io","kind":"selfsubjectreviews"}}`)
		},
		"answered": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","metadata":{},"status":{"userInfo":{"username":"system:anonymous"}}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, a := serve(t, answer)
			d := kubernetes.New(kubernetes.Options{})
			_, err := d.Check(t.Context(), a)
			want(t, "Check", err, broker.ErrUnauthorized)
			dead, err := d.Dead(t.Context(), a, broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(canary)})
			want(t, "Dead", err, broker.ErrUnreachable)
			if dead {
				t.Error("a token that nobody looked at is called dead")
			}
		})
	}
}

func TestCheckOfAnOldCluster(t *testing.T) {
	_, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"the server could not find the requested resource","details":{}}`)
	}))
	_, err := kubernetes.New(kubernetes.Options{}).Check(t.Context(), a)
	want(t, "Check", err, broker.ErrUnsupported)
}

func TestCheckReadsTheExpiryOfAToken(t *testing.T) {
	l := newLab(t)
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
	}
	for claims, want := range map[string]time.Time{
		`{"exp":1900000000}`:   time.Unix(1900000000, 0).UTC(),
		`{"exp":1900000000.5}`: time.Unix(1900000000, 0).UTC(),
		`{"exp":1e300}`:        {},
		`{"exp":-1}`:           {},
		`{"exp":"soon"}`:       {},
		`{}`:                   {},
		`nonsense`:             {},
	} {
		r, err := l.driver.Check(t.Context(), asAdmin(t, l, jwt(claims)))
		if err != nil {
			t.Fatal(err)
		}
		if !r.CredentialExpiresAt.Equal(want) || r.CredentialExpiresAt.Location() != time.UTC {
			t.Errorf("expiry of %s = %v, want %v", claims, r.CredentialExpiresAt, want)
		}
	}
}

// asAdmin is an access with that token through a gateway that puts the
// administrator's in its place.
func asAdmin(t *testing.T, l *lab, token string) broker.Access {
	t.Helper()
	_, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+l.AdminToken)
		l.ServeHTTP(w, r)
	}))
	a.Credential.Token = secret.NewText(token)
	return a
}

// A remote text is shown to people: what is not printable is not taken over.
func TestCheckBoundsTheVersion(t *testing.T) {
	l := newLab(t)
	_, a := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"gitVersion":"v1\u001b[31m \u0000é%s"}`, strings.Repeat("9", 100))
			return
		}
		r.Header.Set("Authorization", "Bearer "+l.AdminToken)
		l.ServeHTTP(w, r)
	}))
	r, err := l.driver.Check(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if want := "v1[31m" + strings.Repeat("9", 58); r.Version != want {
		t.Errorf("version %q, want %q", r.Version, want)
	}
}

// A credential that may not list all role bindings forgets what its accounts name.
func TestForgetWithoutTheRightToListEverywhere(t *testing.T) {
	l := newLab(t)
	g := l.grant("edit", "default", "kube-public")
	before := l.Names("rolebindings", "")
	l.issue(g)
	if err := l.driver.Revoke(t.Context(), l.access, broker.Issued{Handle: g.Handle, Grant: g}); err != nil {
		t.Fatal(err)
	}
	l.Deny(fakekube.Denial{Verb: "list", Resource: "rolebindings"}, fakekube.Denial{Verb: "list", Resource: "clusterrolebindings"})
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	if after := l.Names("rolebindings", ""); !slices.Equal(before, after) {
		t.Errorf("role bindings after Forget: %q, want %q", after, before)
	}
	// On the whole cluster, where a binding of ours is known by its name.
	again := l.grant("view")
	again.Epoch++
	before = l.Names("clusterrolebindings", "")
	l.issue(again)
	if err := l.driver.Forget(t.Context(), l.access); err != nil {
		t.Fatalf("Forget: %v", err)
	}
	if after := l.Names("clusterrolebindings", ""); !slices.Equal(before, after) {
		t.Errorf("cluster role bindings after Forget: %q, want %q", after, before)
	}
}

// What lost its home by somebody's hand is known by its label.
func TestForgetRemovesWhatIsLabelled(t *testing.T) {
	l := newLab(t)
	left := func() []string {
		var all []string
		for _, resource := range []string{"clusterrolebindings", "rolebindings", "clusterroles", "roles"} {
			all = append(all, l.Names(resource, "")...)
		}
		return all
	}
	before := left()
	for _, namespaces := range [][]string{nil, {"default"}} {
		g := l.grant("view", namespaces...)
		g.Role, g.Rules = "", []broker.Rule{reads("configmaps")}
		l.issue(g)
		l.Delete("namespaces", "", l.home())
	}
	if got := left(); len(got) != len(before)+4 {
		t.Fatalf("there is %q, want a binding and a role of two leases besides %q", got, before)
	}
	if err := l.driver.Forget(t.Context(), l.access); err != nil || !slices.Equal(left(), before) {
		t.Errorf("Forget: %v, leaves %q, want %q", err, left(), before)
	}
}
