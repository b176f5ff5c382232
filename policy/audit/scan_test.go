package audit

import (
	"strings"
	"testing"
	"time"
)

func sealedLine(f testing.TB, e Entry) []byte {
	f.Helper()
	line, err := Line(Seal("before", e))
	if err != nil {
		f.Fatal(err)
	}
	return line
}

var scanned = Entry{
	Seq: 7, Time: time.UnixMicro(1234567), Request: "r", Principal: "keystone:alice@d", Project: "north", Action: "lease:issue", Kind: "Lease",
	Resource: "c0a8", Outcome: Done, Detail: map[string]string{"vim": "edge 1", "a": "", "source": "10.0.0.1"},
}

// TestOrdinaryLinesAreScanned: what the log mostly holds needs no JSON.
func TestOrdinaryLinesAreScanned(t *testing.T) {
	empty := scanned
	empty.Detail = nil
	var s scanner
	for _, e := range []Entry{scanned, empty} {
		if l, ok := s.scan(sealedLine(t, e)); !ok || !l.whole || l.seq != 7 || l.previous != "before" || l.hash != Seal("before", e).Hash {
			t.Errorf("scan = %+v, %t", l, ok)
		}
	}
}

// FuzzScan compares what is scanned with what is decoded.
func FuzzScan(f *testing.F) {
	f.Add(sealedLine(f, scanned))
	f.Add(sealedLine(f, Entry{Seq: 1, Detail: map[string]string{"<": "&\u2028é\\\x7f"}}))
	line := string(sealedLine(f, scanned))
	for _, c := range [][2]string{
		{`"seq":7`, `"seq":07`},
		{`"seq":7`, `"seq":+7`},
		{`"seq":7`, `"seq":-7`},
		{`.234567Z`, `.2345670Z`},
		{`.234567Z`, `,234567Z`},
		{`1970-01-01`, `1970-02-30`},
		{`"a":"",`, `"a":"","a":"",`},
		{`"a":"",`, ``},
		{`"detail":{`, `"detail":{},"x":{`},
		{`"edge 1"`, `"edge\u00201"`},
		{`"edge 1"`, `"edge 1" `},
		{`"edge 1"`, `"edge 2"`},
		{`"edge 1"`, `"edge <"`},
		{`"edge 1"`, "\"edge \xff\""},
		{`"done"`, `1`},
		{`}`, `,}`},
	} {
		changed := strings.Replace(line, c[0], c[1], 1)
		if changed == line {
			f.Fatalf("%q is not in %s", c[0], line)
		}
		f.Add([]byte(changed))
	}
	f.Add([]byte(line + " "))
	f.Add([]byte(line[:len(line)-1]))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s scanner
		got, ok := s.scan(text)
		if !ok {
			return
		}
		e, err := ParseLine(text)
		if want := linkOf(e); err != nil || got != want {
			t.Errorf("%q is scanned as %+v; decoded it is %+v, %v", text, got, want, err)
		}
	})
}
