package server

import (
	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/openstack"
)

// keystoneLogin is the broker's own login at a Keystone: exactly one field is
// set.
type keystoneLogin struct {
	ApplicationCredential *struct{ ID, SecretFile string }
	Password              *keystonePassword
}

// keystonePassword names the user and the project, each by its id or by its name
// and its domain's id.
type keystonePassword struct {
	UserID, Username, UserDomainID      string
	ProjectID, Project, ProjectDomainID string
	PasswordFile                        string
}

func (l *keystoneLogin) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"applicationCredential": func(n *yaml.Node, at string) {
			l.ApplicationCredential = new(struct{ ID, SecretFile string })
			d.Mapping(n, at, strictyaml.Fields{"id": d.Text(&l.ApplicationCredential.ID), "secretFile": d.Text(&l.ApplicationCredential.SecretFile)})
		},
		"password": func(n *yaml.Node, at string) {
			l.Password = new(keystonePassword)
			d.Mapping(n, at, strictyaml.Fields{
				"userID":          d.Text(&l.Password.UserID),
				"username":        d.Text(&l.Password.Username),
				"userDomainID":    d.Text(&l.Password.UserDomainID),
				"projectID":       d.Text(&l.Password.ProjectID),
				"project":         d.Text(&l.Password.Project),
				"projectDomainID": d.Text(&l.Password.ProjectDomainID),
				"passwordFile":    d.Text(&l.Password.PasswordFile),
			})
		},
	}
}

// load notes the faults of the files. It returns the login with placeholders for
// those files, so that no fault is reported twice.
func (l keystoneLogin) load(d *strictyaml.Document, at string) keystoneLogin {
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
type keystoneCallers struct {
	openstack.CallersOptions
	Auth keystoneLogin
}

func (k *keystoneCallers) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", k.CAFile)
	auth := k.Auth.load(d, at+".auth")
	if (auth.ApplicationCredential != nil) == (auth.Password != nil) {
		d.Fault(nil, at+".auth", "must be exactly one of applicationCredential and password")
		return
	}
	for _, err := range parts(k.with(auth).Validate()) {
		d.Fault(nil, at, "%v", err)
	}
}

// with returns the driver's options for a login.
func (k *keystoneCallers) with(auth keystoneLogin) openstack.CallersOptions {
	o := k.CallersOptions
	if a := auth.ApplicationCredential; a != nil {
		o.Login = openstack.CallersLogin{ApplicationCredentialID: a.ID, SecretFile: a.SecretFile}
	}
	if p := auth.Password; p != nil {
		o.Login = openstack.CallersLogin{
			UserID: p.UserID, Username: p.Username, SecretFile: p.PasswordFile,
			Scope: broker.Scope{
				UserDomainID: p.UserDomainID, ProjectID: p.ProjectID, ProjectName: p.Project, ProjectDomainID: p.ProjectDomainID,
			},
		}
	}
	return o
}
