// Package rbac writes the manifest that an administrator applies to a Kubernetes cluster
// before its credential is registered: the rights that the broker needs there, and no
// others.
package rbac

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// Profile is the purpose of the registered credential.
type Profile string

const (
	// Leases: the broker hands out roles of the cluster, and exact rules that the credential holds
	// itself.
	Leases Profile = "leases"
	// Engine: it also hands out rules that the credential does not hold (the verbs
	// escalate and bind), as life-cycle operations need for whatever a package contains.
	Engine Profile = "engine"
)

// The account that a manifest makes if no subject is given, and that account's namespace.
const (
	Account   = "vimbroker"
	Namespace = "vimbroker-system"
)

const (
	// MaxPool bounds how many namespaces a pool has.
	MaxPool = 64
	// maxNamespaces bounds in how many namespaces a prepared credential hands out leases.
	maxNamespaces = 256

	accountPrefix = "system:serviceaccount:"
)

// Roles are the default ClusterRoles that leases may have.
func Roles() []string { return []string{"view", "edit", "admin"} }

// Options are the options of a manifest.
type Options struct {
	Profile Profile
	// VIM is the VIM's id; empty for one that is not registered yet, in managed mode.
	VIM string
	// User is who the cluster takes the credential for, such as
	// system:serviceaccount:NAMESPACE:NAME; empty for an account that the manifest makes.
	User string
	// Name is that of the ClusterRole and its binding, and begins those of the engine's;
	// empty for one that is made of VIM.
	Name string
	// Roles are the ClusterRoles that leases may have.
	Roles []string
	// Pool is the number of grants that can have leases at a time in prepared mode: it
	// counts the namespaces of the broker's own. 0 means managed mode, in which the
	// broker makes such namespaces itself.
	Pool int
	// Namespaces are those that leases are limited to in prepared mode.
	Namespaces []string
}

// PoolName is the n-th namespace of a VIM's pool, from 1. Brokers that come after this one
// rely upon it: never change it.
func PoolName(vim string, n int) string {
	return "vimbroker-" + vim[:min(len(vim), 8)] + "-" + strconv.Itoa(n)
}

//go:embed rbac.yaml.tmpl
var text string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("rbac").Funcs(template.FuncMap{"quote": quote, "list": list}).Parse(text))
})

// Manifest returns YAML documents for kubectl apply. Its errors name the option that is
// at fault, as a person gives it.
func Manifest(o Options) (string, error) {
	if err := check(o); err != nil {
		return "", err
	}
	v := view{Options: o, Binding: "vimbroker-broker", Engine: o.Profile == Engine}
	if o.VIM != "" {
		v.Binding += "-" + o.VIM[:8]
	}
	v.Binding = cmp.Or(o.Name, v.Binding)
	v.Makes = o.User == ""
	v.Subject = subject(o.User)
	for n := 1; n <= o.Pool; n++ {
		v.Rooms = append(v.Rooms, PoolName(o.VIM, n))
	}
	var b strings.Builder
	if err := page().Execute(&b, v); err != nil {
		return "", fmt.Errorf("writing the manifest: %w", err)
	}
	return b.String(), nil
}

type view struct {
	Options

	Engine  bool
	Makes   bool // the account too
	Subject string
	Binding string
	Rooms   []string
}

var (
	vimID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{27}$`) })
	label = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`) })
	role  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9:._-]{0,251}[A-Za-z0-9])?$`) })
)

// IsLabel reports whether s is a DNS label (RFC 1123), as the name of a namespace is.
func IsLabel(s string) bool { return label().MatchString(s) }

// IsRole reports whether s can be the name of a ClusterRole: letters, digits, colon, dot,
// dash and underscore, at most 253.
func IsRole(s string) bool { return role().MatchString(s) }

func check(o Options) error {
	switch {
	case o.Profile != Leases && o.Profile != Engine:
		return fmt.Errorf("profile %q is unknown: %s and %s are", o.Profile, Leases, Engine)
	case o.VIM != "" && !vimID().MatchString(o.VIM):
		return fmt.Errorf("the VIM's id %q is no UUID", o.VIM)
	case len(o.Roles) == 0:
		return fmt.Errorf("no roles are given: leases need one at least")
	case o.Pool < 0 || o.Pool > MaxPool:
		return fmt.Errorf("the pool has %d namespaces: 1 to %d can be made", o.Pool, MaxPool)
	case o.Pool > 0 && o.VIM == "":
		return fmt.Errorf("a pool is one VIM's: register the VIM first, then name it")
	case o.Pool > 0 && len(o.Namespaces) == 0:
		return fmt.Errorf("no namespaces are given: in prepared mode leases are limited to namespaces")
	case o.Pool == 0 && len(o.Namespaces) > 0:
		return fmt.Errorf("namespaces are given without a pool: in managed mode leases may have any")
	case len(o.Namespaces) > maxNamespaces:
		return fmt.Errorf("%d namespaces are given: %d are the most", len(o.Namespaces), maxNamespaces)
	case strings.ContainsFunc(o.User, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the user's name holds control characters")
	}
	for _, n := range o.Namespaces {
		if !IsLabel(n) {
			return fmt.Errorf("namespace %q is no DNS label", n)
		}
	}
	for _, r := range o.Roles {
		if !IsRole(r) {
			return fmt.Errorf("role %q is not the name of a ClusterRole", r)
		}
	}
	return nil
}

// subject is who gets the rights, as YAML.
func subject(user string) string {
	if user == "" {
		user = accountPrefix + Namespace + ":" + Account
	}
	if namespace, name, ok := strings.Cut(strings.TrimPrefix(user, accountPrefix), ":"); ok && strings.HasPrefix(user, accountPrefix) {
		return fmt.Sprintf("{kind: ServiceAccount, namespace: %s, name: %s}", quote(namespace), quote(name))
	}
	return fmt.Sprintf("{kind: User, apiGroup: rbac.authorization.k8s.io, name: %s}", quote(user))
}

// quote writes a string of YAML, as JSON does.
func quote(s string) string {
	q, _ := json.Marshal(s) // strings always encode
	return string(q)
}

func list(items []string) string {
	q := make([]string, len(items))
	for i, item := range items {
		q[i] = quote(item)
	}
	return "[" + strings.Join(q, ", ") + "]"
}
