package real

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// socket is where the database listens. A socket's path is at most 107 bytes long.
func (o *Cloud) socket() string { return o.file("sql") }

// databaseURL is where a database is, as SQLAlchemy reads it.
func (o *Cloud) databaseURL(name string) string {
	return "mysql+pymysql://root@localhost/" + name + "?unix_socket=" + o.socket() + "&charset=utf8"
}

// startDatabase starts MariaDB with the schemas of Keystone and Heat in it, and
// Keystone's first administrator. They are made once per machine and version of
// the packages, and from then on unpacked from a snapshot of some 4 MB.
func (o *Cloud) startDatabase(ctx context.Context) error {
	snapshot, err := o.snapshot(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(snapshot); err != nil {
		if err := o.makeSnapshot(ctx, snapshot); err != nil {
			return err
		}
	} else if err := o.run(ctx, "tar", "-C", o.file("mysql"), "-xzf", snapshot); err != nil {
		return err
	}
	if err := o.startMariaDB(ctx); err != nil {
		return err
	}
	// What else of the database is this cloud's own: the address, for the catalog, and
	// the way to Nova's databases.
	statement := "update keystone.endpoint set url = '" + o.AuthURL + "'"
	if o.options.WithServers {
		for cell, name := range map[string]string{"cell0": "nova_cell0", "cell1": "nova"} {
			statement += "; update nova_api.cell_mappings set database_connection = '" + o.databaseURL(name) + "' where name = '" + cell + "'"
		}
	}
	return o.sql(ctx, statement)
}

// snapshot is the file of the snapshot for the packages that are installed.
func (o *Cloud) snapshot(ctx context.Context) (string, error) {
	ask := []string{"-W", "-f", "${Package} ${Version}\n", "python3-keystone", "python3-heat", "mariadb-server-core"}
	if o.options.WithServers {
		ask = append(ask, "python3-glance", "python3-neutron", "python3-nova")
	}
	out, err := exec.CommandContext(ctx, "dpkg-query", ask...).Output()
	if err != nil {
		return "", fmt.Errorf("asking for the versions of OpenStack's packages: %w", err)
	}
	settings, err := openStackFiles.ReadFile("openstack/my.cnf")
	if err != nil {
		return "", fmt.Errorf("reading the settings of the database: %w", err)
	}
	sum := sha256.Sum256(append(append(out, settings...), openStackPassword+o.Region...))
	return filepath.Join(o.programs, "database-"+hex.EncodeToString(sum[:8])+".tar.gz"), nil
}

// makeSnapshot makes the databases, packs them, and leaves them where they are.
func (o *Cloud) makeSnapshot(ctx context.Context, snapshot string) error {
	install := []string{"--defaults-file=" + o.file("my.cnf"), "--auth-root-authentication-method=normal", "--skip-test-db"}
	if err := o.run(ctx, "mariadb-install-db", install...); err != nil {
		return err
	}
	if err := o.startMariaDB(ctx); err != nil {
		return err
	}
	names := []string{"keystone", "barbican", "heat"}
	if o.options.WithServers {
		names = append(names, "placement", "glance", "neutron", "nova", "nova_api", "nova_cell0")
	}
	for _, name := range names {
		if err := o.sql(ctx, "create database "+name+" character set utf8mb3"); err != nil {
			return err
		}
	}
	keystone := func(args ...string) error {
		return o.run(ctx, "keystone-manage", append([]string{"--config-file", o.file("keystone/keystone.conf")}, args...)...)
	}
	others := [][]string{{filepath.Join(o.programs, "usr/bin/heat-manage"), "--config-file", o.file("heat.conf"), "db_sync"}}
	if o.options.WithServers {
		others = append(others,
			[]string{filepath.Join(o.programs, "usr/bin/glance-manage"), "--config-file", o.file("glance.conf"), "db_sync"},
			[]string{filepath.Join(o.programs, "usr/bin/neutron-db-manage"), "--config-file", o.file("neutron.conf"), "upgrade", "heads"},
			[]string{o.file("cells.py"), o.file("nova.conf"), o.databaseURL("nova_cell0")})
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for _, args := range others {
		group.Go(func() error { return o.run(groupCtx, python, args...) })
	}
	err := keystone("db_sync")
	if err == nil {
		err = keystone("bootstrap", "--bootstrap-password", openStackPassword, "--bootstrap-region-id", o.Region,
			"--bootstrap-public-url", o.AuthURL, "--bootstrap-internal-url", o.AuthURL, "--bootstrap-admin-url", o.AuthURL)
	}
	if err = errors.Join(err, group.Wait()); err != nil {
		return err
	}
	if o.options.WithServers {
		// A port is bound where an agent is known that lives: this one for ever.
		if err := o.sql(ctx, `insert into neutron.agents (id, agent_type, `+"`binary`"+`, topic, host, admin_state_up, created_at, started_at,
			heartbeat_timestamp, configurations, `+"`load`"+`) values (uuid(), 'Open vSwitch agent', 'neutron-openvswitch-agent', 'N/A', 'compute', 1,
			now(), now(), '2099-01-01', '{"tunnel_types": ["vxlan"], "tunneling_ip": "127.0.0.1", "datapath_type": "system"}', 0)`); err != nil {
			return err
		}
	}
	if err := o.sql(ctx, "shutdown"); err != nil {
		return err
	}
	select {
	case <-o.database.Done:
	case <-ctx.Done():
		return fmt.Errorf("waiting for MariaDB to end: %w", ctx.Err())
	}
	// Several processes may be at it: each packs its own, and the last one stays.
	packed := fmt.Sprintf("%s.%d", snapshot, os.Getpid())
	if err := o.run(ctx, "tar", "-C", o.file("mysql"), "-czf", packed, "."); err != nil {
		return err
	}
	if err := os.Rename(packed, snapshot); err != nil {
		return fmt.Errorf("keeping the snapshot of the database: %w", err)
	}
	return nil
}

func (o *Cloud) startMariaDB(ctx context.Context) error {
	var err error
	if o.database, err = o.begin("mariadb", "/usr/sbin/mariadbd", "--defaults-file="+o.file("my.cnf")); err != nil {
		return err
	}
	return o.database.Await(ctx, func(ctx context.Context) error { return o.sql(ctx, "select 1") })
}

func (o *Cloud) sql(ctx context.Context, statement string) error {
	return o.run(ctx, "mariadb", "--no-defaults", "-S", o.socket(), "-uroot", "-N", "-B", "-e", statement)
}

// run runs a program to its end.
func (o *Cloud) run(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	// By its full name: the caller's path is not the services'.
	path := name
	for _, dir := range []string{"/usr/bin", "/usr/sbin", "/bin"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && !filepath.IsAbs(name) {
			path = filepath.Join(dir, name)
			break
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = o.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("running %s: %w; its output ends with:\n%s", name, err, bytes.Join(lines[max(0, len(lines)-8):], []byte("\n")))
	}
	return nil
}
