package broker

// Rule allows verbs on resources: what a lease may do in place of a role. The
// fields have the meaning of a Kubernetes PolicyRule (rbac.authorization.k8s.io/v1):
// "" among APIGroups is the core group, "pods/log" among Resources is a
// subresource, an empty ResourceNames means every name, and "*" means all.
type Rule struct {
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Verbs         []string `json:"verbs"`
}

// Grade says how far a lease's holder can go beyond the lease's own rules.
type Grade string

// The grades, from the narrowest to the widest. A lease from before grades were
// computed has none.
const (
	// GradeBounded: the holder can do what the rules say, and become nobody else.
	GradeBounded Grade = "bounded"
	// GradeNamespaces: the holder can become any identity of the lease's
	// namespaces, which outlives the lease where that identity does.
	GradeNamespaces Grade = "namespaces"
	// GradeUnbounded: the holder can become an identity that may do anything.
	GradeUnbounded Grade = "unbounded"
)

// wider returns the wider of two grades; the empty grade is the narrowest.
func (g Grade) wider(than Grade) bool { return gradeWidth[g] > gradeWidth[than] }

var gradeWidth = map[Grade]int{GradeBounded: 1, GradeNamespaces: 2, GradeUnbounded: 3}
