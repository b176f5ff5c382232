package onboard

import (
	"context"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
)

// AllNamespaces, alone in [Settings.Namespaces], takes the clusters of all namespaces.
const AllNamespaces = "*"

// all reports whether namespaces are not taken by name.
func (m *Settings) all() bool { return len(m.Namespaces) == 1 && m.Namespaces[0] == AllNamespaces }

func (m *Settings) names(namespace string) bool {
	return m.all() || slices.Contains(m.Namespaces, namespace)
}

// completeNamespaces refuses namespaces that cannot be followed, and those of no project.
func (m *Settings) completeNamespaces() error {
	if len(m.NamespaceSelector) > 0 && len(m.Namespaces) == 0 {
		m.Namespaces = []string{AllNamespaces}
	}
	slices.Sort(m.Namespaces)
	m.Namespaces = slices.Compact(m.Namespaces)
	most := maxNamespaces
	switch n := len(m.Namespaces); {
	case n == 0 || n > most:
		return broker.Invalid("namespaces", "must name 1 to %d namespaces, or be %q alone", most, AllNamespaces)
	case m.all():
		if most = maxProjects; m.Projects[""] == "" {
			return broker.Invalid("projects", "name no project for the namespaces that have none of their own")
		}
	case len(m.NamespaceSelector) > 0:
		return broker.Invalid("namespaceSelector", "selects among all namespaces: leave namespaces out")
	}
	for _, n := range m.Namespaces {
		switch {
		case m.all():
		case !dnsLabel().MatchString(n):
			return broker.Invalid("namespaces", "hold one that is not a DNS label of at most 63 characters")
		case m.project(n) == "":
			return broker.Invalid("projects", "name no project for namespace %s", n)
		}
	}
	switch {
	case len(m.Projects) > most+1:
		return broker.Invalid("projects", "hold more than %d entries besides the one for all others", most)
	case len(m.NamespaceSelector) > maxSettings:
		return broker.Invalid("namespaceSelector", "holds more than %d labels", maxSettings)
	}
	for n, project := range m.Projects {
		if n != "" && (!m.names(n) || !dnsLabel().MatchString(n)) || project == "" {
			return broker.Invalid("projects", "name a project for a namespace that is not among the namespaces, or none for one that is")
		}
	}
	for key := range m.NamespaceSelector {
		if !labelKey().MatchString(key) {
			return broker.Invalid("namespaceSelector", "holds a key that is not a Kubernetes label key")
		}
	}
	return nil
}

// scope is what the watch of a namespace is known by: one watch shows all namespaces, if they are not taken by name.
func (w *watcher) scope(namespace string) string {
	if w.m.all() {
		return AllNamespaces
	}
	return namespace
}

// selectNamespaces reads which namespaces have the labels that the settings ask for, and has the clusters looked at of those
// for which that has changed.
func (w *watcher) selectNamespaces(ctx context.Context) error {
	if len(w.m.NamespaceSelector) == 0 {
		return nil
	}
	all, err := w.Source.Namespaces(ctx, w.present())
	if err != nil {
		return err
	}
	now := make(map[string]bool, len(all))
	for name, labels := range all {
		now[name] = hasAll(labels, w.m.NamespaceSelector)
	}
	w.mu.Lock()
	before := w.selected
	w.selected = now
	var look []key
	differs := func(k key) bool { return before[k.namespace] != now[k.namespace] }
	for k := range w.seen {
		if differs(k) {
			look = append(look, k)
		}
	}
	for k := range w.rows {
		if differs(k) {
			look = append(look, k)
		}
	}
	w.mu.Unlock()
	w.lookAt(look)
	return nil
}

// follows reports whether the clusters of a namespace are followed: those with rows, or new ones. One that has gone has no
// labels, and takes its clusters with it. w.mu is held.
func (w *watcher) follows(namespace string, known bool) bool {
	if !w.m.all() {
		return slices.Contains(w.m.Namespaces, namespace) && !w.absent[namespace]
	}
	selected, there := w.selected[namespace]
	return len(w.m.NamespaceSelector) == 0 || selected || known && !there
}

// leave says of a cluster whose namespace is not followed that it is not either.
func (w *watcher) leave(ctx context.Context, c Cluster) error {
	if c.State != StateRegistered && c.State != StateWaiting {
		return nil
	}
	return w.note(ctx, c, ReasonNotFollowed, "its namespace is not watched, because the settings or the management "+
		"cluster do not have it; its VIM stays as it is")
}

func hasAll(labels, asked map[string]string) bool {
	for key, value := range asked {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}
