package broker

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"time"
)

// minRSA is the size of the smallest RSA key that is accepted, in bits.
const minRSA = 2048

// normalize is the driver's, and refuses certificates that cannot work at all: without
// this, the VIM's answer would have to be guessed from.
func (b *Registry) normalize(d Driver, r Registration) (Target, Credential, error) {
	t, c, err := d.Normalize(r)
	if err != nil {
		return t, c, err
	}
	whole := ""
	switch {
	case !r.Kubeconfig.Empty():
		whole = "kubeconfig"
	case !r.CloudsYAML.Empty() && r.CACert == "":
		whole = "cloudsYaml"
	}
	if err := b.usableCA(cmp.Or(whole, "caCert"), t.CACert); err != nil {
		return t, c, err
	}
	if own := parseCertificates(c.ClientCertificate); len(own) > 0 {
		if err := b.usable(cmp.Or(whole, "credential.clientCertificate"), "the client certificate", own[0]); err != nil {
			return t, c, err
		}
	}
	return t, c, nil
}

// usableCA refuses a bundle of which no certificate is usable, with what is wrong with the first.
func (b *Registry) usableCA(field, bundle string) (first error) {
	for _, ca := range parseCertificates(bundle) {
		err := b.usable(field, "the CA certificate", ca)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// usable refuses a certificate that is out of date or has a weak key.
func (b *Registry) usable(field, what string, c *x509.Certificate) error {
	now := b.now()
	switch key, isRSA := c.PublicKey.(*rsa.PublicKey); {
	case now.After(c.NotAfter):
		return Invalid(field, "%s expired on %s; give one that is valid", what, c.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(c.NotBefore):
		return Invalid(field, "%s is valid only from %s; give one that is valid, or set the server's clock", what,
			c.NotBefore.UTC().Format(time.RFC3339))
	case isRSA && key.N.BitLen() < minRSA:
		return Invalid(field, "%s has an RSA key of %d bits; give one with at least %d", what, key.N.BitLen(), minRSA)
	}
	return nil
}

// warnUnverified notes in the log that a VIM's server is not verified: not every door can
// say it in its answer.
func (b *Registry) warnUnverified(ctx context.Context, v VIM) {
	if v.Current.Target.InsecureSkipVerify {
		b.log.WarnContext(ctx, "the server of this VIM is not verified; anyone on the network path can read the credential",
			"vim", v.ID, "name", v.Name)
	}
}

// CAExpiresAt is when the last certificate of the target's CA bundle expires; zero
// without a bundle.
func (t Target) CAExpiresAt() (last time.Time) {
	for _, c := range parseCertificates(t.CACert) {
		if c.NotAfter.After(last) {
			last = c.NotAfter
		}
	}
	return last
}

// parseCertificates reads what a driver wrote: certificates in PEM.
func parseCertificates(text string) (all []*x509.Certificate) {
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	return all
}
