package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/test/fake"
)

// bound is what a binding gives, and to whom.
func bound(t *testing.T, o metav1.Object) (role *rbacv1.RoleRef, subjects *[]rbacv1.Subject) {
	t.Helper()
	switch b := o.(type) {
	case *rbacv1.ClusterRoleBinding:
		return &b.RoleRef, &b.Subjects
	case *rbacv1.RoleBinding:
		return &b.RoleRef, &b.Subjects
	}
	t.Fatalf("%T is no binding", o)
	return nil, nil
}

// What has a name of ours already is taken only if it is exactly what would be made.
func TestOnlyWhatIsExactlyOursIsAdopted(t *testing.T) {
	stranger := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "mallet"}
	deleted := metav1.NewTime(time.Now())
	bindings := map[string]func(metav1.Object){
		"without our label":          func(o metav1.Object) { o.SetLabels(nil) },
		"of another VIM":             func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "another" },
		"of another grant":           func(o metav1.Object) { o.GetLabels()["vimbroker.io/grant"] = "another" },
		"that is being deleted":      func(o metav1.Object) { o.SetDeletionTimestamp(&deleted) },
		"to another role":            func(o metav1.Object) { r, _ := bound(t, o); r.Name = "cluster-admin" },
		"to a role, not ClusterRole": func(o metav1.Object) { r, _ := bound(t, o); r.Kind = "Role" },
		"with another subject":       func(o metav1.Object) { _, s := bound(t, o); *s = append(*s, stranger) },
		"for another subject":        func(o metav1.Object) { _, s := bound(t, o); *s = []rbacv1.Subject{stranger} },
		"for nobody":                 func(o metav1.Object) { _, s := bound(t, o); *s = nil },
		"for another group":          func(o metav1.Object) { _, s := bound(t, o); (*s)[0].Name = "system:serviceaccounts:default" },
		"for a user of that name":    func(o metav1.Object) { _, s := bound(t, o); (*s)[0].Kind = rbacv1.UserKind },
	}
	for _, c := range []struct {
		plural, namespace string
		granted           []string
	}{{"clusterrolebindings", "", nil}, {"rolebindings", "default", []string{"default"}}} {
		for what, change := range bindings {
			t.Run(c.plural+" "+what, func(t *testing.T) {
				l := newLab(t)
				g := l.grant("edit", c.granted...)
				l.issue(g)
				name := l.home()
				spoil := func(name string) {
					if !l.Update(c.plural, c.namespace, name, change) {
						t.Fatalf("%s %q is not there", c.plural, name)
					}
				}
				fresh := func() (broker.Minted, error) {
					other := kubernetes.New(kubernetes.Options{Now: l.clock.Now, Trial: kubernetes.TrialNever}) // which remembers nothing
					t.Cleanup(other.Close)
					return other.Issue(t.Context(), l.access, l.grant("edit", c.granted...))
				}
				spoil(name)
				for n := 2; n <= 8; n++ {
					if _, err := fresh(); err != nil {
						t.Fatalf("Issue beside %d bindings that were changed: %v", n-1, err)
					}
					spoil(fmt.Sprintf("%s-%d", name, n))
				}
				_, err := fresh()
				want(t, "Issue where all names are taken", err, broker.ErrConflict)
				if err != nil && !strings.Contains(err.Error(), name+"-8") {
					t.Errorf("Issue does not name what is in the way: %v", err)
				}
				if what != "without our label" {
					return
				}
				// They still give a role to our group alone, so they are removed with it.
				if err := l.driver.Tidy(t.Context(), l.access, g); err != nil {
					t.Fatal(err)
				}
				for _, left := range l.Names(c.plural, c.namespace) {
					if strings.Contains(left, "vimbroker-") {
						t.Errorf("left bound: %s", left)
					}
				}
			})
		}
	}
}

// A namespace that has the name of ours and is not is neither used nor deleted.
func TestANamespaceOfOthersIsLeftAlone(t *testing.T) {
	for what, change := range map[string]func(metav1.Object){
		"without labels":   func(o metav1.Object) { o.SetLabels(nil) },
		"of another VIM":   func(o metav1.Object) { o.GetLabels()["vimbroker.io/vim"] = "another" },
		"of another grant": func(o metav1.Object) { o.GetLabels()["vimbroker.io/grant"] = "another" },
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			g := l.grant("view")
			l.issue(g)
			l.Update("namespaces", "", l.home(), change)
			other := kubernetes.New(kubernetes.Options{Now: l.clock.Now})
			t.Cleanup(other.Close)
			_, err := other.Issue(t.Context(), l.access, l.grant("view"))
			want(t, "Issue", err, broker.ErrConflict)
			want(t, "Tidy", other.Tidy(t.Context(), l.access, g), broker.ErrConflict)
			l.home() // is still there
		})
	}
}

// An account that a finalizer holds is on its way out, and its lease with it.
func TestALeaseWhoseAccountIsBeingDeletedIsNotRenewed(t *testing.T) {
	l := newLab(t)
	g := l.grant("view")
	m := l.issue(g)
	l.Update("serviceaccounts", l.home(), g.Handle, func(o metav1.Object) { o.SetFinalizers([]string{"example.com/hold"}) })
	want(t, "Revoke of an account that a finalizer holds", l.driver.Revoke(t.Context(), l.access, issued(g, m)), broker.ErrConflict)
	before := len(l.Tokens())
	_, err := l.driver.Renew(t.Context(), l.access, g)
	want(t, "Renew of a lease whose account is being deleted", err, broker.ErrNotFound)
	if after := len(l.Tokens()); after != before {
		t.Errorf("Renew made %d tokens", after-before)
	}
}

// A 404 means "gone" only where code, reason, kind and name say that it is about
// the object itself, and the API server said it.
func TestA404IsBelievedOnlyAboutTheObjectItself(t *testing.T) {
	const handle = "lease-1"
	exact := func(kind, name string) *metav1.Status {
		return &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Details: &metav1.StatusDetails{Kind: kind, Name: name},
		}
	}
	for name, change := range map[string]func(*metav1.Status){
		"about the object itself": nil,
		"with another reason":     func(s *metav1.Status) { s.Reason = metav1.StatusReasonGone },
		"without a reason":        func(s *metav1.Status) { s.Reason = "" },
		"about another kind":      func(s *metav1.Status) { s.Details.Kind = "namespaces" },
		"about another name":      func(s *metav1.Status) { s.Details.Name = "lease-2" },
		"about nothing":           func(s *metav1.Status) { s.Details = nil },
		"with another code":       func(s *metav1.Status) { s.Code = http.StatusGone },
		"made up from a page": func(s *metav1.Status) {
			s.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			status := exact("serviceaccounts", handle)
			if change != nil {
				change(status)
			}
			_, access := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := status
				if name := path.Base(r.URL.Path); name != handle {
					answer = exact("namespaces", name)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				_ = json.NewEncoder(w).Encode(answer)
			}))
			d := kubernetes.New(kubernetes.Options{})
			t.Cleanup(d.Close)
			err := d.Revoke(t.Context(), access, broker.Issued{Handle: handle, UID: "u", Grant: broker.Grant{Role: "view", Epoch: 1}})
			if gone := err == nil; gone != (change == nil) {
				t.Errorf("Revoke answered 404 %s = %v, taken for gone: %v, want %v", name, err, gone, change == nil)
			}
		})
	}
}

// Dead believes one answer: the API server's own 401. All its neighbours are none.
func TestATokenIsDeadOnlyOnTheAPIServersOwn401(t *testing.T) {
	l := newLab(t)
	m := l.issue(l.grant("view"))
	for _, f := range []fake.Fault{
		{Kind: fake.HTML, Status: 200},
		{Kind: fake.HTML, Status: 400},
		{Kind: fake.HTML, Status: 401},
		{Kind: fake.HTML, Status: 403},
		{Kind: fake.HTML, Status: 404},
		{Kind: fake.HTML, Status: 407},
		{Kind: fake.Refuse, Status: 400},
		{Kind: fake.Refuse, Status: 403},
		{Kind: fake.Refuse, Status: 404},
		{Kind: fake.Refuse, Status: 410},
		{Kind: fake.Refuse, Status: 429},
		{Kind: fake.Refuse, Status: 500},
		{Kind: fake.Redirect},
		{Kind: fake.Drop},
	} {
		l.fail(f)
		dead, err := l.driver.Dead(t.Context(), l.access, m.Credential)
		what := fmt.Sprintf("%s %d", f.Kind, f.Status)
		if dead {
			t.Errorf("a token that lives is dead on the answer %s", what)
		}
		if said403 := f.Kind == fake.Refuse && f.Status == 403; (err == nil) != said403 {
			t.Errorf("Dead answered %s = %v, want an error unless it is the API server's own 403", what, err)
		}
		l.Heal()
	}
	l.fail(fake.Fault{Kind: fake.Refuse, Status: 401})
	if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); !dead || err != nil {
		t.Errorf("Dead on the API server's own 401 = %v, %v, want true", dead, err)
	}
}
