package server

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/helm"
	"github.com/vimbroker/vimbroker/drivers/helm/pull"
)

// chartsConfig says how Helm charts are had that are in no package.
type chartsConfig struct {
	// CAFile holds the authorities of the certificates of registries and repositories; empty means the system's.
	CAFile string
	// KeyringFile holds the keys that sign charts which no digest pins; empty: there have to be digests.
	KeyringFile string
	Logins      []pull.Login
}

// fields is the vocabulary of the key charts.
func (c *chartsConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"caFile":      d.Text(&c.CAFile),
		"keyringFile": d.Text(&c.KeyringFile),
		"logins": func(n *yaml.Node, at string) {
			d.List(n, at, func(item *yaml.Node, path string) {
				var l pull.Login
				d.Mapping(item, path, strictyaml.Fields{
					"host":         d.Text(&l.Host),
					"username":     d.Text(&l.User),
					"passwordFile": d.Text(&l.PasswordFile),
					"projects":     d.Texts(&l.Projects),
				})
				if l.Host == "" || l.User == "" || l.PasswordFile == "" || strings.ContainsAny(l.Host, "/@") {
					d.Fault(item, path, "needs host, like registry.example.com:5000, username and passwordFile")
				}
				c.Logins = append(c.Logins, l)
			})
		},
	}
}

// load looks at the files that are named.
func (c *chartsConfig) load(d *strictyaml.Document) {
	files.Authorities(d, "charts.caFile", c.CAFile)
	if c.KeyringFile != "" {
		files.Permissions(d, "charts.keyringFile", c.KeyringFile, files.WritableByOthers)
		if _, err := files.ReadNamed(c.KeyringFile); err != nil {
			d.Fault(nil, "charts.keyringFile", "%v", err)
		}
	}
	for _, l := range c.Logins {
		files.LoginFile(d, "charts.logins.passwordFile", l.PasswordFile)
	}
}

// options are those of the driver.
func (c *chartsConfig) options() helm.Options {
	return helm.Options{
		Program: []string{rendersCharts()}, KeyringFile: c.KeyringFile,
		Pull: pull.Options{CA: remote.Authorities{File: c.CAFile}, Logins: c.Logins},
	}
}
