package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/drivers/sqlite"
)

func (p *program) dbCommand() *cobra.Command {
	return console.Group("db", "Prepare the database that several servers share",
		`These commands do not talk to a server. They read the server's configuration
file, and use the database that database.postgres names. They read no other file
that the configuration names, except the file of the connection string.`,
		`  vimbroker db status --config /etc/vimbroker/vimbroker.yaml
  vimbroker db migrate --config /etc/vimbroker/vimbroker.yaml
  vimbroker db copy --config /etc/vimbroker/vimbroker.yaml`,
		p.dbStatusCommand(),
		p.dbMigrateCommand(),
		p.dbCopyCommand(),
	)
}

// dbConfig gives a command the --config flag; run gets the file's configuration.
func (p *program) dbConfig(c *cobra.Command, run func(context.Context, config) error) *cobra.Command {
	var file string
	c.Args, c.ValidArgsFunction = console.Names(), cobra.NoFileCompletions
	c.RunE = func(c *cobra.Command, _ []string) error {
		if file == "" {
			return console.Usagef(c, "--config is required: the server's configuration file")
		}
		made, err := loadDatabase(file, p.Env)
		if err != nil {
			return err
		}
		if made.Database.Postgres == nil {
			return fmt.Errorf("%s names no database.postgres: the server keeps its state in %s, and sees to that by itself",
				file, made.databaseFile())
		}
		return run(c.Context(), made)
	}
	c.Flags().StringVar(&file, "config", "", "the server's configuration file")
	return c
}

// dbStatus is the output of "db status".
type dbStatus struct {
	Schema      int  `json:"schema"`
	SchemaKnown int  `json:"schemaKnown"`
	Current     bool `json:"current"`
	// Serves: a server of this version works on the database.
	Serves bool `json:"serves"`
}

func (p *program) dbStatusCommand() *cobra.Command {
	c := p.dbConfig(&cobra.Command{
		Use:   "status",
		Short: "Say whether the schema is this version's",
		Long: `Compare the schema of the database with the schema of this version. Fails
(exit code 1) if they differ, and says whether a server of this version can
still use the database. Also fails if the database does not answer.`,
		Example: "  vimbroker db status --config /etc/vimbroker/vimbroker.yaml -o json",
	}, func(ctx context.Context, c config) error {
		found, err := postgres.Status(ctx, c.Database.options(newLog(p.Err, c)))
		if err != nil {
			return err
		}
		s := dbStatus{found.Have, found.Known, found.Current(), found.Serves()}
		if err := p.Print(s, func(w io.Writer) {
			console.Row(w, "PART", "HAS", "NEEDS")
			console.Row(w, "schema", fmt.Sprint(s.Schema), fmt.Sprint(s.SchemaKnown))
		}); err != nil {
			return err
		}
		switch {
		case found.Newer() && found.Serves():
			return errors.New("a newer version migrated the database; this one works on it until it is replaced")
		case found.Newer():
			return errors.New("a newer version migrated the database, and this one cannot work on it; run the newer one")
		case !found.Current():
			return errors.New(`the schema is not up to date; run "vimbroker db migrate"`)
		}
		return nil
	})
	p.OutputFlag(c)
	return c
}

func (p *program) dbMigrateCommand() *cobra.Command {
	return p.dbConfig(&cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema up to date",
		Long: `Bring the schema to this version. Servers of the previous version keep running
and can restart, so run this with the new version first, then replace the
servers one by one. If the command is interrupted, repeat it. It does nothing
if the schema is already current.

Before version 1.0.0 no database is carried over from a version with another
schema: the command refuses one.`,
		Example: "  vimbroker db migrate --config /etc/vimbroker/vimbroker.yaml",
	}, func(ctx context.Context, c config) error {
		before, err := postgres.Migrate(ctx, c.Database.options(newLog(p.Err, c)))
		if err != nil {
			return err
		}
		if before.Current() || before.Newer() {
			_, err = fmt.Fprintf(p.Out, "schema %d: nothing to do\n", before.Have)
			return err
		}
		_, err = fmt.Fprintf(p.Out, "schema %d (was %d)\n", before.Known, before.Have)
		return err
	})
}

func (p *program) dbCopyCommand() *cobra.Command {
	var from string
	c := p.dbConfig(&cobra.Command{
		Use:   "copy",
		Short: "Copy a server's embedded database into PostgreSQL",
		Long: `Copy VIMs, leases, the list of keys to destroy, VNF packages and instances, and
the audit log of a stopped server into an empty PostgreSQL database: all of it
or nothing.
The command makes the schema, counts what it copied, and verifies the audit
log. It refuses while a server uses the embedded database, and if the
PostgreSQL database is not empty.

Keys are not in the database: the new servers need the key stores of the old
one, and the command refuses a configuration without one that has a key of a
VIM. Do not start a server on the embedded database again: two servers that
know the same credentials destroy each other's keys.`,
		Example: `  vimbroker db copy --config /etc/vimbroker/vimbroker.yaml \
      --from /var/lib/vimbroker/vimbroker.db`,
	}, func(ctx context.Context, c config) error {
		if from == "" {
			from = c.databaseFile()
		}
		if _, err := os.Stat(from); err != nil {
			return fmt.Errorf("finding the embedded database: %w; name it with --from", err)
		}
		source, err := sqlite.Open(ctx, sqlite.Options{Path: from})
		if err != nil {
			return err
		}
		var n postgres.Copied
		if err = c.hasKeysOf(ctx, source); err == nil {
			n, err = postgres.Copy(ctx, c.Database.options(newLog(p.Err, c)), source)
		}
		if err = errors.Join(err, source.Close()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.Out, "copied %s, %s, %s to destroy, %s, %s (verified)\n", console.Count(n["vims"], "VIM", "VIMs"),
			console.Count(n["leases"], "lease", "leases"), console.Count(n["retired_keys"], "key", "keys"),
			console.Count(n["vnf_packages"], "VNF package", "VNF packages"), console.Count(n["audit_entries"], "audit entry", "audit entries"))
		return err
	})
	c.Flags().StringVar(&from, "from", "", "the embedded database's file (default: vimbroker.db in dataDir)")
	return c
}

// hasKeysOf refuses a configuration without a key store that has a key of a VIM.
func (c config) hasKeysOf(ctx context.Context, source *sqlite.Store) error {
	var configured []string
	for _, k := range c.KeyStores {
		configured = append(configured, k.kinds()...)
	}
	if len(configured) == 0 {
		configured = []string{"keydir"}
	}
	keys, err := source.KeysInUse(ctx, "")
	if err != nil {
		return err
	}
	for _, k := range keys {
		if slices.Contains(configured, k.KeyStore) {
			continue
		}
		v, err := source.VIM(ctx, k.Owner.ID)
		switch {
		case errors.Is(err, broker.ErrNotFound): // a key that signs, or is only to be destroyed
		case err != nil:
			return err
		default:
			return fmt.Errorf("a key of VIM %s/%s is in key store %s, which keyStores does not name: add it there, "+
				`or start the server on the embedded database once more and run "vimbroker key migrate --to %s"`, v.Project, v.Name,
				k.KeyStore, configured[0])
		}
	}
	return nil
}
