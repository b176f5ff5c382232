package server

import (
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/keystone"
	"github.com/vimbroker/vimbroker/drivers/openstack"
)

// loginFields are the vocabulary of the broker's own login at a Keystone.
func loginFields(l *keystone.Auth, d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"applicationCredential": files.Made(d, &l.ApplicationCredential, func(
			a *keystone.ApplicationCredential, d *strictyaml.Document,
		) strictyaml.Fields {
			return strictyaml.Fields{"id": d.Text(&a.ID), "secretFile": d.Text(&a.SecretFile)}
		}),
		"password": files.Made(d, &l.Password, func(p *keystone.Password, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{
				"userID":          d.Text(&p.UserID),
				"username":        d.Text(&p.Username),
				"userDomainID":    d.Text(&p.UserDomainID),
				"projectID":       d.Text(&p.ProjectID),
				"project":         d.Text(&p.Project),
				"projectDomainID": d.Text(&p.ProjectDomainID),
				"passwordFile":    d.Text(&p.PasswordFile),
			}
		}),
	}
}

// loadLogin notes the faults of the files. It returns the login with placeholders for
// those files, so that no fault is reported twice.
func loadLogin(d *strictyaml.Document, at string, l keystone.Auth) keystone.Auth {
	if a := l.ApplicationCredential; a != nil {
		files.LoginFile(d, at+".applicationCredential.secretFile", a.SecretFile)
		named := *a
		named.SecretFile = "given"
		l.ApplicationCredential = &named
	}
	if p := l.Password; p != nil {
		files.LoginFile(d, at+".password.passwordFile", p.PasswordFile)
		named := *p
		named.PasswordFile = "given"
		l.Password = &named
	}
	return l
}

// keystoneCallers is the Keystone whose tokens are taken.
type keystoneCallers struct{ openstack.CallersOptions }

func (k *keystoneCallers) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", k.CAFile)
	o := k.CallersOptions
	o.Login = loadLogin(d, at+".auth", o.Login)
	if (o.Login.ApplicationCredential != nil) == (o.Login.Password != nil) {
		d.Fault(nil, at+".auth", "must be exactly one of applicationCredential and password")
		return
	}
	for _, err := range parts(o.Validate()) {
		d.Fault(nil, at, "%v", err)
	}
}
