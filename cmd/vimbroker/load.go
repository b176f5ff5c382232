package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/policy"
)

// load reads the files that the configuration names, and makes rules of its
// strings; it notes every fault.
func (c *config) load(d *document) {
	var err error
	if c.TLS.CertFile != "" && c.TLS.KeyFile != "" {
		d.permissions("tls.certFile", c.TLS.CertFile, writableByOthers)
		d.permissions("tls.keyFile", c.TLS.KeyFile, readableByOthers)
		if c.certificate, err = openCertificate(c.TLS.CertFile, c.TLS.KeyFile); err != nil {
			d.fault(nil, "tls", "%v", err)
		}
	}
	if c.TokensFile != "" {
		d.permissions("tokensFile", c.TokensFile, writableByOthers)
		if c.tokens, err = readTokens(c.TokensFile); err != nil {
			d.fault(nil, "tokensFile", "%v", err)
		}
	}
	if k := c.Callers.Keystone; k != nil {
		k.load(d, "callers.keystone")
	}
	if c.PolicyDir != "" {
		d.permissions("policyDir", c.PolicyDir, writableByOthers)
	}
	if c.policies, err = readPolicies(c.PolicyDir); err != nil {
		d.fault(nil, "policyDir", "%v", err)
	}
	c.Database.load(d)
	c.loadKeyStores(d)
	c.egress = c.egressRules(d)
}

// readPolicies loads the built-in policies with the *.cedar files of a directory,
// which may be empty.
func readPolicies(dir string) (*policy.Policies, error) {
	files := make(map[string][]byte)
	if dir != "" {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("reading policies: %w", err)
		}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() || strings.HasPrefix(name, ".") || filepath.Ext(name) != ".cedar" {
				continue
			}
			if files[name], err = readFile(filepath.Join(dir, name), nil); err != nil {
				return nil, fmt.Errorf("reading policies: %w", err)
			}
		}
	}
	return policy.Load(files)
}

// readTokens reads the callers' tokens:
//
//	tokens:
//	  - {name: alice, project: acme, roles: [member], sha256: 9f86d0…}
func readTokens(name string) (*policy.StaticTokens, error) {
	text, err := readFile(name, nil)
	if err != nil {
		return nil, err
	}
	d := &document{name: name}
	var tokens []policy.Token
	if root := d.parse(text); root != nil {
		d.mapping(root, "", fields{"tokens": func(n *yaml.Node, at string) {
			d.list(n, at, func(item *yaml.Node, path string) {
				var t policy.Token
				d.mapping(item, path, fields{
					"name":    d.text(&t.Name),
					"project": d.text(&t.Project),
					"roles":   d.texts(&t.Roles),
					"sha256":  d.text(&t.SHA256),
				})
				tokens = append(tokens, t)
			})
		}})
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s: lists no token, so nobody could call; make one with: vimbroker token new", name)
	}
	known, err := policy.NewStaticTokens(tokens)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return known, nil
}

// permissions notes a file that others can do with what only its owner should.
func (d *document) permissions(key, name string, fault func(string) string) {
	if s := fault(name); s != "" {
		d.fault(nil, key, "%s", s)
	}
}

// writableByOthers says so, with the remedy, if people besides the owner can
// change a file; it is silent about one that is not there.
func writableByOthers(name string) string {
	return loose(name, 0o022, "changed", "go-w")
}

// readableByOthers says so if a private file is open to everyone. The group may
// read: that is how orchestrators mount secrets.
func readableByOthers(name string) string {
	return loose(name, 0o027, "read or changed", "g-wx,o-rwx")
}

func loose(name string, bits os.FileMode, what, remedy string) string {
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm()&bits == 0 {
		return ""
	}
	return fmt.Sprintf("%s can be %s by others; run: chmod %s %s", name, what, remedy, name)
}
