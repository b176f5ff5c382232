package openstack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
)

// mark is the description of an application credential of the broker's: its
// owner, and, because Keystone does not keep it, its time of creation.
//
//	vimbroker vim=<uuid> lease=<uuid> issued=<RFC 3339>
//
// Later brokers rely on it: never change it.
type mark struct {
	vim    string
	lease  string // empty on a probe
	issued time.Time
}

func (m mark) String() string {
	return fmt.Sprintf("vimbroker vim=%s lease=%s issued=%s", m.vim, m.lease, m.issued.UTC().Format(time.RFC3339))
}

// readMark reads a description; false if it is not one of the broker's.
func readMark(description string) (mark, bool) {
	words := strings.Split(description, " ")
	if len(words) != 4 || words[0] != "vimbroker" {
		return mark{}, false
	}
	vim, okVIM := strings.CutPrefix(words[1], "vim=")
	lease, okLease := strings.CutPrefix(words[2], "lease=")
	at, okIssued := strings.CutPrefix(words[3], "issued=")
	issued, err := time.Parse(time.RFC3339, at)
	if !okVIM || !okLease || !okIssued || err != nil || uuid.Validate(vim) != nil || lease != "" && uuid.Validate(lease) != nil {
		return mark{}, false
	}
	return mark{vim: vim, lease: lease, issued: issued.UTC()}, true
}

// marked returns those of the objects asked for that a VIM's mark is on, and whether one of them is somebody else's.
func marked[T any](all []T, vim string, read func(T) (description string, asked bool)) (ours []T, foreign bool) {
	for _, one := range all {
		description, asked := read(one)
		if !asked {
			continue
		}
		if m, ok := readMark(description); ok && m.vim == vim {
			ours = append(ours, one)
		} else {
			foreign = true
		}
	}
	return ours, foreign
}

// foreign is the error of an object that has the name of one of the broker's and is not.
func foreign(what, handle string) error {
	return &broker.Error{
		Kind: broker.ErrConflict, Detail: what + " " + handle + " exists on the cloud and is not this VIM's",
		Remedy: "see whose it is, and delete it",
	}
}

// numbered is the name of a lease's nth application credential: the handle, then
// the handle with .2, .3 and so on, as a renewal makes another.
func numbered(handle string, n int) string {
	if n == 1 {
		return handle
	}
	return handle + "." + strconv.Itoa(n)
}

// number reads a name back: the handle and which of its credentials it is.
func number(name string) (handle string, n int) {
	handle, text, found := strings.Cut(name, ".")
	if !found {
		return name, 1
	}
	n, _ = strconv.Atoi(text)
	if n < 2 || numbered(handle, n) != name {
		return name, 1
	}
	return handle, n
}
