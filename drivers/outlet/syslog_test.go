package outlet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/drivers/outlet"
	"github.com/vimbroker/vimbroker/policy/egress"
	"github.com/vimbroker/vimbroker/test/fakesyslog"
	"github.com/vimbroker/vimbroker/test/story"
)

func loopback() *egress.Rules {
	rules := egress.Default()
	rules.AllowLoopback = true
	return rules
}

// toSyslog returns an outlet to a receiver.
func toSyslog(t *testing.T, r *fakesyslog.Receiver) *outlet.Syslog {
	t.Helper()
	o := outlet.SyslogOptions{Address: r.Addr, Plain: r.CA == "", MsgID: "audit", Rules: loopback(), Now: func() time.Time { return noon }}
	if r.CA != "" {
		o.CAFile = story.WriteFile(t, "ca.pem", r.CA, 0o600)
	}
	mustDo(t, o.Validate())
	s := outlet.NewSyslog(o)
	t.Cleanup(func() { mustDo(t, s.Close()) })
	return s
}

func TestSyslogMessages(t *testing.T) {
	for name, r := range map[string]*fakesyslog.Receiver{"TLS": fakesyslog.New(t), "TCP": fakesyslog.NewPlain(t)} {
		t.Run(name, func(t *testing.T) {
			s := toSyslog(t, r)
			texts := []string{`{"a":"é\n"}`, `{"a":"` + strings.Repeat("x", 4000) + `"}`, `{"a":3}`}
			mustDo(t, s.Send(t.Context(), lines(texts[:2]...)))
			mustDo(t, s.Send(t.Context(), lines(texts[2])))
			for i, m := range r.Await(t, 3) {
				if m.Message == nil || *m.Message != texts[i] {
					t.Errorf("message %d is %v, want %.40q", i, m.Message, texts[i])
				}
				if *m.Facility != 13 || *m.Severity != 5 || m.Version != 1 || *m.Appname != "vimbroker" || *m.MsgID != "audit" || !m.Timestamp.Equal(noon) || m.Hostname == nil || m.ProcID == nil {
					t.Errorf("message %d is %+v", i, m)
				}
			}
		})
	}
}

// What was sent last over a connection that ended is sent again: the receiver's program
// may not have read it.
func TestSyslogRepeatsAfterABrokenConnection(t *testing.T) {
	r := fakesyslog.New(t)
	s := toSyslog(t, r)
	mustDo(t, s.Send(t.Context(), lines(`{"a":1}`)))
	mustDo(t, s.Send(t.Context(), lines(`{"a":2}`)))
	r.Await(t, 2)
	r.Drop()
	for s.Send(t.Context(), lines(`{"a":3}`)) != nil { // the end may be noticed only now
		if t.Context().Err() != nil {
			t.Fatal("it never connects again")
		}
	}
	var got []string
	for _, m := range r.Await(t, 4) {
		got = append(got, *m.Message)
	}
	if want := `[{"a":1} {"a":2} {"a":2} {"a":3}]`; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A receiver that takes the connection and reads nothing is noticed as soon as its
// machine takes no more.
func TestSyslogReceiverThatHangs(t *testing.T) {
	for name, r := range map[string]*fakesyslog.Receiver{"TLS": fakesyslog.New(t), "TCP": fakesyslog.NewPlain(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := toSyslog(t, r)
			r.Hang()
			many := slices.Repeat(lines(`{"large":"`+strings.Repeat("x", 7000)+`"}`), 1000) // more than both machines buffer
			for wait := time.Second; ; wait *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				began := time.Now()
				err := s.Send(ctx, many) // the write's deadline and that of its context end together
				took := time.Since(began)
				cancel()
				if err != nil && strings.Contains(err.Error(), "no time is left") && wait < time.Minute {
					continue // a busy machine had not yet written them as messages
				}
				if err == nil || !strings.Contains(err.Error(), "in time") && !strings.Contains(err.Error(), "takes too long") {
					t.Errorf("Send = %v, want that it takes too long", err)
				}
				if took > wait+4*time.Second {
					t.Errorf("Send took %v, with %v given", took, wait)
				}
				break
			}
			r.Heal()
			mustDo(t, s.Send(t.Context(), lines(`{"a":1}`)))
			r.Await(t, 1)
		})
	}
}

func TestSyslogRefusals(t *testing.T) {
	r := fakesyslog.New(t)
	ca := story.WriteFile(t, "ca.pem", r.CA, 0o600)
	other := story.WriteFile(t, "other.pem", fakesyslog.New(t).CA, 0o600)
	for name, c := range map[string]struct {
		o    outlet.SyslogOptions
		want string
	}{
		"not under the rules":    {outlet.SyslogOptions{Address: r.Addr, CAFile: ca, Rules: egress.Default()}, "egress rules refuse"},
		"another authority":      {outlet.SyslogOptions{Address: r.Addr, CAFile: other, Rules: loopback()}, "not signed by the given CA"},
		"another name":           {outlet.SyslogOptions{Address: r.Addr, CAFile: ca, ServerName: "siem", Rules: loopback()}, "another name"},
		"no TLS there":           {outlet.SyslogOptions{Address: closed(t), CAFile: ca, Rules: loopback()}, "refuses connections"},
		"no file of authorities": {outlet.SyslogOptions{Address: r.Addr, CAFile: ca + "x", Rules: loopback()}, "failed"},
	} {
		c.o.MsgID = "audit"
		s := outlet.NewSyslog(c.o)
		if err := s.Send(t.Context(), lines(`{"canary":1}`)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: Send = %v, want %q", name, err, c.want)
		}
		mustDo(t, s.Close())
	}
	if got := r.Messages(t); len(got) != 0 {
		t.Errorf("%d messages came all the same", len(got))
	}
}

func TestSyslogOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]outlet.SyslogOptions{
		"host:port":    {Address: "siem"},
		"goes without": {Address: "siem:514", Plain: true, CAFile: "ca"},
		"go together":  {Address: "siem:6514", CertFile: "cert"},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%+v) = %v, want %q", o, err, want)
		}
	}
}

// A receiver that lies cannot be told from one that does not: nothing here may wait for it.
func TestSyslogReceiverThatLies(t *testing.T) {
	r := fakesyslog.NewPlain(t)
	r.Lie()
	s := toSyslog(t, r)
	if err := s.Send(t.Context(), lines(`{"a":1}`)); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Send = %v", err)
	}
}
