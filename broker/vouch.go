package broker

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Vouched is what the owner of a VIM says of it, and nobody here can see. It is sealed with the credential, since it
// decides what others get.
type Vouched struct {
	// SharedKinds are kinds that every project which uses the VIM may have in a VNF, although nobody here knows them or
	// they reach a network of nodes: "slices.ran.example.com", or with some of its types
	// "network-attachment-definitions.k8s.cni.cncf.io=bridge,macvlan". Sorted, with a space between two.
	SharedKinds string
	// PodsHeldBy names the admission that keeps pods from their nodes in namespaces that enforce no level of Pod
	// Security: a word for people, as "kyverno". Empty says nothing.
	PodsHeldBy string
}

const (
	// maxSharedKinds bounds the kinds that a VIM shares, maxKindTypes the types of one.
	maxSharedKinds = 100
	maxKindTypes   = 32
)

var (
	kindName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([a-z0-9][a-z0-9.-]{0,252}|[A-Z][A-Za-z0-9]*(::[A-Za-z0-9]+)+)$`)
	})
	typeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`) })
)

// vouched is what is said of a VIM of a type with the change.
func (c Change) vouched(t Type, now Vouched) (Vouched, error) {
	if by := c.PodsHeldBy; by != nil {
		switch {
		case !t.Rules:
			return now, Invalid("podsHeldBy", "is not known to VIMs of type %s", t.Name)
		case *by != "" && !typeName().MatchString(*by):
			return now, Invalid("podsHeldBy", "must be a name of 1 to 63 letters, digits and -._, or empty")
		}
		now.PodsHeldBy = *by
	}
	if c.SharedKinds == nil {
		return now, nil
	}
	if len(*c.SharedKinds) > maxSharedKinds {
		return now, Invalid("sharedKinds", "names more than %d kinds", maxSharedKinds)
	}
	all := map[string][]string{}
	for _, entry := range *c.SharedKinds {
		kind, list, narrowed := strings.Cut(entry, "=")
		types := strings.Split(list, ",")
		if !kindName().MatchString(kind) || narrowed && (len(types) > maxKindTypes ||
			slices.ContainsFunc(types, func(t string) bool { return !typeName().MatchString(t) })) {
			return now, Invalid("sharedKinds", "must hold kinds as rules write them, with or without types: PLURAL.GROUP[=TYPE,...]")
		}
		if _, twice := all[kind]; twice {
			return now, Invalid("sharedKinds", "names a kind twice")
		}
		if narrowed {
			slices.Sort(types)
			all[kind] = slices.Compact(types)
		} else {
			all[kind] = nil
		}
	}
	var kinds []string
	for kind, types := range all {
		if types != nil {
			kind += "=" + strings.Join(types, ",")
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	now.SharedKinds = strings.Join(kinds, " ")
	return now, nil
}

func (v Vouched) Kinds() []string { return strings.Fields(v.SharedKinds) }

// Shares reports whether an object of a kind is one that every project may have; types are those that it says it is.
func (v Vouched) Shares(kind string, types []string) bool {
	for _, entry := range v.Kinds() {
		name, list, narrowed := strings.Cut(entry, "=")
		if name != kind {
			continue
		}
		shared := strings.Split(list, ",")
		return !narrowed || len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !slices.Contains(shared, t) })
	}
	return false
}
