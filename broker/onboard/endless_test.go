package onboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
)

// A watch that shows new clusters and secrets for ever takes no more memory, and hides none of
// those that have a row.
func TestAnEndlessWatchIsBounded(t *testing.T) {
	o := &Onboarding{Options: Options{Now: time.Now}}
	w := o.newWatcher(Management{VIM: "m", Settings: Settings{Selector: map[string]string{"take": "yes"}, CopyLabels: []string{"team"}}}, broker.VIM{})
	mine := key{"a", "mine"}
	w.keep(Cluster{ID: "1", Namespace: mine.namespace, Name: mine.name})
	s := w.sight("a")
	for n := range maxSeen + 100 {
		name := fmt.Sprint(n)
		s.Cluster(Seen{Namespace: "a", Name: name})
		s.Secret(SecretVersion{Namespace: "a", Name: w.m.secretName(name), Cluster: name, Version: "1"})
		s.Gone("a", "gone-"+name)
		s.Secret(SecretVersion{Namespace: "a", Name: w.m.secretName("other-" + name), Cluster: "other-" + name, Version: "1"})
	}
	if len(w.seen) != maxSeen || len(w.versions) > 2*maxSeen || len(w.queue.due) > maxSeen {
		t.Errorf("%d clusters, %d secrets and %d to be looked at are kept in mind, want at most %d", len(w.seen), len(w.versions), len(w.queue.due), maxSeen)
	}
	if !strings.Contains(w.troubled(), tooMany) {
		t.Errorf("the trouble is %q", w.troubled())
	}
	for n := range 3 * maxSeen { // shown and gone again, and their secrets stay
		name := fmt.Sprint("brief-", n)
		s.Gone("a", "3")
		s.Cluster(Seen{Namespace: "a", Name: name})
		s.Secret(SecretVersion{Namespace: "a", Name: w.m.secretName(name), Cluster: name, Version: "1"})
		s.Gone("a", name)
	}
	if len(w.seen) > maxSeen || len(w.versions) > 2*maxSeen {
		t.Errorf("%d clusters and %d secrets are kept in mind", len(w.seen), len(w.versions))
	}
	for n := range 20 { // secrets go, too
		s.Secret(SecretVersion{Namespace: "a", Name: w.m.secretName(fmt.Sprint("brief-", n)), Cluster: fmt.Sprint("brief-", n)})
	}
	s.Cluster(Seen{Namespace: "a", Name: mine.name, UID: "u"})
	s.Secret(SecretVersion{Namespace: "a", Name: w.m.secretName(mine.name), Cluster: mine.name, Version: "2"})
	if w.seen[mine].UID != "u" || w.versions[mine] != "2" {
		t.Errorf("the cluster that has a row is seen as %+v, with version %q of its secret", w.seen[mine], w.versions[mine])
	}
	if _, due := w.queue.due[mine]; !due {
		t.Error("the cluster that has a row is not looked at")
	}
	// Who goes makes room.
	s.Gone("a", "1")
	s.Gone("a", "2") // the one with a row had a place beyond the bound
	s.Cluster(Seen{Namespace: "a", Name: "new"})
	if _, shown := w.seen[key{"a", "new"}]; !shown {
		t.Error("a cluster that is gone leaves no room")
	}
	// A list that is too long is said to be.
	var all []Seen
	for n := range maxSeen + 1 {
		all = append(all, Seen{Namespace: "a", Name: fmt.Sprint("l", n)})
	}
	s.Clusters(all)
	if len(w.seen) != maxSeen || !strings.Contains(w.troubled(), tooMany) {
		t.Errorf("%d clusters of a list are kept in mind, and the trouble is %q", len(w.seen), w.troubled())
	}
	for label, counts := range map[string]bool{"take": true, "team": true, "other": false} {
		if s.Labels(label) != counts {
			t.Errorf("label %s counts: %v, want %v", label, !counts, counts)
		}
	}
}
