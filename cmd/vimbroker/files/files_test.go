package files

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/test/real/pki"
)

// put writes a file of a directory, and returns its name.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// said is the text of an error, or none.
func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A file is read whole up to a size, and one that breaks off is an error.
func TestAFileIsReadWholeUpToASize(t *testing.T) {
	dir := t.TempDir()
	most := strings.Repeat("x", maxFile)
	for name, test := range map[string]struct {
		file string
		in   io.Reader
		want string
		size int
	}{
		"as large as may be": {put(t, dir, "most", most), nil, "", maxFile},
		"a byte more":        {put(t, dir, "more", most+"x"), nil, dir + "/more: larger than 1048576 bytes", 0},
		"standard input":     {"-", strings.NewReader("in"), "", 2},
		"input that ends":    {"-", iotest.ErrReader(errors.New("it broke")), "reading -: it broke", 0},
		"no file":            {dir + "/none", nil, "open " + dir + "/none: no such file or directory", 0},
		"a directory":        {dir, nil, "reading " + dir + ": read " + dir + ": is a directory", 0},
	} {
		if text, err := ReadFile(test.file, test.in); said(err) != test.want || len(text) != test.size {
			t.Errorf("%s: %d bytes, %v; want %d, %q", name, len(text), err, test.size, test.want)
		}
	}
	if _, err := ReadNamed(dir); said(err) != dir+" is not a regular file; name a file" {
		t.Errorf("a directory that is named: %v", err)
	}
}

// The authorities of a cloud stand at one place of its clouds.yaml; its file may begin with the home.
func TestTheAuthoritiesOfACloudStandAtOnePlace(t *testing.T) {
	home := t.TempDir()
	file := put(t, home, "ca.pem", pemCA)
	for name, test := range map[string]struct{ text, home, file, want string }{
		"of the home":        {"clouds: {lab: {cacert: ~/ca.pem}}", home, file, ""},
		"without a home":     {"clouds: {lab: {cacert: ~/ca.pem}}", "", "", "c.yaml: cacert of cloud lab: $HOME is not defined"},
		"of another cloud":   {"clouds: {other: {cacert: " + file + "}, lab: {}}", home, "", ""},
		"of other clouds":    {"others: {lab: {cacert: " + file + "}}\nclouds: {}", home, "", ""},
		"of no cloud":        {"clouds: {lab: {}}\nlab: {cacert: " + file + "}", home, "", ""},
		"another file":       {"clouds: {lab: {cert: " + file + "}}", home, "", ""},
		"of a second part":   {"public: 1\nclouds: {a: {}, lab: {key: x, cacert: " + file + "}}", home, file, ""},
		"a number":           {"clouds: {lab: {cacert: 1}}", home, "", "c.yaml: clouds.lab.cacert (line 1): must be a string"},
		"no YAML":            {"clouds: {", home, "", "c.yaml: is not YAML at or near line 1"},
		"a file that is not": {"clouds: {lab: {cacert: ~/none}}", home, "", "c.yaml: cacert of cloud lab: open " + home + "/none: no such file or directory; give the certificates with --ca-cert-file"},
		"a directory":        {"clouds: {lab: {cacert: ~/}}", home, "", "c.yaml: cacert of cloud lab: " + home + " is not a regular file; name a file"},
	} {
		t.Setenv("HOME", test.home)
		got, ca, err := CloudAuthorities("c.yaml", "lab", []byte(test.text))
		if got != test.file || (ca != "") != (test.file != "") || (err == nil) != (test.want == "") || !strings.HasPrefix(said(err), test.want) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, test.file, test.want)
		}
	}
}

// Whatever keeps a file from being made is the answer, and the directory stays as it was.
func TestAFileThatCannotBeMadeSaysWhy(t *testing.T) {
	dir := t.TempDir()
	plain := put(t, dir, "plain", "old")
	for name, want := range map[string]string{
		dir + "/none/f": "open " + dir + "/none/.f.", plain + "/f": "lstat " + plain + "/f: not a directory", dir: dir + " exists already and is not a regular file; name another file",
	} {
		if err := WritePrivate(name, nil); !strings.HasPrefix(said(err), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	onlyIn(t, dir, "plain")
	for name, spoil := range map[string]struct {
		replace bool
		do      func(f *NewFile, dir string) error
		want    string
		left    []string
	}{
		"the file is closed":       {false, func(f *NewFile, _ string) error { return f.temporary.Close() }, "write ", nil},
		"a directory has its name": {true, func(f *NewFile, _ string) error { return os.Mkdir(f.Name(), 0o700) }, "exists already and is not a regular file", []string{"f"}},
		"a file has its name":      {false, func(f *NewFile, dir string) error { put(t, dir, "f", "another's"); return nil }, "link ", []string{"f"}},
		"its content is gone":      {true, func(f *NewFile, _ string) error { return os.Remove(f.temporary.Name()) }, "rename ", nil},
	} {
		dir := t.TempDir()
		f, err := CreateFile(filepath.Join(dir, "f"), spoil.replace)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil.do(f, dir); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit([]byte("new")); !strings.Contains(said(err), spoil.want) {
			t.Errorf("%s: %v, want %q", name, err, spoil.want)
		}
		if err := f.Discard(); err != nil {
			t.Errorf("%s: once more: %v", name, err)
		}
		onlyIn(t, dir, spoil.left...)
	}
	f, err := CreateFile(filepath.Join(dir, "f"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.temporary.Close(), os.Remove(f.temporary.Name())); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a file that is closed already is discarded: %v", err)
	}
	if err := (*NewFile)(nil).Discard(); err != nil {
		t.Errorf("no file is discarded: %v", err)
	}
}

// A list of placements has the keys of the REST API, and no others.
func TestPlacementsHaveTheKeysOfTheAPI(t *testing.T) {
	const text = `- {vnfd: v, instance: i, parameters: {a: b}, vim: edge, role: r, namespaces: [n], clusterWide: true, ttl: 1h, grade: g, profile: p,
   zone: z, flavours: {f: 1x}, images: {i: 1y}, links: {l: 1z}, managedLinks: {m: 1m}}
- {vim: core, rules: [{apiGroups: [""], resources: [pods], resourceNames: [a], verbs: [get]}]}
`
	want := []v1.Placement{
		{
			VNFD: "v", Instance: "i", Parameters: map[string]string{"a": "b"}, VIM: "edge", Role: "r", Namespaces: []string{"n"}, ClusterWide: true,
			TTL: "1h", Grade: "g", Profile: "p", Zone: "z", Flavours: map[string]string{"f": "1x"}, Images: map[string]string{"i": "1y"},
			Links: map[string]string{"l": "1z"}, ManagedLinks: map[string]string{"m": "1m"},
		},
		{VIM: "core", Rules: []v1.Rule{{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{"a"}, Verbs: []string{"get"}}}},
	}
	got, err := Placements("p.yaml", []byte(text))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := Placements("p.yaml", []byte("[]")); err != nil || got == nil || len(got) > 0 {
		t.Errorf("an empty list: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                     "p.yaml: is empty",
		"vim: edge":            "p.yaml: (line 1): must be a list",
		"- {vim: 1}":           "p.yaml: 0.vim (line 1): must be a string",
		"- {wim: edge}":        "p.yaml: 0.wim (line 1): unknown key",
		"- {flavours: {a: 1}}": "p.yaml: 0.flavours.a (line 1): must be a string",
	} {
		if got, err := Placements("p.yaml", []byte(text)); !strings.HasPrefix(strings.ReplaceAll(said(err), "[0]", "0"), want) {
			t.Errorf("%q: %v, %v; want %q", text, got, err, want)
		}
	}
}

// pair makes a certificate, its key and its authority.
func pair(t *testing.T) (cert, key, ca string) {
	t.Helper()
	authority, err := pki.NewCA("test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := authority.Server("localhost")
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Cert), string(p.Key), string(authority.PEM)
}

// faults are what a document has against it.
func faults(d *strictyaml.Document) (all []string) {
	for _, f := range d.Faults {
		all = append(all, f.At+": "+f.Text)
	}
	return all
}

// A certificate and its key fit, and nobody else reads the key.
func TestAClientsCertificateAndKeyFit(t *testing.T) {
	dir := t.TempDir()
	certPEM, keyPEM, caPEM := pair(t)
	cert, key, ca := put(t, dir, "cert", certPEM), put(t, dir, "key", keyPEM), put(t, dir, "ca", caPEM)
	open := put(t, dir, "open", keyPEM)
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		cert, key string
		want      []string
	}{
		"both":        {cert, key, nil},
		"no key":      {cert, "", nil},
		"no cert":     {"", key, nil},
		"a key open":  {cert, open, []string{"at.keyFile: " + open + " can be read or changed by others; run: chmod g-wx,o-rwx " + open}},
		"not its key": {ca, key, []string{"at.certFile: tls: private key does not match public key"}},
		"not there":   {dir + "/none", key, []string{"at.certFile: open " + dir + "/none: no such file or directory"}},
	} {
		d := &strictyaml.Document{Name: "f"}
		KeyPair(d, "at", test.cert, test.key)
		if diff := cmp.Diff(test.want, faults(d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A login's file is private, and holds something.
func TestAFileOfALoginIsPrivateAndNotEmpty(t *testing.T) {
	dir := t.TempDir()
	full, empty := put(t, dir, "full", " word\n"), put(t, dir, "empty", " \n")
	for name, test := range map[string]struct {
		file string
		mode os.FileMode
		text string
		want []string
	}{
		"a word":         {full, 0o600, "word", nil},
		"the group's":    {full, 0o640, "word", nil},
		"a group's hand": {full, 0o620, "word", []string{"key: " + full + " can be read or changed by others; run: chmod g-wx,o-rwx " + full}},
		"the world's":    {full, 0o604, "word", []string{"key: " + full + " can be read or changed by others; run: chmod g-wx,o-rwx " + full}},
		"nothing":        {empty, 0o600, "", []string{"key: " + empty + " is empty"}},
		"no name":        {"", 0, "", []string{"key: must name a file"}},
		"no such file":   {dir + "/none", 0, "", []string{"key: open " + dir + "/none: no such file or directory"}},
		"no plain file ": {dir, 0o700, "", []string{"key: " + dir + " is not a regular file; name a file"}},
	} {
		if test.mode != 0 {
			if err := os.Chmod(test.file, test.mode); err != nil {
				t.Fatal(err)
			}
		}
		d := &strictyaml.Document{Name: "f"}
		if got := LoginFile(d, "key", test.file); got != test.text {
			t.Errorf("%s: %q, want %q", name, got, test.text)
		}
		if diff := cmp.Diff(test.want, faults(d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A time is one of RFC 3339, and an error shows how it looks.
func TestAMomentIsOneOfRFC3339(t *testing.T) {
	for text, want := range map[string]string{"2026-11-20T12:00:00Z": "", "soon": "f: at (line 3): must be a time like LIKE"} {
		d := &strictyaml.Document{Name: "f"}
		var got time.Time
		Moment(d, &got, "LIKE")(&yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: 3}, "at")
		if said(d.Err()) != want || (want == "") != got.Equal(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v, %v; want %q", text, got, d.Err(), want)
		}
	}
}

// An entry of the table of trust is read with the files that it names.
func TestAnEntryOfTrustIsReadWithItsFiles(t *testing.T) {
	dir := t.TempDir()
	_, keyPEM, caPEM := pair(t)
	ca, keys, open := put(t, dir, "ca", "# ours\n"+caPEM), put(t, dir, "keys", `{"keys":[]}`), put(t, dir, "open", "{}")
	key, openCA := put(t, dir, "key", keyPEM), put(t, dir, "open-ca", caPEM)
	for _, name := range []string{open, openCA} {
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := trust.Authority{
		Name: "corp", Issuer: "https://id", Audience: "broker", Algorithms: []string{"ES256"}, CA: caPEM, Keys: `{"keys":[]}`, Type: "at+jwt",
		MaxLife: time.Hour, Once: true, Hold: time.Minute, Login: &trust.Signin{ClientID: "cli", Scopes: []string{"openid"}},
		Principals: []trust.Mapping{{Match: map[string]string{"sub": "alice"}, Name: "n", Project: "acme", Roles: []string{"member"}}},
	}
	got, err := Trust("t.yaml", []byte(`name: corp
issuer: https://id
audience: broker
algorithms: [ES256]
caFile: `+ca+`
keysFile: `+keys+`
type: at+jwt
maxLife: 1h
once: true
hold: 1m
login: {clientID: cli, scopes: [openid]}
principals: [{match: {sub: alice}, name: n, project: acme, roles: [member]}]
`))
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(trust.Authority{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	got, err = Trust("t.yaml", []byte("name: mesh\ncertificates: {caFile: "+ca+", crlFile: "+keys+"}"))
	if err != nil || got.CA != "" || got.Certificates == nil || got.Certificates.CA != "# ours\n"+caPEM || got.Certificates.CRL != `{"keys":[]}` {
		t.Errorf("certificates: %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                                    "t.yaml: is empty",
		"nonsense: 1":                         "t.yaml: nonsense (line 1): unknown key",
		"name: a\ncertificates: {}":           "t.yaml: certificates.caFile: must name the file of the authorities",
		"name: a\nkeysFile: " + dir + "/no":   "t.yaml: keysFile: open " + dir + "/no: no such file or directory",
		"name: a\nkeysFile: " + open:          "t.yaml: keysFile: " + open + " can be changed by others; run: chmod go-w " + open,
		"name: a\ncaFile: " + openCA:          "t.yaml: caFile: " + openCA + " can be changed by others; run: chmod go-w " + openCA,
		"name: a\ncaFile: " + key:             "t.yaml: caFile: " + key + " must hold certificates in PEM",
		"name: a\ncaFile: " + dir + "/no":     "t.yaml: caFile: open " + dir + "/no: no such file or directory",
		"name: a\ncertificates: {caFile: no}": "t.yaml: certificates.caFile: open no: no such file or directory",
		"name: a\ncertificates: {caFile: " + ca + ", crlFile: no}": "t.yaml: certificates.crlFile: open no: no such file or directory",
	} {
		if _, err := Trust("t.yaml", []byte(text)); !strings.HasPrefix(said(err), want) {
			t.Errorf("%q: %v\nwant %q", text, err, want)
		}
	}
}

// A directory of policies holds a thousand names.
func TestADirectoryOfPoliciesHoldsAThousandNames(t *testing.T) {
	dir := t.TempDir()
	for i := range maxPolicies - 1 {
		put(t, dir, "."+string(rune('a'+i%26))+strings.Repeat("x", i/26), "")
	}
	put(t, dir, "site.cedar", "// none")
	texts, err := Policies(dir)
	if err != nil || len(texts) != 1 || !bytes.Equal(texts["site.cedar"], []byte("// none")) {
		t.Errorf("%q, %v", texts, err)
	}
	few := t.TempDir()
	a, b := put(t, few, "b.txt", ""), put(t, few, "a.txt", "")
	const rename = ": its name does not end in .cedar; rename it, or move it to another directory"
	if _, err := Policies(few); said(err) != "reading policies: "+b+rename+"\n"+a+rename {
		t.Error(err)
	}
	put(t, dir, ".one-more", "")
	if _, err := Policies(dir); said(err) != "reading policies: "+dir+" holds more than 1000 names" {
		t.Error(err)
	}
	if _, err := Policies(dir + "/none"); said(err) != "reading policies: open "+dir+"/none: no such file or directory" {
		t.Error(err)
	}
}
