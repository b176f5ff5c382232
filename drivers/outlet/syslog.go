package outlet

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/leodido/go-syslog/v4/rfc5424"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// SyslogOptions say which receiver gets lines.
type SyslogOptions struct {
	// Address is host:port. Receivers of TLS listen on 6514 (RFC 5425).
	Address string
	// Plain sends without TLS: everybody on the way reads, and can change, what is sent.
	Plain bool
	// CAFile holds the authorities (PEM) of the receiver's certificate; empty means the
	// system's. ServerName is the name in it, where that is not the host of Address.
	CAFile, ServerName string
	// CertFile and KeyFile are our certificate, where the receiver asks for one. All these
	// files are read for each connection.
	CertFile, KeyFile string
	// MsgID says what the lines are (RFC 5424, section 6.2.7), as "audit".
	MsgID string
	// Rules bound where the connection may lead.
	Rules *egress.Rules
	// Now dates messages; nil means time.Now.
	Now func() time.Time
}

// Validate returns what is wrong with the options, joined; it reads no file.
func (o SyslogOptions) Validate() error {
	var faults []error
	host, port, err := net.SplitHostPort(o.Address)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || host == "" {
		faults = append(faults, errors.New("address must be host:port, like syslog.example.org:6514"))
	}
	if o.Plain && (o.CAFile != "" || o.ServerName != "" || o.CertFile != "" || o.KeyFile != "") {
		faults = append(faults, errors.New("plain goes without caFile, serverName, certFile and keyFile"))
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		faults = append(faults, errors.New("certFile and keyFile go together"))
	}
	return errors.Join(faults...)
}

// Syslog sends lines as messages of RFC 5424 with facility 13 (log audit) and severity 5
// (notice), counted by octets (RFC 5425, section 4.3; RFC 6587, section 3.4.1).
//
// Syslog knows no acknowledgement: Send waits until the receiver's machine has
// acknowledged the bytes. The fate of the bytes after that is not known. When a
// connection has ended, the lines of the last Send over it are sent again over the next.
type Syslog struct {
	options SyslogOptions
	host    string
	turn    turn
	// The fields below belong to the holder of the turn.
	conn *syslogConn
	last []byte // messages of the last Send that succeeded
}

// NewSyslog returns an outlet to a syslog receiver; the first Send connects.
func NewSyslog(o SyslogOptions) *Syslog {
	if o.Now == nil {
		o.Now = time.Now
	}
	host, err := os.Hostname()
	if err != nil {
		host = "-"
	}
	return &Syslog{options: o, host: host, turn: newTurn()}
}

const syslogReceiver = "the syslog receiver"

// Send sends lines; see the package's comment.
func (s *Syslog) Send(ctx context.Context, lines [][]byte) error {
	messages, err := s.messages(lines)
	if err != nil {
		return err
	}
	return s.turn.take(ctx, syslogReceiver, func(ctx context.Context) error { return s.send(ctx, messages) })
}

// Close ends the connection.
func (s *Syslog) Close() error {
	return s.turn.take(context.Background(), syslogReceiver, func(context.Context) error {
		s.letGo()
		return nil
	})
}

func (s *Syslog) letGo() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

func (s *Syslog) send(ctx context.Context, messages []byte) error {
	if s.conn != nil && s.conn.ended.Load() {
		s.letGo()
	}
	text := messages
	if s.conn == nil {
		conn, err := s.connect(ctx)
		if err != nil {
			return remote.Explain(err, syslogReceiver)
		}
		s.conn = conn
		text = append(bytes.Clone(s.last), messages...)
	}
	if err := s.conn.deliver(ctx, text); err != nil {
		s.letGo()
		return remote.Explain(err, syslogReceiver)
	}
	s.last = messages
	return nil
}

// auditNotice is the priority of facility 13 and severity 5.
const auditNotice = 13*8 + 5

func (s *Syslog) messages(lines [][]byte) ([]byte, error) {
	at := s.options.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	var all []byte
	for _, line := range lines {
		m := new(rfc5424.SyslogMessage)
		m.SetPriority(auditNotice).SetVersion(1).SetTimestamp(at).SetHostname(s.host)
		m.SetAppname("vimbroker").SetProcID(strconv.Itoa(os.Getpid())).SetMsgID(s.options.MsgID).SetMessage(string(line))
		text, err := m.String()
		if err != nil {
			return nil, fmt.Errorf("making a syslog message: %w", err)
		}
		all = append(strconv.AppendInt(all, int64(len(text)), 10), ' ')
		all = append(all, text...)
	}
	return all, nil
}

// connect connects under the egress rules.
func (s *Syslog) connect(ctx context.Context) (*syslogConn, error) {
	plain, err := s.options.Rules.DialContext(ctx, "tcp", s.options.Address)
	if err != nil {
		return nil, err
	}
	c := &syslogConn{Conn: plain, plain: plain}
	if !s.options.Plain {
		config, err := s.tls()
		if err != nil {
			return nil, errors.Join(err, plain.Close())
		}
		secured := tls.Client(plain, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = plain.Close() // the first error says more
			return nil, err
		}
		c.Conn = secured
	}
	go c.watch()
	return c, nil
}

func (s *Syslog) tls() (*tls.Config, error) {
	host, _, err := net.SplitHostPort(s.options.Address)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if s.options.ServerName != "" {
		config.ServerName = s.options.ServerName
	}
	if s.options.CAFile != "" {
		text, err := os.ReadFile(s.options.CAFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", s.options.CAFile)
		}
	}
	if s.options.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(s.options.CertFile, s.options.KeyFile)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	return config, nil
}

// syslogConn is a connection to a receiver, which sends nothing.
type syslogConn struct {
	net.Conn
	plain net.Conn // without TLS
	ended atomic.Bool
}

// watch notices the end of the connection when it comes, not when the second write after
// it fails.
func (c *syslogConn) watch() {
	_, _ = io.Copy(io.Discard, c.Conn)
	c.ended.Store(true)
	_ = c.Close()
}

// deliver writes, and waits until the other machine has acknowledged every byte.
func (c *syslogConn) deliver(ctx context.Context, text []byte) error {
	if deadline, ok := ctx.Deadline(); ok {
		if err := c.SetWriteDeadline(deadline); err != nil {
			return err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.Write(text); err != nil {
		return err
	}
	if err := acknowledged(ctx, c.plain); err != nil {
		return err
	}
	if c.ended.Load() {
		return io.ErrUnexpectedEOF
	}
	return nil
}
