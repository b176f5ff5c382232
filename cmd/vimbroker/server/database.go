package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/job"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/broker/onboard"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/broker/session"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
)

// databaseConfig is where state is kept; none means one file in the data directory,
// for one server.
type databaseConfig struct{ Postgres *postgresConfig }

// postgresConfig is a database that several servers share.
type postgresConfig struct {
	// DSNFile holds the connection string; it is a secret.
	DSNFile string
	// MaxConns bounds this server's connections; absent means 20.
	MaxConns int
	// Migrate lets the server bring the schema up to date when it starts. Absent
	// means that it refuses to start until "db migrate" has.
	Migrate bool

	dsn secret.Text
}

func (c *databaseConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"postgres": files.Made(d, &c.Postgres, func(p *postgresConfig, d *strictyaml.Document) strictyaml.Fields {
			return strictyaml.Fields{"dsnFile": d.Text(&p.DSNFile), "maxConns": d.Count(&p.MaxConns), "migrate": d.Flag(&p.Migrate)}
		}),
	}
}

// load reads the connection string, and notes every fault. It asks no database.
func (c *databaseConfig) load(d *strictyaml.Document) {
	p := c.Postgres
	if p == nil {
		return
	}
	const at = "database.postgres"
	text := files.LoginFile(d, at+".dsnFile", p.DSNFile)
	if text == "" {
		return
	}
	p.dsn = secret.NewText(text)
	if err := c.options(nil).Validate(); err != nil {
		d.Fault(nil, at, "%v", err)
	}
}

func (c *databaseConfig) options(log *slog.Logger) postgres.Options {
	p := c.Postgres
	return postgres.Options{DSN: p.dsn, Reread: p.reread, MaxConns: p.MaxConns, Migrate: p.Migrate, Log: log}
}

// reread returns the connection string that is in the file now.
func (c *postgresConfig) reread() (secret.Text, error) {
	text, err := files.ReadNamed(c.DSNFile)
	if err != nil {
		return secret.Text{}, err
	}
	defer clear(text)
	return secret.NewText(string(bytes.TrimSpace(text))), nil
}

// elsewhere reports whether the connection strings lead to different databases.
// Their other settings apply from the next connection on.
func (c *databaseConfig) elsewhere(other databaseConfig) bool {
	return c.Postgres != nil && other.Postgres != nil && !postgres.SameDatabase(c.options(nil), other.options(nil))
}

// dsn is empty without PostgreSQL.
func (c *databaseConfig) dsn() secret.Text {
	if c.Postgres == nil {
		return secret.Text{}
	}
	return c.Postgres.dsn
}

// named is the file's section on the database, without the content of the files that
// it names.
func (c *databaseConfig) named() any {
	if c.Postgres == nil {
		return nil
	}
	return [...]any{c.Postgres.DSNFile, c.Postgres.MaxConns, c.Postgres.Migrate}
}

// store holds a server's state, and the queue of its passes.
type store interface {
	broker.Store
	onboard.Store
	catalog.Store
	oauth.Store
	oauth.TokenKeyStore
	trust.Store
	session.Store
	grant.Store
	asset.Store
	lifecycle.Store
	subscription.Store
	bundle.Store
	// Now is the time by the clock that all who write to the store share.
	Now() time.Time
	Run(ctx context.Context, passes []broker.Pass, log *slog.Logger, workers ...job.Worker) error
	Close() error
}

func openStore(ctx context.Context, c config, log *slog.Logger) (store, error) {
	if c.Database.Postgres != nil {
		s, err := postgres.Open(ctx, c.Database.options(log))
		if err != nil {
			return nil, advised(err)
		}
		return s, nil
	}
	return sqlite.Open(ctx, sqlite.Options{Path: c.databaseFile(), Log: log})
}

// advised adds the command to an error that a migration ends.
func advised(err error) error {
	var known *broker.Error
	if errors.As(err, &known) && known.Next == broker.NextMigrate {
		return fmt.Errorf(`%w: run "vimbroker db migrate", or set database.postgres.migrate`, err)
	}
	return err
}

// databaseFile is the path of the embedded store.
func (c *config) databaseFile() string { return filepath.Join(c.DataDir, "vimbroker.db") }
