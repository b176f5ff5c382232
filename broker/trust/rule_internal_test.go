package trust

import (
	"strings"
	"testing"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"main", "main", true},
		{"main", "main2", false},
		{"main", "Main", false},
		{"*", "x", true},
		{"*", "", false},
		{"refs/*", "refs/", true},
		{"refs/*", "refs", false},
		{"*/main", "heads/main", true},
		{"*/main", "heads/main/x", false},
		{"a*a", "a", false}, // its end is not its beginning
		{"a*a", "aa", true},
		{"ab*b*", "ab", false}, // what it begins with is not in its middle
		{"*b*ab", "ab", false},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "a-c", false},
		{"a*b*b*c", "a-b-c", false}, // one b is not two
		{"a*b*b*c", "abbc", true},
		{"a*bc*b*", "a-b-bc", false}, // what comes later in the pattern comes later in the text
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("like(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}

// Every byte is itself or its number, so that no two subjects have one name.
func TestEscaped(t *testing.T) {
	plain := "azAZ09._@-:/|+=~"
	if got := escaped(plain); got != plain {
		t.Errorf("escaped(%q) = %q", plain, got)
	}
	for _, c := range "`{[^\x00 %*\"'\\" + "\x1f" {
		if got := escaped(string(c)); !strings.HasPrefix(got, "%") || len(got) != 3 {
			t.Errorf("escaped(%q) = %q", c, got)
		}
	}
	if got := escaped("é%2F/"); got != "%C3%A9%252F/" {
		t.Errorf("escaped() = %q", got)
	}
}

func TestAClaimIsFilledInOrNothingIs(t *testing.T) {
	claims := Claims{
		"user": "ann", "n": 7.0, "on": true, "list": []any{"a"}, "empty": "", "long": strings.Repeat("x", maxClaim+1), "most": strings.Repeat("x", maxClaim),
		"control": "a\x07", "delete": "a\x7f", "turned": "a\u202e", "in": map[string]any{"er": "x"}, "no.dots": "y",
	}
	for template, want := range map[string]string{
		"{user}-{n}-{on}": "ann-7-true", "{in.er}{no.dots}": "xy", "plain": "plain", "{most}": strings.Repeat("x", maxClaim),
	} {
		if got, ok := fill(template, claims); !ok || got != want {
			t.Errorf("fill(%q) = %q, %v", template, got, ok)
		}
	}
	for _, template := range []string{"{none}", "{list}", "{empty}", "{long}", "{control}", "{delete}", "{turned}", "{in}", "{in.none}", "{user.x}", "{user}{none}"} {
		if got, ok := fill(template, claims); ok {
			t.Errorf("fill(%q) = %q", template, got)
		}
	}
}

func TestAProjectIsAmongThoseThatMayBeChosen(t *testing.T) {
	claims := Claims{"tenant": "acme", "name": "Ann"}
	for _, c := range []struct {
		rule                   Mapping
		project, shown, wanted string
	}{
		{Mapping{Project: "core"}, "core", "s-1", "a project of its own"},
		{Mapping{Project: "{tenant}", Projects: []string{"ran", "acme"}, Name: "{name}"}, "acme", "Ann", "a listed project"},
		{Mapping{Project: "{tenant}", Projects: []string{"ran"}}, "", "", "no project that is not listed"},
		{Mapping{Project: "{none}", Projects: []string{"ran"}}, "", "", "no project of a claim that is not there"},
		{Mapping{Project: "p-{none}"}, "", "", "no project of half a name"},
		{Mapping{Project: "core", Name: "{none}"}, "core", "", "no name of a claim that is not there"},
	} {
		project, shown, ok := c.rule.names("s-1", claims)
		if project != c.project || shown != c.shown || ok != (c.shown != "") {
			t.Errorf("%s: %q, %q, %v", c.wanted, project, shown, ok)
		}
	}
}
