package broker

import (
	"context"
	"errors"
)

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
	// GradeUnbounded: the holder can become an identity that may do anything, or
	// make itself credentials without end.
	GradeUnbounded Grade = "unbounded"
)

// ErrBeyondGrant is the cause of an error of [Driver] Issue: the VIM let the fresh lease do more
// than it was granted.
var ErrBeyondGrant = errors.New("beyond its grant")

// Graded is a grant as it takes effect, and what its holder can become.
type Graded struct {
	// Grant has its scope filled in: namespaces, or ClusterWide.
	Grant Grant
	Grade Grade
	// Reasons are sentences, one for each way in which the holder can go beyond the
	// rules; those that reach farthest come first. Bounded has none.
	Reasons []string
}

// Grader is a driver that computes what the holder of a lease can become. A driver
// that is none issues leases without a grade, which the default
// policies keep for administrators.
type Grader interface {
	// Grade looks at what the grant means on that VIM now. It makes nothing. A role or
	// namespace that the VIM does not have is ErrInvalid with the field; of a grant that
	// is Held, it gives nothing, and is no error. It is called for every lease, and for every
	// further credential of one, before policy decides, so it answers from memory where
	// it can; what it remembers is at most a few minutes old.
	Grade(ctx context.Context, a Access, g Grant) (Graded, error)
}

// Foreseer is a driver that knows of some leases without asking the VIM that Issue would refuse them.
type Foreseer interface {
	// Foresee is the error that Issue would return, as far as the generation's first check has shown;
	// nil says nothing. It is for questions alone: what the check saw may have changed.
	Foresee(a Access, g Grant) error
}

// Tidier is a driver that keeps something on the VIM for all leases of one grant.
type Tidier interface {
	// Tidy removes what the driver keeps for g and its Epoch. No lease of that grant and
	// epoch is live, and none will be issued again. Idempotent.
	Tidy(ctx context.Context, a Access, g Grant) error
}

// Inspector is a driver that finds objects that are not ours beside those that are.
type Inspector interface {
	// Foreign lists what could be used to act as a lease of this VIM, or to outlive one,
	// and was made by somebody else, and what was made for VIMs that are not known: one
	// sentence each, at most 100.
	Foreign(ctx context.Context, a Access, known func(vim string) bool) ([]string, error)
}
