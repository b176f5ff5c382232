package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
)

// chartFlags name a Helm chart of the package, and its values.
type chartFlags struct {
	path, values string
	names        []string
	newSecrets   bool
}

func (f *chartFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "chart", "",
		"a Helm chart: its .tgz or folder in the package, or a reference with a digest (oci://..., https://...)")
	c.Flags().StringVar(&f.values, "values", "", "file with values of the chart (YAML or JSON)")
	c.Flags().BoolVar(&f.newSecrets, "new-secrets", false, "let the chart replace Secrets whose content it makes up at random")
	c.Flags().StringArrayVar(&f.names, "replicas-value", nil,
		"VDU=NAME of the chart's value that is the VDU's number of instances (repeatable)")
}

// orderOf reads the order of manifests: waves, as in a package's order.yaml.
func orderOf(file string) ([]sol003.WaveRule, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var order struct {
		Waves []sol003.WaveRule `yaml:"waves"`
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&order); err != nil || order.Waves == nil {
		return nil, fmt.Errorf("%s holds no order: write waves as a list of {wave: NUMBER, kind: KIND, name: NAME, labels: {NAME: VALUE}}", file)
	}
	return order.Waves, nil
}

const orderUsage = "file that puts objects of the manifests into waves, as order.yaml of a package does"

// put writes the flags into a request.
func (f *chartFlags) put(c *cobra.Command, p *sol003.AdditionalParams) error {
	p.Chart, p.NewSecrets = f.path, f.newSecrets
	if f.values != "" {
		text, err := os.ReadFile(f.values)
		if err != nil {
			return err
		}
		var values map[string]any
		if err := yaml.Unmarshal(text, &values); err != nil {
			return fmt.Errorf("%s does not hold values of a chart: they are one mapping in YAML", f.values)
		}
		if p.ChartValues, err = json.Marshal(values); err != nil {
			return fmt.Errorf("%s holds keys that are no strings", f.values)
		}
	}
	type name struct {
		Replica string `json:"replica"`
	}
	names := map[string]name{}
	for _, given := range f.names {
		vdu, value, ok := strings.Cut(given, "=")
		if !ok || vdu == "" || value == "" {
			return console.Usagef(c, "--replicas-value takes VDU=NAME")
		}
		names[vdu] = name{value}
	}
	if len(names) == 0 {
		return nil
	}
	text, err := json.Marshal(names)
	p.ChartNames = text
	return err
}
