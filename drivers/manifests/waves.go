package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// orderFile is the name of a file among the manifests that puts their objects into waves. A file of that name with an
// object in it is a manifest.
const orderFile = "order.yaml"

// isOrder reports whether a document is the order of a package.
func (d document) isOrder() bool {
	return path.Base(d.file) == orderFile && child(d.root, "kind") == nil && child(d.root, "waves") != nil
}

// waves reads the order of a package.
func (d document) waves() ([]lifecycle.WaveRule, error) {
	content, err := d.value(d.root, nil, false)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return nil, d.fault(nil, "holds what JSON cannot say")
	}
	var order struct {
		Waves []lifecycle.WaveRule `json:"waves"`
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(&order) != nil {
		return nil, d.fault(nil, "is no order: write waves as a list of {wave: NUMBER, kind: KIND, name: NAME, labels: {NAME: VALUE}}")
	}
	for i, rule := range order.Waves {
		if says := rule.Fault(); says != "" {
			return nil, d.fault(nil, "rule %d of the order %s", i+1, says)
		}
	}
	return order.Waves, nil
}

// orders reports whether a rule is about an object.
func orders(rule lifecycle.WaveRule, o *object) bool {
	if rule.Kind != "" && rule.Kind != o.Kind || rule.Name != "" && rule.Name != o.Name {
		return false
	}
	labels := mapAt(o.content, "metadata", "labels")
	for name, value := range rule.Labels {
		if text(labels, name) != value || labels[name] == nil {
			return false
		}
	}
	return true
}

// putIntoWaves gives objects the wave of the first rule that is about them: one of the request, or else of the package.
// The others keep their own. A rule about no object is a fault, named by where it stands.
func putIntoWaves(all []*object, request, packaged []lifecycle.WaveRule) error {
	rules := append(append([]lifecycle.WaveRule(nil), request...), packaged...)
	used := make([]bool, len(rules))
	for _, o := range all {
		placed := false
		for i, rule := range rules {
			if !orders(rule, o) {
				continue
			}
			if used[i] = true; !placed {
				o.wave, placed = rule.Wave, true
			}
		}
	}
	for i := range rules {
		switch {
		case used[i]:
		case i < len(request):
			return broker.Invalid("additionalParams.order", "rule %d is about no object of the package", i+1)
		default:
			return &broker.Error{
				Kind: broker.ErrInvalid, Detail: fmt.Sprintf("%s: rule %d is about no object of the package", orderFile, i-len(request)+1),
			}
		}
	}
	return nil
}
