package server

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/barbican"
)

// barbicanConfig is Barbican's options, as the file spells them.
type barbicanConfig struct {
	barbican.Options
	Auth keystoneLogin
}

func (b *barbicanConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"authURL":  d.Text(&b.AuthURL),
		"endpoint": d.Text(&b.Endpoint),
		"folder":   d.Text(&b.Folder),
		"caFile":   d.Text(&b.CAFile),
		"timeout":  d.Duration(&b.Timeout),
		"auth":     d.Section(b.Auth.fields(d)),
	}
}

func (b *barbicanConfig) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", b.CAFile)
	for _, err := range parts(b.with(b.Auth.load(d, at+".auth")).Validate()) {
		d.Fault(nil, at, "%v", err)
	}
}

// with returns the driver's options for a login.
func (b *barbicanConfig) with(auth keystoneLogin) barbican.Options {
	o := b.Options
	if a := auth.ApplicationCredential; a != nil {
		o.Auth.ApplicationCredential = &barbican.ApplicationCredential{ID: a.ID, SecretFile: a.SecretFile}
	}
	if p := auth.Password; p != nil {
		o.Auth.Password = &barbican.Password{
			UserID: p.UserID, Username: p.Username, UserDomainID: p.UserDomainID,
			ProjectID: p.ProjectID, Project: p.Project, ProjectDomainID: p.ProjectDomainID,
			PasswordFile: p.PasswordFile,
		}
	}
	return o
}

func (b *barbicanConfig) open(ctx context.Context, log *slog.Logger) (keyStore, error) {
	o := b.with(b.Auth)
	o.Log = log
	s, err := barbican.Open(o)
	if err != nil {
		return keyStore{}, fmt.Errorf("opening key store: %w", err)
	}
	return keyStore{s, nil, func() error {
		// The context of the server has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), remoteCloseTime)
		defer cancel()
		return s.Close(ctx)
	}}, nil
}
