package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

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
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			return p.translate(file, flavour, with)
		},
	}
	c.Flags().StringVar(&flavour, "flavour", "", "deployment flavour (default: the descriptor's)")
	c.Flags().StringVar(&with.Level, "level", "", "instantiation level (default: the flavour's)")
	c.Flags().StringArrayVar(&inputs, "set", nil, "NAME=VALUE: value of an input (repeatable)")
	return c
}

// translate prints what the descriptor of a package is translated to.
func (p *program) translate(file *os.File, flavour string, with tosca.Options) error {
	about, err := file.Stat()
	if err != nil {
		return err
	}
	csar, err := vnfpkg.Open(file, about.Size(), vnfpkg.ArchiveLimits{})
	if err != nil {
		return err
	}
	vnfd, err := csar.Descriptor()
	if err != nil {
		return err
	}
	if flavour = cmp.Or(flavour, vnfd.DefaultFlavour); flavour == "" {
		flavour = slices.Min(slices.Collect(maps.Keys(vnfd.Flavours)))
	}
	top, err := csar.Topology(flavour)
	if err != nil {
		return err
	}
	if _, known := vnfd.Flavours[flavour].Levels[with.Level]; with.Level != "" && !known {
		return fmt.Errorf("flavour %s has no level %s", flavour, with.Level)
	}
	made, err := tosca.Translate(top, vnfd.Flavours[flavour], with)
	for _, text := range made.Warnings {
		p.Say("%s", text)
	}
	_, wrote := p.Out.Write(made.Manifests)
	return errors.Join(err, wrote)
}

// printManifests prints what instances of a package are made of on Kubernetes: its manifests, or its descriptor's.
func (p *program) printManifests(c *cobra.Command, id string, registry *client.Client) error {
	file, err := os.CreateTemp("", "vimbroker-package-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	size, err := registry.DownloadPackage(c.Context(), id, file)
	if err != nil {
		return err
	}
	csar, err := vnfpkg.Open(file, size, vnfpkg.ArchiveLimits{})
	if err != nil {
		return err
	}
	packed := csar.Paths("Files/kubernetes")
	if len(packed) == 0 {
		return p.translate(file, "", tosca.Options{Loose: true})
	}
	for _, path := range packed {
		text, err := csar.Read(path)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.Out, "---\n# %s\n%s\n", path, text); err != nil {
			return err
		}
	}
	return nil
}
