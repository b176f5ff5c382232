package heat

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/lifecycle"
)

// What becomes part of a path or is shown to people has its bounds.
func TestTextsOfHeatAreBounded(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "a": true, "A-9_z.0": true, "a/b": false, "a b": false, ".": false, "..": false, "a..": true, "ä": false,
		strings.Repeat("x", 255): true, strings.Repeat("x", 256): false,
	} {
		if got := IsID(text); got != want {
			t.Errorf("%q is an id: %t, want %t", text, got, want)
		}
	}
	for href, want := range map[string]string{
		"https://h/v1/p/stacks/name/id": "stacks/name/id", "/stacks/name/id/resources/x": "stacks/name/id", "/stacks/name": "", "/stacks/": "",
		"name/id": "", "/stacks/../id": "", "/stacks/name/..": "", "/stacks/a b/id": "", "/stacks/name/a b": "",
	} {
		if got := stackPath(href); got != want {
			t.Errorf("%q leads to %q, want %q", href, got, want)
		}
	}
	for s, want := range map[status]string{
		"CREATE_COMPLETE": "CREATE_COMPLETE", "create": "in a state that is not known", status(strings.Repeat("X", 64)): strings.Repeat("X", 64),
		status(strings.Repeat("X", 65)): "in a state that is not known",
	} {
		if got := s.text(); got != want {
			t.Errorf("%s is shown as %q, want %q", s, got, want)
		}
	}
	for text, want := range map[string]string{
		" a\n b\tc ": "a b c", "a\x00b": "a b", "a\u200bb": "a b", "\xff": "?", strings.Repeat("x", 300): strings.Repeat("x", 300),
		strings.Repeat("x", 301): strings.Repeat("x", 300) + "…", strings.Repeat("x", 299) + "äb": strings.Repeat("x", 299) + "…",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"2031-05-06T07:08:09": "2031-05-06T07:08:09Z", "2031-05-06T07:08:09+02:00": "2031-05-06T05:08:09Z", "yesterday": "", "": "",
	} {
		if got := moment(text); got != want {
			t.Errorf("%q is the moment %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct{ k, want string }{{"2031-05-06T07:08:10", "2031-05-06T07:08:10Z"}, {"", "2031-05-06T07:08:09Z"}} {
		if got := (&stack{Created: "2031-05-06T07:08:09", Updated: c.k}).mark(); got != c.want {
			t.Errorf("a stack that was updated at %q has the mark %q, want %q", c.k, got, c.want)
		}
	}
}

// chain are stacks in one another, the top's part first: each part is the next stack.
func chain(n int) []part {
	all := make([]part, n)
	for i := range all {
		all[i] = part{Name: fmt.Sprint("r", i), in: fmt.Sprint("s", i), nested: fmt.Sprint("s", i+1)}
	}
	return all
}

// Nested stacks are a tree, as deep as templates may be, whatever a server says.
func TestPartsAreATree(t *testing.T) {
	for name, c := range map[string]struct {
		all  []part
		want []string // what each is in the end
	}{
		"one below another": {[]part{{in: "top", nested: "a"}, {in: "a", nested: "b"}, {in: "b"}}, []string{"a", "b", ""}},
		"two of one":        {[]part{{in: "top", nested: "a"}, {in: "top", nested: "a"}, {in: "a"}}, []string{"a", "", ""}},
		"back to the top":   {[]part{{in: "top", nested: "a"}, {in: "a", nested: "top"}}, []string{"", ""}},
		"itself":            {[]part{{in: "top", nested: "a"}, {in: "a", nested: "a"}}, []string{"a", ""}},
		"a circle apart":    {[]part{{in: "top"}, {in: "x", nested: "y"}, {in: "y", nested: "x"}}, []string{"", "", ""}},
		"too deep": {chain(12), func() []string {
			want := []string{}
			for i := range 10 {
				want = append(want, fmt.Sprint("s", i+1))
			}
			return append(want, "", "")
		}()},
	} {
		rooted(c.all)
		var got []string
		for _, p := range c.all {
			got = append(got, p.nested)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A part that says it is in itself is not followed for ever, wherever it comes from.
func TestPartsInThemselves(t *testing.T) {
	odd := part{Name: "a", in: "a", nested: "a"}
	all := []part{odd, {Name: "b", in: "a"}}
	if got := pathOf(all, all[1]); got != "b" {
		t.Errorf("the path is %q", got)
	}
	if l, b := leaves(all, odd), below(all, odd); len(l) != 0 || len(b) != 1 {
		t.Errorf("its leaves are %+v, and below it are %+v", l, b)
	}
}

// grown are the parts of a VNF: a group of two servers in nested stacks, ports, and volumes.
func grown() []part {
	all := []part{
		{Name: "group", Type: "OS::Heat::ResourceGroup", Status: "CREATE_COMPLETE", Physical: "g", in: "top", nested: "g"},
		{Name: "0", Type: "VDU1.yaml", Parent: "group", Status: "CREATE_COMPLETE", Physical: "m0", in: "g", nested: "m0"},
		{Name: "1", Type: "VDU1.yaml", Parent: "group", Status: "CREATE_COMPLETE", Physical: "m1", in: "g", nested: "m1"},
		{Name: "VDU1", Type: "OS::Nova::Server", Parent: "1", Status: "CREATE_IN_PROGRESS", Physical: "server-1", in: "m1"},
		{Name: "VDU1", Type: "OS::Nova::Server\n", Parent: "0", Status: "CREATE_COMPLETE", Physical: "server-0", in: "m0"},
		{Name: "VDU2", Type: "OS::Heat::ResourceGroup", Status: "CREATE_COMPLETE", Physical: "g2", in: "top", nested: "g2"},
		{Name: "0", Type: "OS::Nova::Server", Parent: "VDU2", Status: "CREATE_COMPLETE", Physical: "server-2", in: "g2"},
		{Name: "1", Type: "OS::Nova::Server", Parent: "VDU2", Status: "DELETE_COMPLETE", Physical: "server-3", in: "g2"},
		{Name: "2", Type: "OS::Nova::Server", Parent: "VDU2", Status: "CREATE_COMPLETE", Physical: "", in: "g2"},
		{Name: "3", Type: "OS::Nova::Server", Parent: "VDU2", Status: "CREATE_COMPLETE", Physical: "a\nb", in: "g2"},
		{Name: "VDU3", Type: "nested.yaml", Status: "CREATE_COMPLETE", Physical: "n", in: "top", nested: "n"},
		{Name: "VDU3", Type: "OS::Nova::Server", Parent: "VDU3", Status: "CREATE_COMPLETE", Physical: "server-4", in: "n"},
		{Name: "disk", Type: volumeType, Parent: "VDU3", Status: "CREATE_COMPLETE", Physical: "disk-3", in: "n"},
	}
	rooted(all)
	return all
}

// VNFCs are the resources of a VDU's name, or the members of a group of that name; one that is gone or has no name is none.
func TestComponentsOfParts(t *testing.T) {
	server := func(vdu, id string, ready bool) lifecycle.VNFC {
		return lifecycle.VNFC{VDU: vdu, Kind: "OS::Nova::Server", Name: id, UID: id, Ready: ready}
	}
	all, v := grown(), vdus{"VDU1": "one", "VDU2": "two", "VDU3": "three"}
	for top, want := range map[int][]lifecycle.VNFC{
		0:  {server("one", "server-0", true), server("one", "server-1", false)},
		1:  {server("one", "server-0", true)},
		5:  {server("two", "server-2", true)},
		10: {server("three", "server-4", true)},
		12: nil,
	} {
		if got := v.components(all, all[top]); !reflect.DeepEqual(got, want) {
			t.Errorf("VNFCs of %s: %+v, want %+v", all[top].Name, got, want)
		}
	}
	if got := (vdus{"VDU9": "nine"}).components(all, all[0]); got != nil {
		t.Errorf("VNFCs of no VDU: %+v", got)
	}
	for i, want := range map[int]string{0: "group", 4: "group/0/VDU1", 6: "VDU2/0", 11: "VDU3/VDU3"} {
		if got := pathOf(all, all[i]); got != want {
			t.Errorf("part %d is at %q, want %q", i, got, want)
		}
	}
}

// Volumes are named by the group that they are members of; one that is gone or has no id is none, at the top or in a nested stack.
func TestVolumesOfParts(t *testing.T) {
	nested := func(p part) part {
		p.Parent = "VDU2"
		return p
	}
	volume := func(name, in, id string, s status) part {
		return part{Name: name, Type: volumeType, in: in, Physical: id, Status: s}
	}
	all := append(grown(), volume("b", "top", "2", "CREATE_COMPLETE"), volume("a", "top", "3", "UPDATE_FAILED"), volume("0", "g2", "4", "CREATE_COMPLETE"),
		volume("gone", "top", "5", "DELETE_IN_PROGRESS"), volume("unmade", "top", "", "INIT_COMPLETE"), volume("odd", "top", "6\n7", "CREATE_COMPLETE"),
		volume("a", "top", "1", "CREATE_COMPLETE"), nested(volume("0", "g2", "7", "DELETE_IN_PROGRESS")), nested(volume("0", "g2", "8", "DELETE_FAILED")),
		nested(volume("0", "g2", "9", "UPDATE_COMPLETE")))
	var got []string
	for _, s := range volumes(all) {
		if s.Kind != volumeType || s.UID != s.Name {
			t.Errorf("a volume is %+v", s)
		}
		got = append(got, s.Desc+" "+s.Name)
	}
	if want := []string{"VDU2 4", "VDU2 9", "a 1", "a 3", "b 2", "disk disk-3"}; !slices.Equal(got, want) {
		t.Errorf("volumes are %q, want %q", got, want)
	}
}

// What is seen of a stack and of each of its resources, by the status that Heat gives.
func TestWhatIsObserved(t *testing.T) {
	const at = "2031-05-06T07:08:09"
	k := func(s status, updated string) *stack { return &stack{Status: s, Created: at, Updated: updated} }
	top := lifecycle.Resource{Plural: stacks, Name: "vnf-i", Applied: at + "Z"}
	of := lifecycle.Resource{Plural: pieces, Name: "pages"}
	pages := func(s status) []part {
		return []part{{Name: "pages", Parent: "other", Status: "CREATE_FAILED"}, {Name: "pages", Status: s}}
	}
	by := []string{"an update of the stack by somebody else"}
	never := top
	never.Applied = ""
	for name, c := range map[string]struct {
		k    *stack
		all  []part
		of   lifecycle.Resource
		want lifecycle.Observation
	}{
		"a stack":                    {k("CREATE_COMPLETE", ""), nil, top, lifecycle.Observation{Standing: true, Ready: true}},
		"one being made":             {k("CREATE_IN_PROGRESS", ""), nil, top, lifecycle.Observation{Standing: true, Message: "is CREATE_IN_PROGRESS"}},
		"one of another's update":    {k("UPDATE_COMPLETE", at+"+01:00"), nil, top, lifecycle.Observation{Standing: true, Ready: true, ChangedBy: by}},
		"one that is checked":        {k("CHECK_COMPLETE", at+"+01:00"), nil, top, lifecycle.Observation{Standing: true, Ready: true}},
		"one never applied":          {k("UPDATE_COMPLETE", at+"+01:00"), nil, never, lifecycle.Observation{Standing: true, Ready: true}},
		"with a volume":              {k("CREATE_COMPLETE", ""), []part{{Name: "d", Type: volumeType, Physical: "1", Status: "CREATE_COMPLETE"}}, top, lifecycle.Observation{Standing: true, Ready: true, Resource: lifecycle.Resource{Storages: []lifecycle.Storage{{Desc: "d", Kind: volumeType, Name: "1", UID: "1"}}}}},
		"a resource":                 {k("CREATE_COMPLETE", ""), pages("CREATE_COMPLETE"), of, lifecycle.Observation{Standing: true, Ready: true}},
		"one being updated":          {k("CREATE_COMPLETE", ""), pages("UPDATE_IN_PROGRESS"), of, lifecycle.Observation{Standing: true, Message: "is UPDATE_IN_PROGRESS"}},
		"one found broken":           {k("CREATE_COMPLETE", ""), pages("CHECK_FAILED"), of, lifecycle.Observation{Message: "is missing or broken: Heat finds it so, or somebody has marked it unhealthy"}},
		"one being deleted":          {k("CREATE_COMPLETE", ""), pages("DELETE_IN_PROGRESS"), of, lifecycle.Observation{Message: "is missing"}},
		"one not begun":              {k("CREATE_COMPLETE", ""), pages("INIT_COMPLETE"), of, lifecycle.Observation{Message: "is missing"}},
		"one that is not there":      {k("CREATE_COMPLETE", ""), nil, of, lifecycle.Observation{Message: "is missing"}},
		"one of a nested stack only": {k("CREATE_COMPLETE", ""), pages("")[:1], of, lifecycle.Observation{Message: "is missing"}},
	} {
		want := c.want
		want.Resource = c.of
		want.Storages = c.want.Storages
		if got := observed(c.k, c.all, c.of, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is observed as %+v, want %+v", name, got, want)
		}
	}
	with := lifecycle.Resource{Plural: pieces, Name: "VDU2", VDU: "two"}
	if got := observed(k("CREATE_COMPLETE", ""), grown(), with, vdus{"VDU2": "two"}); len(got.VNFCs) != 1 || got.VNFCs[0].Name != "server-2" {
		t.Errorf("a VDU is observed as %+v", got)
	}
	with.VDU = ""
	if got := observed(k("CREATE_COMPLETE", ""), grown(), with, vdus{"VDU2": "two"}); len(got.VNFCs) != 0 {
		t.Errorf("what runs no VDU is observed as %+v", got)
	}
}

// A VDU's resources are called as it is where there are such, or else as the resource that runs it.
func TestNamesOfVDUs(t *testing.T) {
	all := []lifecycle.Resource{{Name: "group", VDU: "VDU1"}, {Name: "solo", VDU: "two"}, {Name: "other"}}
	if got, want := called(all, grown()), (vdus{"VDU1": "VDU1", "solo": "two"}); !reflect.DeepEqual(got, want) {
		t.Errorf("VDUs are called %v, want %v", got, want)
	}
}
