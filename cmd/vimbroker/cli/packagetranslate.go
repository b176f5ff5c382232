package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/lifecycle/tosca"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

func (p *program) packageTranslateCommand() *cobra.Command {
	var flavour string
	var with tosca.Options
	var inputs []string
	c := &cobra.Command{
		Use: "translate FILE", Short: "Print the manifests that a descriptor is translated to",
		Long: `Print the Kubernetes manifests that a descriptor is translated to: one of
Tacker's simple profile, or one whose VDUs are containers (SOL001). FILE is the
descriptor or a package. Nothing is uploaded. An instance of a package that has
neither manifests nor a chart is made of what is printed here.`,
		Example: "  vimbroker package translate vnfd.yaml --set image=registry.example.com/web:2",
		Args:    console.Names("FILE"), ValidArgsFunction: console.OnlyFirst(console.Files),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if with.Inputs, err = variablesOf(c, inputs); err != nil {
				return err
			}
			content, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			return p.translate(content, flavour, with, false)
		},
	}
	c.Flags().StringVar(&flavour, "flavour", "", "deployment flavour (default: the descriptor's)")
	c.Flags().StringVar(&with.Level, "level", "", "instantiation level (default: the flavour's)")
	c.Flags().StringArrayVar(&inputs, "set", nil, "NAME=VALUE: value of an input (repeatable)")
	return c
}

// translate prints what the descriptor of a package is translated to; of a stored one if instances are made of that.
func (p *program) translate(content []byte, flavour string, with tosca.Options, stored bool) error {
	csar, err := vnfpkg.Open(bytes.NewReader(content), int64(len(content)), vnfpkg.ArchiveLimits{})
	if err != nil {
		return err
	}
	if packed := csar.Paths("Files/kubernetes"); stored && len(packed) > 0 {
		return fmt.Errorf("the package has manifests of its own, which download writes: %s", strings.Join(packed, ", "))
	}
	vnfd, err := csar.Descriptor()
	if err != nil {
		return err
	}
	flavour = cmp.Or(flavour, vnfd.DefaultFlavour, slices.Min(slices.Collect(maps.Keys(vnfd.Flavours))))
	top, err := csar.Topology(flavour)
	if err != nil {
		return err
	}
	made, err := tosca.Translate(top, vnfd.Flavours[flavour], with)
	for _, text := range made.Warnings {
		p.Say("%s", text)
	}
	_, written := fmt.Fprintf(p.Out, "%s", made.Manifests)
	return errors.Join(err, written)
}

// printManifests prints what instances of a package are made of on Kubernetes.
func (p *program) printManifests(c *cobra.Command, id string, registry *client.Client) error {
	var content bytes.Buffer
	if _, err := registry.DownloadPackage(c.Context(), id, &content); err != nil {
		return err
	}
	return p.translate(content.Bytes(), "", tosca.Options{Loose: true}, true)
}
