package rebuild

import (
	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
)

// Fault returns the first fault of a document as the broker's error; nil if there is none.
func Fault(d *strictyaml.Document) error {
	if len(d.Faults) == 0 {
		return nil
	}
	f := d.Faults[0]
	if f.Line > 0 {
		return broker.Invalid(f.At, "%s (line %d)", f.Text, f.Line)
	}
	return broker.Invalid(f.At, "%s", f.Text)
}
