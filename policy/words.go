package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"
	cedarast "github.com/cedar-policy/cedar-go/x/exp/ast"
)

// Grades are the values of [Wish.Grade], from the narrowest to the widest.
var Grades = []string{"bounded", "namespaces", "unbounded"}

// Typo is a word of a question that no policy could mean.
type Typo struct {
	// Field is "action", "kind", "role" or "grade".
	Field string
	Word  string
	// Nearest is the known word that is most like it; empty if none is.
	Nearest string
	// Known are all words that could stand there, sorted.
	Known []string
}

func (t *Typo) Error() string {
	if t.Field == "kind" {
		return fmt.Sprintf("the action is done to a %s, not to a %s; give one", strings.Join(t.Known, " or a "), t.Word)
	}
	text := fmt.Sprintf("%s %q is not known here", t.Field, t.Word)
	if t.Nearest != "" {
		return text + "; did you mean " + t.Nearest + "?"
	}
	return text + "; known: " + strings.Join(t.Known, ", ")
}

// Check returns a [*Typo] for a question with a word that no policy could mean: an action
// that does not exist or is not done to that kind of thing, a role that no policy asks
// for, a grade that does not exist.
func (p *Policies) Check(r Request) error {
	if err := p.CheckAction(r.Action); err != nil {
		return err
	}
	shape := p.actions[r.Action]
	if !slices.Contains(shape.kinds, r.Resource.Kind) {
		kinds := slices.Clone(shape.kinds)
		slices.Sort(kinds)
		return typo("kind", string(r.Resource.Kind), kinds)
	}
	roles := p.roles()
	for _, role := range r.Principal.Roles {
		if !slices.Contains(roles, role) {
			return typo("role", role, roles)
		}
	}
	if grade := r.Wish.Grade; grade != "" && !slices.Contains(Grades, grade) {
		return typo("grade", grade, Grades)
	}
	return nil
}

// CheckAction returns a [*Typo] for an action that is neither one of the schema nor one of others.
func (p *Policies) CheckAction(a Action, others ...Action) error {
	if _, ok := p.actions[a]; ok || slices.Contains(others, a) {
		return nil
	}
	return typo("action", string(a), slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(p.actions)), others...))))
}

// Usual is the kind of thing that a question about an action is about where it names none: the project, or what an action
// that is done to no project is done to. What is done to VIMs and leases alone is about the project, and [Policies.Check]
// refuses it: those must be named, as policies ask for their attributes.
func (p *Policies) Usual(a Action) Kind {
	kinds := slices.Sorted(slices.Values(p.actions[a].kinds))
	for _, of := range []Kind{KindProject, KindVIM, KindLease} {
		if slices.Contains(kinds, of) {
			return KindProject
		}
	}
	if len(kinds) == 0 {
		return KindProject
	}
	return kinds[0]
}

// roles are those that policies for callers ask for, sorted.
func (p *Policies) roles() []string {
	found := map[string]bool{}
	for _, c := range p.callers {
		for _, condition := range (*cedarast.Policy)(c.policy.AST()).Conditions {
			cedarast.Inspect(cedarast.NewNode(condition.Body), func(n cedarast.IsNode) bool {
				switch n := n.(type) {
				case cedarast.NodeTypeContains:
					rolesIn(n.BinaryNode, found)
				case cedarast.NodeTypeContainsAny:
					rolesIn(n.BinaryNode, found)
				case cedarast.NodeTypeContainsAll:
					rolesIn(n.BinaryNode, found)
				case cedarast.NodeTypeEquals:
					rolesIn(n.BinaryNode, found)
				}
				return true
			})
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// rolesIn notes the texts that principal.roles is compared with.
func rolesIn(n cedarast.BinaryNode, found map[string]bool) {
	other := n.Right
	if !isRoles(n.Left) {
		if other = n.Left; !isRoles(n.Right) {
			return
		}
	}
	cedarast.Inspect(cedarast.NewNode(other), func(n cedarast.IsNode) bool {
		if v, ok := n.(cedarast.NodeValue); ok {
			if text, ok := v.Value.(cedar.String); ok {
				found[string(text)] = true
			}
		}
		return true
	})
}

func isRoles(n cedarast.IsNode) bool {
	access, _ := n.(cedarast.NodeTypeAccess)
	v, _ := access.Arg.(cedarast.NodeTypeVariable)
	return access.Value == "roles" && v.Name == "principal"
}

func typo[T ~string](field, word string, known []T) *Typo {
	t := &Typo{Field: field, Word: word, Nearest: string(Nearest(word, known))}
	for _, k := range known {
		t.Known = append(t.Known, string(k))
	}
	return t
}

// Nearest is the known word that is most like another; empty if none is.
func Nearest[T ~string](word string, known []T) (nearest T) {
	best := 1 + len(word)/3 // so many letters may be other ones
	for _, k := range known {
		if d := distance(word, string(k)); d <= best {
			best, nearest = d-1, k
		}
	}
	return nearest
}

// Suggest ends a sentence about a word that nothing knows with the nearest known one; empty if none is near.
func Suggest[T ~string](word string, known []T) string {
	if near := Nearest(word, known); near != "" {
		return "; did you mean " + string(near) + "?"
	}
	return ""
}

// distance is the number of letters to insert, delete or replace to turn a into b
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
