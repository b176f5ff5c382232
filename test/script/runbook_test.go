package script

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
	"github.com/vimbroker/vimbroker/test/story"
)

const runbook = "../../docs/runbook.md"

// elsewhere are the sections that need PostgreSQL or Vault: test/real follows them.
var elsewhere = []string{
	"Back up PostgreSQL and Vault", "Restore PostgreSQL", "Revoke a server's access to Vault",
	"New password for the database", "Upgrade replicas", "From one machine to PostgreSQL and Vault",
}

// situations are how things stand before a section is followed, and what must be
// true after it; none means that the VIM edge1 is registered, and has a lease.
var situations = map[string]struct {
	before, after func(t *testing.T, r *reader)
}{
	"Look":                               {},
	"Change the configuration":           {after: stillWorks},
	"Back up SQLite and a key directory": {after: stillWorks},
	"Restore SQLite and a key directory": {before: afterBackup, after: restored},
	"After restoring an old database":    {before: oldDatabase, after: stillWorks},
	"Lost key store":                     {before: lostKeys, after: nothingAlive},
	"Revoke everything":                  {after: nothingAlive},
	"A VIM that is gone for good":        {before: gone, after: givenUp},
	"Compromised server":                 {after: nothingAlive},
	"New token for a caller":             {after: newToken},
	"Leaked secret of a client":          {before: withClient, after: stillWorks},
	"Rotate keys":                        {after: rotated},
	"Upgrade one server":                 {after: stillWorks},
}

// reader follows the runbook on a machine with one fake cluster.
type reader struct {
	*story.Site
	kube     *fakekube.Server
	sections []story.Section
	keys     []string // the files of keys, before
}

func TestRunbook(t *testing.T) {
	sections, err := story.Runbook(runbook)
	if err != nil {
		t.Fatal(err)
	}
	bin := story.BuildWithFailpoints(t, t.TempDir())
	followed := 0
	for _, section := range sections {
		if len(section.Steps) == 0 || slices.Contains(elsewhere, section.Title) {
			continue
		}
		situation, known := situations[section.Title]
		if !known {
			t.Errorf("nobody follows the section %q: give it a situation here, or in test/real", section.Title)
			continue
		}
		followed++
		t.Run(section.Title, func(t *testing.T) {
			t.Parallel()
			r := &reader{Site: story.NewSite(t, bin, ""), kube: fakekube.New(t, fakekube.Options{}), sections: sections}
			r.Write(t, "root/kubeconfig", r.kube.Kubeconfig())
			r.Write(t, "root/edge1.token", r.kube.AdminToken+"\n")
			r.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge1")
			r.Must(t, "vimbroker lease issue --vim edge1 > lease")
			r.keys = r.keyFiles(t)
			if situation.before != nil {
				situation.before(t, r)
			}
			r.Follow(t, section.Steps)
			if situation.after != nil {
				situation.after(t, r)
			}
			if r.Broker != nil {
				if err := r.Broker.Stop(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if followed != len(situations) {
		t.Errorf("%d sections were followed, and there are situations for %d", followed, len(situations))
	}
}

// follow does the steps of another section.
func (r *reader) follow(t *testing.T, title string) {
	t.Helper()
	for _, s := range r.sections {
		if s.Title == title {
			r.Follow(t, s.Steps)
			return
		}
	}
	t.Fatalf("the runbook has no section %q", title)
}

// withClient: a client has logged in before.
func withClient(t *testing.T, r *reader) {
	r.Must(t, "vimbroker client create tacker-north > before.secret")
	r.Must(t, "vimbroker client key rotate")
}

func stillWorks(t *testing.T, r *reader) {
	t.Helper()
	r.Must(t, "vimbroker key status --try")
	r.Must(t, "vimbroker lease issue --vim edge1")
	r.Must(t, "vimbroker vim inventory edge1")
}

func nothingAlive(t *testing.T, r *reader) {
	t.Helper()
	if left := r.kube.Names("secrets", "vimbroker"); len(left) > 0 {
		t.Errorf("the cluster still holds %q", left)
	}
	r.Must(t, "vimbroker key status --try")
}

// afterBackup is a machine whose backup is older than a second VIM.
func afterBackup(t *testing.T, r *reader) {
	t.Helper()
	r.follow(t, "Back up SQLite and a key directory")
	r.Must(t, "vimbroker vim register --kubeconfig kubeconfig edge2")
}

func restored(t *testing.T, r *reader) {
	t.Helper()
	stillWorks(t, r)
	if list := r.Must(t, "vimbroker vim list"); !strings.Contains(list, "edge1") || strings.Contains(list, "edge2") {
		t.Errorf("after the restore there is\n%s\nwant edge1 alone", list)
	}
}

// oldDatabase is a machine with a database of before its keys were replaced, a
// lease was revoked, and another issued.
func oldDatabase(t *testing.T, r *reader) {
	t.Helper()
	r.follow(t, "Back up SQLite and a key directory")
	r.Must(t, "vimbroker key rotate --all")
	r.Must(t, "vimbroker lease revoke --all --operations --wait")
	r.Must(t, "vimbroker lease issue --vim edge1")
	r.Follow(t, []story.Step{
		{Command: "systemctl stop vimbroker"},
		{Command: "rm /var/lib/vimbroker/vimbroker.db"},
		{Command: "tar -C /var/lib/vimbroker -xpzf /var/backups/state/vimbroker.tar.gz"},
		{Command: "systemctl start vimbroker"},
	})
}

func lostKeys(t *testing.T, r *reader) {
	t.Helper()
	r.Follow(t, []story.Step{{Command: "rm -r /var/lib/vimbroker/keys"}, {Command: "mkdir -m 0700 /var/lib/vimbroker/keys"}})
}

// gone is a cluster that takes connections and breaks them.
func gone(_ *testing.T, r *reader) { r.kube.Fail(fake.Fault{Kind: fake.Drop, Times: -1}) }

func givenUp(t *testing.T, r *reader) {
	t.Helper()
	if list := r.Must(t, "vimbroker vim list"); strings.Contains(list, "edge1") {
		t.Errorf("the VIM that was given up is there:\n%s", list)
	}
	if list := r.Must(t, "vimbroker lease list --state irrevocable"); !strings.Contains(list, "edge1") {
		t.Errorf("the lease on it is not listed as irrevocable:\n%s", list)
	}
}

func newToken(t *testing.T, r *reader) {
	t.Helper()
	if got := r.Try(t, "vimbroker vim list"); got.Code == 0 {
		t.Error("the old token still works")
	}
	r.Must(t, "VIMBROKER_TOKEN_FILE=admin.token vimbroker vim list")
}

func rotated(t *testing.T, r *reader) {
	t.Helper()
	stillWorks(t, r)
	// The key that signs the audit log is another owner's, is made at some time after the start, and is replaced too.
	vim := strings.TrimSpace(r.Must(t, "vimbroker vim show edge1 -o jsonpath='{.id}'"))
	ofVIM := func(keys []string) []string {
		return slices.DeleteFunc(slices.Clone(keys), func(file string) bool { return !strings.HasPrefix(filepath.Base(file), vim+".") })
	}
	before, now := ofVIM(r.keys), ofVIM(r.keyFiles(t))
	if len(before) != 1 || len(now) != 1 || before[0] == now[0] {
		t.Errorf("the keys of the VIM are %q, want that of before replaced: %q", now, before)
	}
}

// keyFiles are the keys in the key directory.
func (r *reader) keyFiles(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(r.File("var/lib/vimbroker/keys/*/*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("the key directory holds %q, %v", found, err)
	}
	return found
}
