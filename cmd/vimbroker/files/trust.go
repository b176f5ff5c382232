package files

import (
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
)

// TrustEntry is one entry of the table of trust, with the files that it names.
type TrustEntry struct {
	trust.Authority
	KeysFile, CAFile, ClientCAFile, CRLFile string
}

// Fields is the vocabulary of one.
func (t *TrustEntry) Fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"name":       d.Text(&t.Name),
		"issuer":     d.Text(&t.Issuer),
		"vim":        d.Text(&t.VIM),
		"audience":   d.Text(&t.Audience),
		"algorithms": d.Texts(&t.Algorithms),
		"keysFile":   d.Text(&t.KeysFile),
		"caFile":     d.Text(&t.CAFile),
		"type":       d.Text(&t.Type),
		"maxLife":    d.Duration(&t.MaxLife),
		"once":       d.Flag(&t.Once),
		"platform":   d.Text(&t.Platform),
		"hold":       d.Duration(&t.Hold),
		"login": Made(d, &t.Login, func(l *trust.Signin, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{"clientID": d.Text(&l.ClientID), "scopes": d.Texts(&l.Scopes)}
		}),
		"certificates": Made(d, &t.Certificates, func(_ *trust.Certificates, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{"caFile": d.Text(&t.ClientCAFile), "crlFile": d.Text(&t.CRLFile)}
		}),
		"principals": Listed(d, &t.Principals, func(r *trust.Mapping, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{
				"match": Words(d, &r.Match), "name": d.Text(&r.Name), "project": d.Text(&r.Project),
				"projects": d.Texts(&r.Projects), "roles": d.Texts(&r.Roles),
			}
		}),
	}
}

// Load reads the files of the entry, and notes their faults with the key in front.
func (t *TrustEntry) Load(d *strictyaml.Document, key string) {
	read := func(to *string, field, name string) {
		if name == "" {
			return
		}
		Permissions(d, key+field, name, WritableByOthers)
		text, err := ReadNamed(name)
		if err != nil {
			d.Fault(nil, key+field, "%v", err)
		}
		*to = string(text)
	}
	if t.CAFile != "" && Authorities(d, key+"caFile", t.CAFile) != nil {
		text, _ := ReadNamed(t.CAFile) // a fault is noted above
		t.CA = remote.Certificates(string(text))
	}
	read(&t.Keys, "keysFile", t.KeysFile)
	if t.Certificates == nil {
		return
	}
	if t.ClientCAFile == "" {
		d.Fault(nil, key+"certificates.caFile", "must name the file of the authorities")
	}
	read(&t.Certificates.CA, "certificates.caFile", t.ClientCAFile)
	read(&t.Certificates.CRL, "certificates.crlFile", t.CRLFile)
}

// Trust reads an entry as the configuration has it.
func Trust(file string, text []byte) (trust.Authority, error) {
	d := &strictyaml.Document{Name: file}
	root := d.Parse(text)
	if root == nil {
		return trust.Authority{}, d.Err()
	}
	var t TrustEntry
	d.Mapping(root, "", t.Fields(d))
	t.Load(d, "")
	return t.Authority, d.Err()
}
