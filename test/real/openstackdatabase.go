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
)

// socket is where the database listens. A socket's path is at most 107 bytes long.
func (o *Cloud) socket() string { return o.file("sql") }

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
	// What else of the database is this cloud's own: the address, for the catalog.
	return o.sql(ctx, "update keystone.endpoint set url = '"+o.AuthURL+"'")
}

// snapshot is the file of the snapshot for the packages that are installed.
func (o *Cloud) snapshot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Package} ${Version}\n",
		"python3-keystone", "python3-heat", "mariadb-server-core").Output()
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
	for _, name := range []string{"keystone", "barbican", "heat"} {
		if err := o.sql(ctx, "create database "+name+" character set utf8mb3"); err != nil {
			return err
		}
	}
	keystone := func(args ...string) error {
		return o.run(ctx, "keystone-manage", append([]string{"--config-file", o.file("keystone/keystone.conf")}, args...)...)
	}
	done := make(chan error, 1)
	go func() {
		done <- o.run(ctx, python, filepath.Join(o.programs, "usr/bin/heat-manage"), "--config-file", o.file("heat.conf"), "db_sync")
	}()
	err := keystone("db_sync")
	if err == nil {
		err = keystone("bootstrap", "--bootstrap-password", openStackPassword, "--bootstrap-region-id", o.Region,
			"--bootstrap-public-url", o.AuthURL, "--bootstrap-internal-url", o.AuthURL, "--bootstrap-admin-url", o.AuthURL)
	}
	if err = errors.Join(err, <-done); err != nil {
		return err
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
