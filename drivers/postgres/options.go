package postgres

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// Options say where the database is.
type Options struct {
	// DSN is a connection string as libpq reads it: postgres://… or key=value
	// pairs. If the server is another machine the string must decide about TLS (sslmode
	// require, verify-ca, verify-full or disable): the default of libpq, prefer, falls
	// back to plain text.
	DSN secret.Text
	// Reread returns the current connection string; nil: it never changes. It is called
	// before each connection, so a new password, user or certificate needs no new
	// Store. While the new string cannot be used, or leads to another database, the
	// previous one is used.
	Reread func() (secret.Text, error)
	// MaxConns bounds the connections of this process, 8 or more; 0 means 20.
	MaxConns int
	// Migrate lets Open bring the schema up to date; otherwise it refuses a
	// database where that is still to be done.
	Migrate bool
	// Now tells the time; nil means the database's clock.
	Now func() time.Time
	// Log is told what the store does by itself (migrations); nil is silent.
	Log *slog.Logger
}

const (
	defaultConns = 20
	// fewestConns leaves some to requests while passes and jobs are at work.
	fewestConns = 8

	// connectLimit bounds making a connection, and waiting for one.
	connectLimit = 5 * time.Second
	// pingLimit bounds asking a connection that was idle whether it still works.
	pingLimit = 2 * time.Second
	// callLimit bounds one read or write as a whole, also where the database or the
	// network has fallen silent.
	callLimit = 20 * time.Second
)

// sessionLimits are the timeouts that the database enforces by itself. A client that
// stops in the middle of a transaction is cut off before the clients that wait for its
// locks give up.
var sessionLimits = map[string]time.Duration{
	"idle_in_transaction_session_timeout": 4 * time.Second,
	"lock_timeout":                        10 * time.Second,
	"statement_timeout":                   15 * time.Second,
}

func (o *Options) complete() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxConns == 0 {
		o.MaxConns = defaultConns
	}
}

// Validate says what is wrong with the options, without asking any database. It
// does not repeat any of the connection string.
func (o Options) Validate() error {
	o.complete()
	_, err := o.pool()
	return err
}

// pool reads the connection string. Its errors do not repeat any of it.
func (o *Options) pool() (*pgxpool.Config, error) {
	if o.MaxConns < fewestConns {
		return nil, broker.Invalid("maxConns", "must be %d or more", fewestConns)
	}
	if o.DSN.Empty() {
		return nil, broker.Invalid("dsn", "no database is named")
	}
	c, err := pgxpool.ParseConfig(o.DSN.Reveal())
	var file *fs.PathError // of sslrootcert, sslcert or sslkey
	if errors.As(err, &file) {
		return nil, broker.Invalid("dsn", "names a file for TLS (sslrootcert, sslcert or sslkey) that cannot be read: %s: %v", file.Path,
			file.Err)
	}
	if err != nil {
		return nil, broker.Invalid("dsn", "is not a connection string, like postgres://vimbroker@db.example/vimbroker?sslmode=verify-full")
	}
	if fallsBack(c.ConnConfig) {
		return nil, broker.Invalid("dsn", "must say sslmode=verify-full (or require, verify-ca, disable): without it, or with prefer and "+
			"allow, the connection may fall back to plain text")
	}
	c.MaxConns = int32(o.MaxConns)
	c.PingTimeout = pingLimit
	if c.ConnConfig.ConnectTimeout == 0 || c.ConnConfig.ConnectTimeout > connectLimit {
		c.ConnConfig.ConnectTimeout = connectLimit
	}
	p := c.ConnConfig.RuntimeParams
	if p["application_name"] == "" {
		p["application_name"] = "vimbroker"
	}
	p["timezone"] = "UTC"
	for name, limit := range sessionLimits {
		p[name] = strconv.FormatInt(limit.Milliseconds(), 10)
	}
	return c, nil
}

// fallsBack reports whether a connection to another machine may be tried without
// TLS when it fails with.
func fallsBack(c *pgx.ConnConfig) bool {
	secured, plain := c.TLSConfig != nil, c.TLSConfig == nil && !local(c.Host)
	for _, f := range c.Fallbacks {
		secured = secured || f.TLSConfig != nil
		plain = plain || f.TLSConfig == nil && !local(f.Host)
	}
	return secured && plain
}

// local reports whether a host is a socket's directory or this machine.
func local(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// where names the server and the database, for people.
func where(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}
