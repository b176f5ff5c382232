package server

import (
	"fmt"
	"time"

	"github.com/vimbroker/vimbroker/broker/delivery"
	"github.com/vimbroker/vimbroker/broker/notary"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// auditConfig is the configuration of the audit log.
type auditConfig struct {
	// Egress bounds where sinks and anchors may be.
	Egress egressConfig
	// Sinks get every entry.
	Sinks []sinkConfig
	// Anchors get every checkpoint.
	Anchors []outletConfig

	rules *egress.Rules // of Egress
}

// sinkConfig is an outlet for the whole log.
type sinkConfig struct {
	outletConfig
	Mode delivery.Mode
	// Within bounds how far behind the sink may be.
	Within time.Duration
	// CloudEvents has a webhook get what becomes of the VIMs of clusters, in place of the log.
	CloudEvents bool
}

const (
	maxSinks = 8
	// defaultRequiredWithin and defaultBestEffortWithin apply if the file sets nothing.
	defaultRequiredWithin   = 5 * time.Minute
	defaultBestEffortWithin = 24 * time.Hour
	// minWithin leaves time for a replica to take over from one that died.
	minWithin = 30 * time.Second
)

// fields is the vocabulary of the key audit.
func (a *auditConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"egress":  d.Section(a.Egress.fields(d)),
		"anchors": files.Listed(d, &a.Anchors, (*outletConfig).fields),
		"sinks":   files.Listed(d, &a.Sinks, (*sinkConfig).fields),
	}
}

func (s *sinkConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	allowed := s.outletConfig.fields(d)
	allowed["mode"], allowed["within"], allowed["cloudEvents"] = d.Text((*string)(&s.Mode)), d.Duration(&s.Within), d.Flag(&s.CloudEvents)
	return allowed
}

// validate notes every fault that can be told without opening a file, and fills in absent values.
func (a *auditConfig) validate(d *strictyaml.Document) {
	var err error
	if a.rules, err = a.Egress.rules(); err != nil {
		d.Fault(nil, "audit.egress", "%v", err)
	}
	if len(a.Sinks) > maxSinks {
		d.Fault(nil, "audit.sinks", "must be at most %d", maxSinks)
	}
	if len(a.Anchors) > maxSinks {
		d.Fault(nil, "audit.anchors", "must be at most %d", maxSinks)
	}
	anchors := map[string]bool{}
	for i := range a.Anchors {
		o, at := &a.Anchors[i], fmt.Sprintf("audit.anchors[%d]", i)
		o.validate(d, at)
		if anchors[o.Name] {
			d.Fault(nil, at+".name", "is the name of another anchor")
		}
		anchors[o.Name] = true
	}
	seen := map[string]bool{}
	for i := range a.Sinks {
		s, at := &a.Sinks[i], fmt.Sprintf("audit.sinks[%d]", i)
		s.outletConfig.validate(d, at)
		if seen[s.Name] {
			d.Fault(nil, at+".name", "is the name of another sink")
		}
		seen[s.Name] = true
		switch s.Mode {
		case delivery.Required, delivery.BestEffort:
		default:
			d.Fault(nil, at+".mode", "must be required or bestEffort")
		}
		if s.CloudEvents && s.Kind != "webhook" {
			d.Fault(nil, at+".cloudEvents", "goes with kind webhook alone")
		}
		switch {
		case s.Within == 0 && s.Mode == delivery.Required:
			s.Within = defaultRequiredWithin
		case s.Within == 0:
			s.Within = defaultBestEffortWithin
		case s.Within < minWithin:
			d.Fault(nil, at+".within", "must be at least %v", minWithin)
		}
	}
}

// load looks at the files that sinks and anchors name.
func (a *auditConfig) load(d *strictyaml.Document) {
	for i := range a.Anchors {
		a.Anchors[i].load(d, fmt.Sprintf("audit.anchors[%d]", i))
	}
	for i := range a.Sinks {
		a.Sinks[i].load(d, fmt.Sprintf("audit.sinks[%d]", i))
	}
}

// named is the file's own text, for telling whether it changed.
func (a *auditConfig) named() any { return [...]any{a.Egress, a.Sinks, a.Anchors} }

// openAnchors makes the anchors; it connects nowhere.
func (a *auditConfig) openAnchors() ([]notary.Anchor, error) {
	var anchors []notary.Anchor
	for _, o := range a.Anchors {
		to, err := o.open(a.rules, "checkpoint")
		if err != nil {
			return nil, err
		}
		anchors = append(anchors, notary.Anchor{Name: o.Name, Outlet: to})
	}
	return anchors, nil
}

// open makes the sinks; it connects nowhere.
func (a *auditConfig) open() ([]delivery.Destination, error) {
	var sinks []delivery.Destination
	for _, s := range a.Sinks {
		to, err := s.open(a.rules)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, delivery.Destination{Name: s.Name, Mode: s.Mode, Within: s.Within, Outlet: to})
	}
	return sinks, nil
}

// open makes the sink's outlet; it connects nowhere.
func (s *sinkConfig) open(rules *egress.Rules) (delivery.Outlet, error) {
	if !s.CloudEvents {
		return s.outletConfig.open(rules, "audit")
	}
	e, err := outlet.NewEvents(s.webhook(rules))
	if err != nil {
		return nil, fmt.Errorf("opening the webhook %s: %w", s.Name, err)
	}
	return e, nil
}
