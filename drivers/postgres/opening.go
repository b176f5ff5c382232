package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbroker/vimbroker/broker"
)

// refusals are the answers that PostgreSQL refuses a connection or the first question
// with, by code, for the person who starts the server.
var refusals = map[string]struct{ detail, remedy string }{
	"28P01": {"the database refuses the password", "put the role's password into the connection string, or give the role that password"},
	"28000": {
		"the database lets nobody in as this role from this address",
		"add a line for role, database and address to pg_hba.conf; where it says hostssl, the connection string must ask for TLS",
	},
	"3D000": {"there is no such database", "make it with createdb, owned by the role, or correct its name in the connection string"},
	"08P01": {
		"a pooler before the database refuses the settings of a session",
		"connect to PostgreSQL itself, or set the pooler up as the runbook says",
	},
	"53300": {"the database has no connection left", "raise max_connections there, or lower maxConns of each server"},
	"57P03": {"the database is starting or stopping", "wait until it is up, and start again"},
	readOnly: {
		"the database is a standby, which takes no writes",
		"name the primary in the connection string, or all hosts and target_session_attrs=read-write",
	},
	diskFull: {"the disk of the database is full", "make space there"},
	"42501":  {"the role has no right to its tables", "make the role the owner of database and schema"},
}

// opening gives an error of the first connection its cause and its cure. The text of
// others is for callers, who are told neither.
func opening(err error) error {
	var known *broker.Error
	if !errors.As(err, &known) || known.Kind != broker.ErrUnavailable { //nolint:errorlint // a sentinel
		return err
	}
	say := func(detail, remedy string) error {
		return &broker.Error{Kind: known.Kind, Detail: detail, Remedy: remedy, Cause: known.Cause}
	}
	var (
		a       *answer
		name    *net.DNSError
		trust   *tls.CertificateVerificationError
		connect *pgconn.ConnectError
	)
	switch {
	case errors.As(err, &a):
		if r, ok := refusals[a.code]; ok {
			return say(r.detail, r.remedy)
		}
		return say(a.Error(), "see the database's log")
	case errors.As(err, &trust):
		return say("the database's certificate does not verify: "+trust.Err.Error(),
			"name its authority with sslrootcert in the connection string, and the host as its certificate does")
	case errors.As(err, &name):
		return say("the database's host name cannot be resolved", "correct the host in the connection string")
	case errors.Is(err, syscall.ECONNREFUSED):
		return say("the database refuses connections", "start it, or correct host and port in the connection string")
	case errors.Is(err, errNoConn), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return say("the database does not answer in time", "correct host and port in the connection string, and see that the network leads there")
	case errors.As(err, &connect) && strings.Contains(connect.Error(), "refused TLS"): // no sentinel
		return say("the database offers no TLS, which the connection string asks for",
			"turn ssl on in postgresql.conf, or say sslmode=disable for a database on this machine")
	}
	return err
}
