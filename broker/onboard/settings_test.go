package onboard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/onboard"
)

// numbered are so many names.
func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	return names
}

// TestSettingsThatCannotBeFollowed are refused, each with its field; what is at a bound is not.
func TestSettingsThatCannotBeFollowed(t *testing.T) {
	type m = onboard.Settings
	for name, c := range map[string]struct {
		change func(*m)
		field  string // empty: it is taken
	}{
		"the least":                    {func(*m) {}, ""},
		"no namespace":                 {func(m *m) { m.Namespaces = nil }, "namespaces"},
		"64 namespaces":                {func(m *m) { m.Namespaces = numbered(64) }, ""},
		"65 namespaces":                {func(m *m) { m.Namespaces = numbered(65) }, "namespaces"},
		"one namespace 65 times":       {func(m *m) { m.Namespaces = strings.Fields(strings.Repeat("a ", 65)) }, ""},
		"a namespace that is none":     {func(m *m) { m.Namespaces = []string{"a/../b"} }, "namespaces"},
		"a namespace of 64 letters":    {func(m *m) { m.Namespaces = []string{strings.Repeat("a", 64)} }, "namespaces"},
		"no project":                   {func(m *m) { m.Projects = map[string]string{"a": "north"}; m.Namespaces = []string{"a", "b"} }, "projects"},
		"another namespace's project":  {func(m *m) { m.Projects["c"] = "north" }, "projects"},
		"no key of a selector":         {func(m *m) { m.Selector = map[string]string{"a b": "x"} }, "selector"},
		"a key with a prefix":          {func(m *m) { m.Selector = map[string]string{"example.org/onboard": "x"} }, ""},
		"no key to copy":               {func(m *m) { m.CopyLabels = []string{"a/b/c"} }, "copyLabels"},
		"a control plane of no group":  {func(m *m) { m.ControlPlanes = []string{"planes"} }, "controlPlanes"},
		"a control plane of all":       {func(m *m) { m.ControlPlanes = []string{"*.example.org"} }, "controlPlanes"},
		"control planes of all groups": {func(m *m) { m.ControlPlanes = []string{"planes.*"} }, "controlPlanes"},
		"a secret for all clusters":    {func(m *m) { m.SecretName = "kubeconfig" }, "secretName"},
		"a cluster's name twice":       {func(m *m) { m.SecretName = "{cluster}-{cluster}" }, "secretName"},
		"a secret elsewhere":           {func(m *m) { m.SecretName = "../{cluster}" }, "secretName"},
		"no key of a secret":           {func(m *m) { m.SecretKey = "a/b" }, "secretKey"},
		"one name for all VIMs":        {func(m *m) { m.NameTemplate = "{namespace}" }, "nameTemplate"},
		"another word in a template":   {func(m *m) { m.NameTemplate = "{cluster}-{project}" }, "nameTemplate"},
		"a template with a slash":      {func(m *m) { m.NameTemplate = "{namespace}/{cluster}" }, "nameTemplate"},
		"a template of 65 letters":     {func(m *m) { m.NameTemplate = "{cluster}" + strings.Repeat("a", 56) }, "nameTemplate"},
		"no account that there is":     {func(m *m) { m.Account = "root" }, "account"},
		"all namespaces":               {func(m *m) { m.Namespaces = []string{"*"} }, ""},
		"all and one":                  {func(m *m) { m.Namespaces = []string{"*", "a"} }, "namespaces"},
		"all, some of no project":      {func(m *m) { m.Namespaces, m.Projects = []string{"*"}, map[string]string{"a": "north"} }, "projects"},
		"all, one of another project":  {func(m *m) { m.Namespaces, m.Projects["c"] = []string{"*"}, "south" }, ""},
		"a project of no namespace":    {func(m *m) { m.Namespaces, m.Projects["a/b"] = []string{"*"}, "south" }, "projects"},
		"namespaces by label":          {func(m *m) { m.Namespaces, m.NamespaceSelector = nil, map[string]string{"tenant": "yes"} }, ""},
		"by name and by label":         {func(m *m) { m.NamespaceSelector = map[string]string{"tenant": "yes"} }, "namespaceSelector"},
		"no key of a namespace's":      {func(m *m) { m.Namespaces, m.NamespaceSelector = nil, map[string]string{"a b": "yes"} }, "namespaceSelector"},
		"1000 projects": {func(m *m) {
			m.Namespaces = []string{"*"}
			for _, n := range numbered(1000) {
				m.Projects[n] = "south"
			}
		}, ""},
		"1001 projects": {func(m *m) {
			m.Namespaces = []string{"*"}
			for _, n := range numbered(1001) {
				m.Projects[n] = "south"
			}
		}, "projects"},
	} {
		t.Run(name, func(t *testing.T) {
			s := m{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
			c.change(&s)
			err := s.Complete()
			var e *broker.Error
			switch {
			case c.field == "" && err != nil:
				t.Errorf("Complete() = %v", err)
			case c.field != "" && (!errors.As(err, &e) || !errors.Is(err, broker.ErrInvalid) || e.Field != strings.Trim(c.field, "\x00")):
				t.Errorf("Complete() = %v, want a fault of %s", err, c.field)
			}
		})
	}
}

// TestMoreEntriesThanASettingHas are refused, in each that is bounded so.
func TestMoreEntriesThanASettingHas(t *testing.T) {
	for name, change := range map[string]func(*onboard.Settings, []string){
		"selector": func(m *onboard.Settings, names []string) {
			m.Selector = map[string]string{}
			for _, n := range names {
				m.Selector[n] = "x"
			}
		},
		"copyLabels": func(m *onboard.Settings, names []string) { m.CopyLabels = names },
		"controlPlanes": func(m *onboard.Settings, names []string) {
			for _, n := range names {
				m.ControlPlanes = append(m.ControlPlanes, n+".example.org")
			}
		},
	} {
		for n, want := range map[int]error{64: nil, 65: broker.ErrInvalid} {
			m := onboard.Settings{Namespaces: []string{"a"}, Projects: map[string]string{"": "north"}}
			change(&m, numbered(n))
			if err := m.Complete(); !errors.Is(err, want) {
				t.Errorf("%d entries of %s: %v, want %v", n, name, err, want)
			}
		}
	}
}
