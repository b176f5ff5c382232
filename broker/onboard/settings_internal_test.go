package onboard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// many are so many keys, each with a value.
func many(n int, value string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("k", i)] = value
	}
	return all
}

// Each edit makes one fault of settings that are whole, in its own field; edits at a bound make none.
func TestEachFaultOfSettingsNamesItsField(t *testing.T) {
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("n", i))
		}
		return all
	}
	plane := func(n int) string { return "p." + strings.Repeat("g", n-2) }
	for name, c := range map[string]struct {
		edit func(m *Settings)
		want string
	}{
		"nothing":                   {func(*Settings) {}, ""},
		"none gone":                 {func(m *Settings) { m.MaxGone = -1 }, "maxGone"},
		"all gone":                  {func(m *Settings) { m.MaxGone = maxClusters }, ""},
		"more gone":                 {func(m *Settings) { m.MaxGone = maxClusters + 1 }, "maxGone"},
		"no share":                  {func(m *Settings) { m.MaxGoneShare = -1 }, "maxGoneShare"},
		"one per cent":              {func(m *Settings) { m.MaxGoneShare = 1 }, ""},
		"all of them":               {func(m *Settings) { m.MaxGoneShare = 100 }, ""},
		"more than all":             {func(m *Settings) { m.MaxGoneShare = 101 }, "maxGoneShare"},
		"another account":           {func(m *Settings) { m.Account = "root" }, "account"},
		"another annotation":        {func(m *Settings) { m.Annotation = "maybe" }, "annotation"},
		"a selector":                {func(m *Settings) { m.Selector = many(maxSettings, "v") }, ""},
		"a longer selector":         {func(m *Settings) { m.Selector = many(maxSettings+1, "v") }, ""},
		"a selector of no label":    {func(m *Settings) { m.Selector = map[string]string{"a b": "v"} }, "selector"},
		"labels":                    {func(m *Settings) { m.CopyLabels = names(maxSettings) }, ""},
		"a label of none":           {func(m *Settings) { m.CopyLabels = []string{"a b"} }, "copyLabels"},
		"a plane":                   {func(m *Settings) { m.ControlPlanes = []string{plane(253)} }, ""},
		"a longer plane":            {func(m *Settings) { m.ControlPlanes = []string{plane(254)} }, "controlPlanes"},
		"a plane of no group":       {func(m *Settings) { m.ControlPlanes = []string{"planes"} }, "controlPlanes"},
		"a plane of no plural":      {func(m *Settings) { m.ControlPlanes = []string{"A.g"} }, "controlPlanes"},
		"a plane of no name":        {func(m *Settings) { m.ControlPlanes = []string{"p.G"} }, "controlPlanes"},
		"a secret of none":          {func(m *Settings) { m.SecretName = "x" }, "secretName"},
		"a secret of two":           {func(m *Settings) { m.SecretName = "{cluster}-{cluster}" }, "secretName"},
		"a secret of no name":       {func(m *Settings) { m.SecretName = "{cluster}_" }, "secretName"},
		"a key":                     {func(m *Settings) { m.SecretKey = "a/b" }, "secretKey"},
		"a name":                    {func(m *Settings) { m.NameTemplate = strings.Repeat("x", 64-len("{cluster}")) + "{cluster}" }, ""},
		"a longer name":             {func(m *Settings) { m.NameTemplate = strings.Repeat("x", 65-len("{cluster}")) + "{cluster}" }, "nameTemplate"},
		"a name of none":            {func(m *Settings) { m.NameTemplate = "x" }, "nameTemplate"},
		"a name of another":         {func(m *Settings) { m.NameTemplate = "{cluster}{x}" }, "nameTemplate"},
		"64 namespaces":             {func(m *Settings) { m.Namespaces = names(maxNamespaces) }, ""},
		"65 namespaces":             {func(m *Settings) { m.Namespaces = names(maxNamespaces + 1) }, "namespaces"},
		"no namespace":              {func(m *Settings) { m.Namespaces = nil }, "namespaces"},
		"a namespace of no name":    {func(m *Settings) { m.Namespaces = []string{"A"} }, "namespaces"},
		"a namespace of no project": {func(m *Settings) { m.Projects = map[string]string{"a": "p"}; m.Namespaces = []string{"a", "b"} }, "projects"},
		"all, of no project":        {func(m *Settings) { m.Namespaces, m.Projects = []string{"*"}, map[string]string{"a": "p"} }, "projects"},
		"all":                       {func(m *Settings) { m.Namespaces = []string{"*"} }, ""},
		"some by a label":           {func(m *Settings) { m.Namespaces, m.NamespaceSelector = nil, many(maxSettings, "v") }, ""},
		"some by too many labels":   {func(m *Settings) { m.Namespaces, m.NamespaceSelector = nil, many(maxSettings+1, "v") }, "namespaceSelector"},
		"some by no label":          {func(m *Settings) { m.Namespaces, m.NamespaceSelector = nil, map[string]string{"a b": "v"} }, "namespaceSelector"},
		"names beside labels":       {func(m *Settings) { m.NamespaceSelector = many(1, "v") }, "namespaceSelector"},
		"a project of no namespace": {func(m *Settings) { m.Projects = map[string]string{"": "p", "x": "q"} }, "projects"},
		"a project of no name":      {func(m *Settings) { m.Projects = map[string]string{"": "p", "a": ""} }, "projects"},
		"no project for the others": {func(m *Settings) { m.Namespaces, m.Projects = []string{"a"}, map[string]string{"": "", "a": "p"} }, "projects"},
		"a project for each": {func(m *Settings) {
			m.Namespaces = []string{"*"}
			m.Projects = many(maxProjects, "p")
			m.Projects[""] = "p"
		}, ""},
		"more projects": {func(m *Settings) {
			m.Namespaces = []string{"*"}
			m.Projects = many(maxProjects+1, "p")
			m.Projects[""] = "p"
		}, "projects"},
	} {
		m := Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "p"}}
		c.edit(&m)
		err := m.Complete()
		known, is := errors.AsType[*broker.Error](err)
		if name == "a longer selector" {
			if !is || !strings.Contains(known.Detail, "more than 64 entries") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if c.want == "" && err != nil || c.want != "" && (!is || known.Field != c.want) {
			t.Errorf("%s: %v, want a fault of %q", name, err, c.want)
		}
	}
	for s, want := range map[string]bool{"a.b-c": true, strings.Repeat("a", 253): true, strings.Repeat("a", 254): false, "A": false, "": false, "-a": false} {
		if IsName(s) != want {
			t.Errorf("IsName(%.20q) is not %t", s, want)
		}
	}
	long, longer := strings.Repeat("a", maxLabelText), strings.Repeat("a", maxLabelText+1)
	m := Management{VIM: "m", Settings: Settings{CopyLabels: []string{long, longer, "x/" + long[2:], "none"}}}
	got := m.labels(Seen{UID: "u", Namespace: "n", Name: long, Labels: map[string]string{long: "1", longer: "2", "x/" + long[2:]: "3"}})
	want := map[string]string{
		broker.LabelCluster: "u", broker.LabelManagement: "m", broker.LabelClusterNamespace: "n", broker.LabelClusterName: long,
		copiedPrefix + long: "1", copiedPrefix + "x." + long[2:]: "3",
	}
	if !maps.Equal(got, want) {
		t.Errorf("the labels are %v", got)
	}
	if _, has := m.labels(Seen{Name: longer})[broker.LabelClusterName]; has {
		t.Error("a name is a label that is too long for one")
	}
	for account, want := range map[string]bool{"": false, AccountNone: false, AccountEngine: true} {
		m.Account = account
		if a := m.account("u"); (a != nil) != want || want && (a.Profile != account || len(a.Name) != 20) {
			t.Errorf("the account %q is %+v", account, a)
		}
	}
	m.NamespaceSelector = many(1, "v")
	if rules := m.rules([]string{"planes.g"}); len(rules) != 4 || rules[2].Resources[0] != "planes" || rules[2].APIGroups[0] != "g" || rules[3].Resources[0] != "namespaces" {
		t.Errorf("the rules are %+v", rules)
	}
	old := Settings{Namespaces: []string{"a", "b"}, Projects: map[string]string{"": "p", "a": "q", "b": "r"}}
	for name, c := range map[string]struct {
		given      Settings
		namespaces []string
		projects   map[string]string
	}{
		"nothing":    {Settings{}, []string{"a", "b"}, map[string]string{"": "p", "a": "q", "b": "r"}},
		"namespaces": {Settings{Namespaces: []string{"b"}}, []string{"b"}, map[string]string{"": "p", "b": "r"}},
		"a selector": {Settings{NamespaceSelector: map[string]string{"k": "v"}}, nil, map[string]string{"": "p"}},
		"projects":   {Settings{Projects: map[string]string{"": "x"}}, []string{"a", "b"}, map[string]string{"": "x"}},
	} {
		if c.given.keep(old); !slices.Equal(c.given.Namespaces, c.namespaces) || !maps.Equal(c.given.Projects, c.projects) {
			t.Errorf("%s given: %v and %v", name, c.given.Namespaces, c.given.Projects)
		}
	}
}

// Each move of a cluster that the outside is told of is told as one kind, and the others are not told.
func TestWhatAMoveOfAClusterIsTold(t *testing.T) {
	move := func(pairs ...string) audit.Entry {
		e := audit.Entry{Seq: 7, Principal: self("").Name, Action: policy.ClusterFollow, Outcome: audit.Done, Resource: "m", Detail: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			e.Detail[pairs[i]] = pairs[i+1]
		}
		return e
	}
	const was, is, key, reason, before = audit.DetailOld + detailState, audit.DetailNew + detailState, audit.DetailNew + detailSecret, audit.DetailReason, audit.DetailOld + audit.DetailReason
	vim, registered, quarantined := detailClusterVIM, string(StateRegistered), string(StateQuarantined)
	foreign, paused, moving := string(ReasonSecretForeign), string(ReasonPaused), string(ReasonMoving)
	for name, c := range map[string]struct {
		e    audit.Entry
		want ClusterEventKind
	}{
		"registered":                     {move(was, string(StateRegistering), is, registered, vim, "v"), EventRegistered},
		"registered again":               {move(was, quarantined, is, registered, vim, "v"), ""},
		"quarantined":                    {move(is, quarantined, reason, foreign), EventQuarantined},
		"quarantined for another reason": {move(reason, foreign, before, string(ReasonSecretInvalid)), EventQuarantined},
		"quarantined for another secret": {move(reason, foreign, key, "s"), EventQuarantined},
		"in doubt from the beginning":    {move(reason, foreign), ""},
		"another secret":                 {move(key, "s", vim, "v"), EventUpdated},
		"another secret of no VIM":       {move(key, "s"), ""},
		"another secret, registering":    {move(key, "s", vim, "v", is, string(StateRegistering)), ""},
		"another secret, quarantined":    {move(key, "s", vim, "v", is, quarantined), EventQuarantined},
		"retired":                        {move(is, string(StateRetired), vim, "v"), EventRetired},
		"retired without a VIM":          {move(is, string(StateRetired)), ""},
		"waiting again":                  {move(is, string(StateWaiting), vim, "v"), EventRetired},
		"suspended":                      {move(reason, paused, vim, "v"), EventSuspended},
		"suspended without a VIM":        {move(reason, paused), ""},
		"suspended as it was":            {move(reason, paused, before, string(ReasonDeleting), vim, "v"), ""},
		"suspended as it moves":          {move(reason, moving, vim, "v"), ""},
		"suspended with a state":         {move(reason, paused, vim, "v", is, registered), ""},
		"resumed":                        {move(before, paused, vim, "v"), EventResumed},
		"resumed without a VIM":          {move(before, paused), ""},
		"resumed with a state":           {move(before, paused, vim, "v", is, registered), ""},
		"nothing":                        {move(vim, "v"), ""},
		"held":                           {audit.Entry{Resource: "m", Seq: 7, Detail: map[string]string{detailEvent: string(EventHeld)}}, EventHeld},
		"released":                       {audit.Entry{Resource: "m", Seq: 7, Detail: map[string]string{detailEvent: string(EventReleased)}}, EventReleased},
		"something else":                 {audit.Entry{Detail: map[string]string{detailEvent: "x"}}, ""},
	} {
		got, told := EventOf(c.e)
		if got.Kind != c.want || told != (c.want != "") || told && (got.Entry != 7 || got.ManagementCluster != "m") {
			t.Errorf("%s is told as %q, %t, want %q", name, got.Kind, told, c.want)
		}
	}
	whole := move(is, quarantined, vim, "v", detailCluster, "n/c", detailProject, "p", detailVIMName, "w", detailLabel+"a", "b", reason, foreign)
	got, _ := EventOf(whole)
	if got.VIM != "v" || got.Cluster != "n/c" || got.Project != "p" || got.Name != "w" || got.Labels["a"] != "b" || got.Reason != ReasonSecretForeign {
		t.Errorf("it is told as %+v", got)
	}
	for name, edit := range map[string]func(e *audit.Entry){
		"of a person": func(e *audit.Entry) { e.Principal = "alice" }, "of another act": func(e *audit.Entry) { e.Action = policy.VIMShow },
		"not done": func(e *audit.Entry) { e.Outcome = audit.Failed },
	} {
		e := whole
		edit(&e)
		if got, told := EventOf(e); told {
			t.Errorf("an entry %s is told as %+v", name, got)
		}
	}
}
