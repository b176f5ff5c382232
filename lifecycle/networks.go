package lifecycle

import (
	"fmt"
	"strings"

	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

const maxNotDone = 20 // lines; the last then counts those left out

// Networker is a driver that knows which virtual links and connection points of a descriptor the files of a package make.
type Networker interface {
	// Networks are the names of those resources of networks that an instance of s gets.
	Networks(s Source) (map[string]bool, error)
}

// connect records the networks that are asked for and not made. A request without links keeps those of before.
func (s *Shape) connect(d Driver, of Source, f vnfpkg.Flavour, managed []string) {
	var made map[string]bool
	if n, is := d.(Networker); is {
		made, _ = n.Networks(of) // the plan says what is wrong with the files
	}
	s.Unmade = nil
	for _, one := range f.Networks {
		if _, name, _ := strings.Cut(one, " "); !made[name] {
			s.Unmade = append(s.Unmade, vnfpkg.Printable(one))
		}
	}
	if managed != nil {
		s.Managed = managed
	}
}

// NotDone are sentences about networks that the descriptor and the request ask for, and that nothing is done about.
func (s Shape) NotDone() (lines []string) {
	for _, name := range s.Unmade {
		lines = append(lines, "the VNFD's "+name+" is not made: only what the package's files make is")
	}
	for _, id := range s.Managed {
		lines = append(lines, "extManagedVirtualLinks: "+vnfpkg.Printable(id)+" is not used: no virtual link of others is taken")
	}
	if more := len(lines) - maxNotDone; more > 0 {
		lines = append(lines[:maxNotDone-1], fmt.Sprintf("and %d more", more+1))
	}
	return lines
}
