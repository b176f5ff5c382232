package broker

import (
	"fmt"
	"strings"
)

// Use is what stands on a VIM and is not a lease: as long as there is one the VIM is not deleted, and nobody begins to.
// The store writes it, in the transaction in which its owner begins to make the thing or has ended it.
type Use struct {
	Kind UseKind
	// Subject is the id of the thing, Project the one that owns it, Name what people call it; it may be empty.
	Subject, Project, Name string
}

// UseKind is the kind of thing that a [Use] is.
type UseKind string

// UseVNFInstance is a VNF instance that is instantiated, or that an operation works on.
const UseVNFInstance UseKind = "vnfInstance"

// nouns are what people call the kinds, of which there are several.
var nouns = map[UseKind]string{UseVNFInstance: "VNF instances"}

// MaxUses bounds the uses that [InUse] names.
const MaxUses = 5

// String names the use for people.
func (u Use) String() string {
	s := u.Subject
	if u.Name != "" {
		s = fmt.Sprintf("%q (%s)", u.Name, u.Subject)
	}
	return s + " of project " + u.Project
}

// InUse returns the [ErrConflict] of a VIM that things stand on: all of them, of which some are named, of one kind.
func InUse(some []Use, all int) error {
	var names []string
	for _, u := range some {
		names = append(names, u.String())
	}
	text := strings.Join(names, ", ")
	if more := all - len(some); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return &Error{Kind: ErrConflict, Detail: nouns[some[0].Kind] + " stand on the VIM: " + text, Next: NextEndUses}
}
