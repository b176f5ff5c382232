package trust

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vimbroker/vimbroker/policy"
)

// Claims are the members of a token's payload.
type Claims map[string]any

const maxClaim = 256

// texts are claims that are one text each. A list in their place matches nobody.
var texts = []string{
	"iss", "sub", "jti", "azp", "client_id", "environment", "job_workflow_ref", "project_id", "project_path", "ref", "ref_protected",
	"repository", "repository_id", "serviceaccount", "uri", "dns", "email",
}

// find returns a claim; one whose name has dots may be within objects, as realm_access.roles.
func (c Claims) find(name string) (any, bool) {
	if v, ok := c[name]; ok {
		return v, true
	}
	outer, inner, dotted := strings.Cut(name, ".")
	if !dotted {
		return nil, false
	}
	within, ok := c[outer].(map[string]any)
	if !ok {
		return nil, false
	}
	return Claims(within).find(inner)
}

// text is a claim that is one text, a number or a truth value.
func (c Claims) text(name string) (string, bool) {
	v, ok := c.find(name)
	if !ok {
		return "", false
	}
	return scalar(v)
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// list is a claim that is a list of texts, or one text.
func (c Claims) list(name string) []string {
	v, _ := c.find(name)
	if many, ok := v.([]any); ok {
		var found []string
		for _, one := range many {
			if text, ok := one.(string); ok {
				found = append(found, text)
			}
		}
		return found
	}
	if text, ok := scalar(v); ok {
		return []string{text}
	}
	return nil
}

func (r Mapping) matches(c Claims) bool {
	for claim, pattern := range r.Match {
		if v, _ := c.find(claim); !matches(claim, pattern, v) {
			return false
		}
	}
	return len(r.Match) > 0
}

// matches reports whether a claim is as a pattern. Patterns are for texts; a list matches where it has the very text.
func matches(claim, pattern string, v any) bool {
	if many, isList := v.([]any); isList {
		return !slices.Contains(texts, claim) && slices.Contains(many, any(pattern))
	}
	text, ok := scalar(v)
	return ok && like(pattern, text)
}

// like reports whether a text is as a pattern, from its beginning to its end.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return text != "" || pattern != "*" // * alone is some text
}

var inBraces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([^{}]*)\}`) })

// templateClaims are the claims in a template; not ok if its braces make none.
func templateClaims(template string) (claims []string, ok bool) {
	for _, found := range inBraces().FindAllStringSubmatch(template, -1) {
		if found[1] == "" {
			return nil, false
		}
		claims = append(claims, found[1])
	}
	return claims, !strings.ContainsAny(inBraces().ReplaceAllString(template, ""), "{}")
}

// fill puts claims into a template. One that is missing, empty, a list, long or not printable makes nothing.
func fill(template string, c Claims) (string, bool) {
	filled := true
	text := inBraces().ReplaceAllStringFunc(template, func(in string) string {
		value, _ := c.text(in[1 : len(in)-1])
		if value == "" || len(value) > maxClaim || strings.ContainsFunc(value, unprintable) {
			filled = false
		}
		return value
	})
	return text, filled
}

func unprintable(r rune) bool { return !strconv.IsPrint(r) }

// names are the project and the name for people that a rule gives who has the claims; not ok if it cannot.
func (r Mapping) names(subject string, c Claims) (project, shown string, ok bool) {
	project, ok = fill(r.Project, c)
	if !ok || len(r.Projects) > 0 && !slices.Contains(r.Projects, project) {
		return "", "", false
	}
	if r.Name == "" {
		return project, subject, true
	}
	shown, ok = fill(r.Name, c)
	return project, shown, ok
}

// principal is the one that the first matching rule makes of claims, and which rule that is; not ok if none does.
func (e Authority) principal(subject string, c Claims) (p policy.Principal, rule int, ok bool) {
	for i, r := range e.Principals {
		if !r.matches(c) {
			continue
		}
		project, shown, ok := r.names(subject, c)
		if !ok {
			continue
		}
		return policy.Principal{
			Name: e.authenticator() + ":" + e.Name + ":" + escaped(subject), Project: project, Roles: slices.Clone(r.Roles),
			Claims: c.allowed(), Login: policy.Arrival{Shown: shown, Entry: e.Name},
		}, i, true
	}
	return policy.Principal{}, 0, false
}

// why says of each rule what keeps it from matching claims. The claims are of a token that has shown its issuer's
// signature.
func (e Authority) why(subject string, c Claims) []string {
	all := make([]string, len(e.Principals))
	for i, r := range e.Principals {
		var wrong []string
		for _, claim := range slices.Sorted(maps.Keys(r.Match)) {
			if v, there := c.find(claim); !there {
				wrong = append(wrong, claim+" is not in the token")
			} else if !matches(claim, r.Match[claim], v) {
				wrong = append(wrong, fmt.Sprintf("%s is %s, and must be %q", claim, shortly(v), r.Match[claim]))
			}
		}
		if _, _, ok := r.names(subject, c); !ok && len(wrong) == 0 {
			wrong = []string{"project and name need claims that the token does not have, or a project that is not among projects"}
		}
		all[i] = fmt.Sprintf("principals[%d]: %s", i, strings.Join(wrong, "; "))
	}
	return all
}

func shortly(v any) string {
	text, ok := scalar(v)
	if !ok {
		raw, _ := json.Marshal(v)
		text = string(raw)
	}
	return strconv.Quote(text[:min(len(text), maxClaim)])
}

// escaped is a subject as part of a name. Two subjects are never the same in it, whatever
// characters they have.
func escaped(subject string) string {
	var b strings.Builder
	for i := range len(subject) {
		switch c := subject[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._@-:/|+=~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		}
	}
	return b.String()
}

// allowed are the claims that policies may see.
func (c Claims) allowed() map[string][]string {
	seen := map[string][]string{}
	for name, many := range policy.ClaimNames {
		if _, one := c.text(name); !many && !one {
			continue
		}
		if values := c.list(name); len(values) > 0 {
			seen[name] = values
		}
	}
	return seen
}
