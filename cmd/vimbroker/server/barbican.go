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
type barbicanConfig struct{ barbican.Options }

func (b *barbicanConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"authURL":  d.Text(&b.AuthURL),
		"endpoint": d.Text(&b.Endpoint),
		"folder":   d.Text(&b.Folder),
		"caFile":   d.Text(&b.CAFile),
		"timeout":  d.Duration(&b.Timeout),
		"auth":     d.Section(loginFields(&b.Auth, d)),
	}
}

func (b *barbicanConfig) load(d *strictyaml.Document, at string) {
	files.Authorities(d, at+".caFile", b.CAFile)
	o := b.Options
	o.Auth = loadLogin(d, at+".auth", o.Auth)
	for _, err := range parts(o.Validate()) {
		d.Fault(nil, at, "%v", err)
	}
}

func (b *barbicanConfig) open(ctx context.Context, log *slog.Logger) (keyStore, error) {
	o := b.Options
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
