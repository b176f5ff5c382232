package fakekube

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Denial takes a right away from everyone, administrators included: what a
// credential of lesser rights looks like. Empty fields match anything.
type Denial struct {
	Verb string `json:"verb,omitempty"`
	// Resource is plural, with its subresource: "serviceaccounts/token".
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
}

func (d Denial) matches(c call) bool {
	return c.isResource() && (d.Verb == "" || d.Verb == c.verb) &&
		(d.Resource == "" || d.Resource == c.what()) && (d.Namespace == "" || d.Namespace == c.namespace)
}

// public paths answer anyone: what is served is among them, and everyone may ask who they are.
var public = regexp.MustCompile(`^/(version|healthz|livez|readyz|apis/cluster\.x-k8s\.io|apis)/?$`)

// allowed decides as RBAC does, after the denials. The caller holds s.mu.
func (s *Server) allowed(u user, c call) bool {
	if slices.ContainsFunc(s.denials, func(d Denial) bool { return d.matches(c) }) {
		return false
	}
	if slices.Contains(u.groups, masters) || !c.isResource() && public.MatchString(c.path) {
		return true
	}
	if c.verb == "create" && slices.Contains(reviews, c.GroupVersionResource) && c.GroupVersionResource != subjectReviews {
		return slices.Contains(u.groups, "system:authenticated")
	}
	for _, o := range s.objects {
		var rules []rbacv1.PolicyRule
		switch b := o.(type) {
		case *rbacv1.ClusterRoleBinding:
			if bound(b.Subjects, "", u) {
				rules = s.rules("", b.RoleRef)
			}
		case *rbacv1.RoleBinding:
			if c.namespace == b.Namespace && bound(b.Subjects, b.Namespace, u) {
				rules = s.rules(b.Namespace, b.RoleRef)
			}
		}
		if slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return covers(r, c) }) {
			return true
		}
	}
	return false
}

func bound(subjects []rbacv1.Subject, namespace string, u user) bool {
	return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
		switch s.Kind {
		case rbacv1.UserKind:
			return s.Name == u.name
		case rbacv1.GroupKind:
			return slices.Contains(u.groups, s.Name)
		case rbacv1.ServiceAccountKind:
			if s.Namespace != "" {
				namespace = s.Namespace
			}
			return u.name == fmt.Sprintf("system:serviceaccount:%s:%s", namespace, s.Name)
		}
		return false
	})
}

func (s *Server) rules(namespace string, ref rbacv1.RoleRef) []rbacv1.PolicyRule {
	if ref.Kind == "Role" {
		if o, ok := s.objects[key{"roles", namespace, ref.Name}]; ok {
			return o.(*rbacv1.Role).Rules
		}
		return nil
	}
	if o, ok := s.objects[key{"clusterroles", "", ref.Name}]; ok {
		return o.(*rbacv1.ClusterRole).Rules
	}
	return nil
}

// covers reports whether one rule allows a call.
func covers(r rbacv1.PolicyRule, c call) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, want)
	}
	if !has(r.Verbs, c.verb) {
		return false
	}
	if !c.isResource() {
		return slices.ContainsFunc(r.NonResourceURLs, func(u string) bool {
			prefix, wild := strings.CutSuffix(u, "*")
			return u == c.path || wild && strings.HasPrefix(c.path, prefix)
		})
	}
	return has(r.APIGroups, c.Group) && has(r.Resources, c.what()) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, c.name))
}

// seed fills an empty server with what every cluster has.
func (s *Server) seed() error {
	read, write := []string{"get", "list", "watch"}, []string{"create", "delete", "deletecollection", "patch", "update"}
	rule := func(verbs []string, group string, kinds ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{group}, Resources: kinds}
	}
	all := slices.Concat(read, write)
	view := []rbacv1.PolicyRule{rule(read, "", "configmaps", "namespaces", "serviceaccounts")}
	edit := append(slices.Clone(view), rule(write, "", "configmaps", "serviceaccounts"), rule(all, "", "secrets"),
		rule([]string{"create"}, "", "serviceaccounts/token"))
	admin := append(slices.Clone(edit), rule(all, rbacv1.GroupName, "roles", "rolebindings"))
	every := []rbacv1.PolicyRule{
		{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
		{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
	}
	kinds := map[string]resource{}
	for _, r := range resources {
		kinds[r.Resource] = r
	}
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		ns := &corev1.Namespace{}
		ns.Name = name
		ns.Labels = map[string]string{"kubernetes.io/metadata.name": name}
		if name == "default" { // as an administrator has it who lets others make pods there
			ns.Labels["pod-security.kubernetes.io/enforce"] = "baseline"
		}
		if _, err := s.create(kinds["namespaces"], "", ns); err != nil {
			return err
		}
		account := &corev1.ServiceAccount{}
		account.Name = "default"
		if _, err := s.create(kinds["serviceaccounts"], name, account); err != nil {
			return err
		}
	}
	for name, rules := range map[string][]rbacv1.PolicyRule{"view": view, "edit": edit, "admin": admin, "cluster-admin": every} {
		role := &rbacv1.ClusterRole{Rules: rules}
		role.Name = name
		if _, err := s.create(kinds["clusterroles"], "", role); err != nil {
			return err
		}
	}
	account := &corev1.ServiceAccount{}
	account.Name = adminAccount
	if _, err := s.create(kinds["serviceaccounts"], "kube-system", account); err != nil {
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "kube-system", Name: adminAccount}},
	}
	binding.Name = adminAccount
	_, err := s.create(kinds["clusterrolebindings"], "", binding)
	return err
}
