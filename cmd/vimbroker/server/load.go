package server

import (
	"fmt"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/policy"
)

// load reads the files that the configuration names, and makes rules of its
// strings; it notes every fault.
func (c *config) load(d *strictyaml.Document) {
	var err error
	if c.TLS.CertFile != "" && c.TLS.KeyFile != "" {
		files.Permissions(d, "tls.certFile", c.TLS.CertFile, files.WritableByOthers)
		files.Permissions(d, "tls.keyFile", c.TLS.KeyFile, files.ReadableByOthers)
		if c.certificate, err = openCertificate(c.TLS.CertFile, c.TLS.KeyFile); err != nil {
			d.Fault(nil, "tls", "%v", err)
		}
	}
	if c.TokensFile != "" {
		files.Permissions(d, "tokensFile", c.TokensFile, files.WritableByOthers)
		if c.tokens, err = readTokens(c.TokensFile); err != nil {
			d.Fault(nil, "tokensFile", "%v", err)
		}
	}
	c.loadTrust(d)
	if c.PolicyDir != "" {
		files.Permissions(d, "policyDir", c.PolicyDir, files.WritableByOthers)
	}
	if c.policies, err = files.SitePolicies(c.PolicyDir); err != nil {
		d.Fault(nil, "policyDir", "%v", err)
	}
	c.SOL003.Notifications.load(d)
	c.Charts.load(d)
	files.Authorities(d, "sol003.vnfmCAFile", c.SOL003.VNFMCAFile)
	if files.Authorities(d, issuerKey, c.IssuerCAFile) != nil {
		text, _ := files.ReadNamed(c.IssuerCAFile) // a fault is noted above
		c.issuerPEM = remote.Certificates(string(text))
	}
	c.signers = files.Authorities(d, "sol003.signersFile", c.SOL003.SignersFile)
	c.Database.load(d)
	c.loadKeyStores(d)
	c.Audit.load(d)
	c.egress = c.egressRules(d)
}

// readTokens reads the callers' tokens:
//
//	tokens:
//	  - {name: alice, project: acme, roles: [member], sha256: 9f86d0…}
//	  - {name: bob, project: acme, roles: [reader], sha256: 60303a…, previousSHA256: fd61a0…, expiresAt: 2027-01-31T12:00:00Z}
func readTokens(name string) (*policy.StaticTokens, error) {
	text, err := files.ReadNamed(name)
	if err != nil {
		return nil, err
	}
	d := &strictyaml.Document{Name: name}
	var tokens []policy.StaticToken
	if root := d.Parse(text); root != nil {
		d.Mapping(root, "", strictyaml.Fields{"tokens": files.Listed(d, &tokens, func(
			t *policy.StaticToken, d *strictyaml.Document,
		) strictyaml.Fields {
			return strictyaml.Fields{
				"name":           d.Text(&t.Name),
				"project":        d.Text(&t.Project),
				"roles":          d.Texts(&t.Roles),
				"sha256":         d.Text(&t.SHA256),
				"previousSHA256": d.Text(&t.PreviousSHA256),
				"expiresAt":      files.Moment(d, &t.ExpiresAt, "2027-01-31T12:00:00Z"),
			}
		})})
	}
	if err := d.Err(); err != nil {
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
