package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
)

// vimSource is the source of a VIM's facts on the command line.
type vimSource struct {
	configFile, kubeconfig, context, cloudsYAML, cloud string

	kind, endpoint, caFile, namespace string
	serverName                        string
	region, project, domain           string
	insecure                          bool
	credential                        credentialFlags
}

func (p *program) vimRegisterCommand() *cobra.Command {
	var s vimSource
	var r v1.Registration
	c := free.command(p, &cobra.Command{
		Use:   "register NAME",
		Short: "Register a VIM",
		Long: `Register a cluster or cloud under a name of its own in your project, or in that
of --project where policy lets you. The server connects to it and checks the
credential before it stores anything. The facts come from one of:

  --config-file  a VIM file of OpenStack Tacker, as it is
  --kubeconfig   a context of a kubeconfig; files that it names are read here
                 and sent along, but nothing in it is ever run
  --clouds-yaml  a cloud of a clouds.yaml
  --endpoint     the flags of this command

Secrets are read from files, or from standard input for the file "-"; never
from the command line, which every user of the machine can see.`,
		Example: `  vimbroker vim register --kubeconfig ~/.kube/config --context edge edge-1
  vimbroker vim register --config-file tacker-vim.yaml edge-1 --label site=north
  vimbroker vim register --endpoint https://10.0.0.10:6443 \
      --ca-cert-file ca.pem --bearer-token-file token edge-1
  vimbroker vim register --clouds-yaml clouds.yaml --cloud nfv \
      --ca-cert-file ca.pem cloud-1`,
	}, func(c *cobra.Command, name string, registry *client.Client) error {
		from, err := s.read(c, p)
		if err != nil {
			return err
		}
		from.Name, from.Description, from.Labels, from.Default = name, r.Description, r.Labels, r.Default
		from.Shared, from.SharedWith = r.Shared, r.SharedWith
		if c.Flags().Changed("project") {
			from.VIMProject = p.Project
		}
		if s.namespace != "" {
			from.Namespace = s.namespace
		}
		return answered(p.printVIM)(registry.RegisterVIM(c.Context(), from, ""))
	})
	flags := c.Flags()
	flags.StringVar(&s.configFile, "config-file", "", "VIM file of OpenStack Tacker")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig file")
	flags.StringVar(&s.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&s.endpoint, "endpoint", "", "URL of the API server or of Keystone")
	flags.StringVar(&s.kind, "type", "kubernetes", "with --endpoint: kubernetes or openstack")
	flags.StringVar(&s.namespace, "namespace", "", "namespace that clients start in")
	flags.StringVar(&r.Description, "description", "", "free text for people")
	flags.StringToStringVarP(&r.Labels, "label", "l", nil, "label, `key=value`; can be repeated")
	flags.BoolVar(&r.Shared, "shared", false, "let every project see and lease it")
	flags.StringArrayVar(&r.SharedWith, "share-with", nil, "let this `project` see and lease it; can be repeated")
	flags.BoolVar(&r.Default, "default", false, "use it where a lease request names no VIM")
	s.cloudFlags(c)
	s.trustFlags(c)
	s.credential.add(c)
	console.MustChoose(c, "type", "kubernetes", "openstack")
	p.OutputFlag(c)
	return c
}

// cloudFlags choose the part of a cloud that is the VIM.
func (s *vimSource) cloudFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&s.cloudsYAML, "clouds-yaml", "", "clouds.yaml file instead of endpoint, scope and credential (OpenStack)")
	flags.StringVar(&s.cloud, "cloud", "", "cloud of the clouds.yaml")
	flags.StringVar(&s.region, "region", "", "region (OpenStack)")
	flags.StringVar(&s.project, "cloud-project", "", "project on the cloud, by name (OpenStack)")
	flags.StringVar(&s.domain, "cloud-domain", "", "domain of user and project on the cloud, by name (OpenStack)")
}

// trustFlags say how the VIM's server is known.
func (s *vimSource) trustFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&s.caFile, "ca-cert-file", "",
		"PEM bundle that the VIM's certificate must chain to (default: the roots of the server's system)")
	flags.StringVar(&s.serverName, "server-name", "",
		"name that the VIM's certificate must have instead of the endpoint's host (empty: the host)")
	flags.BoolVar(&s.insecure, "insecure-skip-verify", false,
		"do NOT verify the VIM's certificate: anyone on the network path can read the credential")
}

// read makes a registration of the one source that is given.
func (s *vimSource) read(c *cobra.Command, p *program) (v1.Registration, error) {
	var given []string
	for _, flag := range []string{"config-file", "kubeconfig", "clouds-yaml", "endpoint"} {
		if c.Flags().Changed(flag) {
			given = append(given, "--"+flag)
		}
	}
	if len(given) != 1 {
		return v1.Registration{}, console.Usagef(c,
			"give one of --config-file, --kubeconfig, --clouds-yaml or --endpoint (given: %d)", len(given))
	}
	if err := s.stray(c, given[0]); err != nil {
		return v1.Registration{}, err
	}
	switch given[0] {
	case "--config-file":
		text, err := files.ReadFile(s.configFile, p.In)
		if err != nil {
			return v1.Registration{}, fmt.Errorf("reading the VIM file: %w", err)
		}
		r, err := files.ReadVIMFile(s.configFile, text)
		p.warnInsecure(err == nil && r.InsecureSkipVerify)
		return r, err
	case "--kubeconfig":
		text, err := p.kubeconfig(s.kubeconfig, s.context, s.insecure)
		return v1.Registration{Type: "kubernetes", Kubeconfig: text, InsecureSkipVerify: s.insecure}, err
	case "--clouds-yaml":
		text, err := s.clouds(p)
		if err != nil {
			return v1.Registration{}, err
		}
		p.warnInsecure(s.insecure)
		ca, err := s.cloudAuthorities(p, text)
		return v1.Registration{
			Type: "openstack", CloudsYAML: text, Cloud: s.cloud, CACert: ca, ServerName: s.serverName, InsecureSkipVerify: s.insecure,
		}, err
	}
	r := v1.Registration{
		Type: s.kind, Endpoint: s.endpoint, InsecureSkipVerify: s.insecure, ServerName: s.serverName,
		Region: s.region, Project: s.project, Domain: s.domain,
	}
	var err error
	if r.Credential, err = s.credential.read(p); err != nil {
		return r, err
	}
	p.warnInsecure(s.insecure)
	r.CACert, err = s.authorities(p)
	return r, err
}

// stray refuses flags that would be ignored beside the source that is given.
func (s *vimSource) stray(c *cobra.Command, source string) error {
	belongs := map[string]string{
		"context": "--kubeconfig", "cloud": "--clouds-yaml", "type": "--endpoint", "region": "--endpoint", "cloud-project": "--endpoint",
		"cloud-domain": "--endpoint", "ca-cert-file": "--endpoint or --clouds-yaml", "server-name": "--endpoint or --clouds-yaml",
		"insecure-skip-verify": "--endpoint, --kubeconfig or --clouds-yaml",
	}
	for _, flag := range s.credential.names() {
		belongs[flag] = "--endpoint"
	}
	for _, flag := range slices.Sorted(maps.Keys(belongs)) {
		if c.Flags().Changed(flag) && !strings.Contains(belongs[flag], source) {
			return console.Usagef(c, "--%s goes with %s, not with %s", flag, belongs[flag], source)
		}
	}
	if source == "--clouds-yaml" && s.cloud == "" {
		return console.Usagef(c, "--cloud is missing: name the cloud of the clouds.yaml")
	}
	return nil
}

// clouds reads the clouds.yaml, which the server looks into.
func (s *vimSource) clouds(p *program) (secret.Text, error) {
	text, err := files.ReadFile(s.cloudsYAML, p.In)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the clouds.yaml: %w", err)
	}
	return secret.NewText(string(text)), nil
}

// authorities reads the CA certificates; none given is an empty text.
func (s *vimSource) authorities(p *program) (string, error) {
	if s.caFile == "" {
		return "", nil
	}
	text, err := files.ReadFile(s.caFile, p.In)
	if err != nil {
		return "", fmt.Errorf("reading the CA certificates: %w", err)
	}
	return string(text), nil
}

// cloudAuthorities reads the CA certificates that belong to a clouds.yaml: those of the
// flag, or the file that the cloud names as cacert; without a clouds.yaml an empty flag means none.
func (s *vimSource) cloudAuthorities(p *program, text secret.Text) (string, error) {
	if s.caFile != "" || s.insecure || text.Empty() {
		return s.authorities(p)
	}
	name, ca, err := files.CloudAuthorities(s.cloudsYAML, s.cloud, []byte(text.Reveal()))
	if err == nil && name != "" {
		p.Warn("cloud %s names a CA file, whose certificates are sent along: %s", strictyaml.Printable(s.cloud), name)
	}
	return ca, err
}

// kubeconfig reads a context of a kubeconfig and says which files went along.
func (p *program) kubeconfig(name, context string, insecure bool) (secret.Text, error) {
	text, err := files.ReadFile(name, p.In)
	if err != nil {
		return secret.Text{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	k, err := files.ReadKubeconfig(name, context, insecure, text)
	if err != nil {
		return secret.Text{}, err
	}
	p.warnInsecure(insecure)
	if len(k.Inlined) > 0 {
		p.Warn("context %s names files, whose content is sent along: %s", strictyaml.Printable(k.Context), strings.Join(k.Inlined, ", "))
	}
	return k.Text, nil
}

// warnInsecure makes a server that is not verified visible.
func (p *program) warnInsecure(insecure bool) {
	if insecure {
		p.Warn("WARNING: the VIM's certificate is not verified; anyone on the network path can read the credential")
	}
}
