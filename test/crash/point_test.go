package crash_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/test/field"
)

// deaths says in which flows the server is killed at which failpoint. Every
// failpoint of the source is here, or in cloudDeaths, onboardDeaths, heatDeaths, linkDeaths, swept or execDeaths.
var deaths = map[string][]scenario{
	"register.intent":    {registering},
	"register.checked":   {registering},
	"register.done":      {registering},
	"register.undo-keys": {registeringInVain},

	"seal.key-stored":   {registering, rotating, updatingUnderLease},
	"keydir.put.temp":   {registering, updatingUnderLease},
	"keydir.put.linked": {registering, updatingUnderLease},

	"update.intent":    {rotating, updatingUnderLease},
	"update.checked":   {rotating, updatingUnderLease},
	"update.switched":  {rotating, updatingUnderLease},
	"update.undo-keys": {updatingInVain, settlingAWrite, settlingARekey},

	"rekey.intent":   {rekeying},
	"rekey.sealed":   {rekeying},
	"rekey.switched": {rekeying},

	"keydir.delete.unlinked": {rotating, rekeying, draining, settlingAWrite, settlingARekey, settlingARegistration, settlingAKey},
	"keys.destroyed":         {rotating, rekeying, draining, revokingTheLast, settlingAKey},

	"issue.intent":       {issuing, issuingStanding, looking, succeeding},
	"k8s.home.namespace": {issuing, issuingRules},
	"k8s.home.bound":     {issuing, issuingRules, issuingUnbound},
	"k8s.bound.again":    {mintingUnbound},
	"k8s.issue.account":  {issuing, issuingRules, issuingInVain},
	"k8s.issue.token":    {issuing, issuingRules, issuingStanding},
	"issue.minted":       {issuing, issuingStanding, looking, succeeding},
	"issue.active":       {issuing, issuingStanding, succeeding},
	"drift.leased":       {looking},
	"issue.aborting":     {issuingInVain, succeeding},

	"renew.intent": {renewing},
	"renew.minted": {renewing, renewingInVain},
	"renew.done":   {renewing},

	"mint.minted": {minting, succeeding},
	"mint.done":   {minting},

	"revoke.intent":       {revoking, draining, settlingALease},
	"k8s.revoke.deleted":  {revoking, draining, issuingInVain, settlingALease},
	"revoke.gone":         {revoking, draining, issuingInVain, settlingALease},
	"revoke.secret-ended": {endingASecret},
	"revoke.done":         {revoking, draining, issuingInVain, settlingALease},

	"k8s.tidy.unbound": {draining, drainingRules, goingOnDraining, tidying},

	"tidy.closed":    {tidying},
	"tidy.removed":   {tidying},
	"tidy.forgotten": {tidying},

	"subscription.intent":     {subscribing},
	"subscription.key-stored": {subscribing},
	"subscription.made":       {subscribing},
	"subscription.dropped":    {settlingASubscription},
	"subscription.deleted":    {unsubscribing},
	"notify.sent":             {notifying},
	"notify.recorded":         {notifying},

	"client.deleting":      {deletingAClient},
	"client.rotated":       {rotatingALeakedSecret},
	"client.leases-ending": {deletingAClient, rotatingALeakedSecret},

	"grant.intent":  {granting},
	"grant.leased":  {granting},
	"grant.granted": {granting},
	"grant.ended":   {endingAGrant},

	"token.key-intent":   {rotatingTokenKey},
	"token.key-stored":   {rotatingTokenKey},
	"token.key-switched": {rotatingTokenKey},
	"token.key-dropped":  {settlingATokenKey},
	"token.key-revoked":  {revokingTokenKey},

	"audit.signed":            {signing},
	"audit.checkpoint-stored": {signing},
	"audit.key-intent":        {rotatingAuditKey},
	"audit.key-stored":        {rotatingAuditKey},
	"audit.key-switched":      {rotatingAuditKey},
	"audit.key-dropped":       {settlingAnAuditKey},

	"prune.removed": {pruning},

	"link.intent":   {linking, makingAVolume},
	"link.made":     {linking, makingAVolume},
	"link.unused":   {unlinking},
	"link.removing": {unlinking, removingAVolume},
	"link.removed":  {unlinking, removingAVolume},

	"package.intent":     {uploading, uploadingInVain},
	"package.chunk":      {uploading, uploadingInVain},
	"package.received":   {uploading, uploadingInVain},
	"package.processing": {uploading, uploadingInVain},
	"package.undone":     {uploadingInVain},
	"package.onboarded":  {uploading},

	"bundle.package-made":      {uploadingAChart},
	"bundle.region-registered": {recordingARegion},

	"delete.draining":  {draining},
	"delete.revoked":   {draining, goingOnDraining},
	"delete.forgotten": {draining, goingOnDraining},
	"delete.deleted":   {draining, goingOnDraining},
}

// cloudDeaths say the same of a server whose VIM is a cloud: the failpoints of its
// driver, and those of others between which what it does lies.
var cloudDeaths = map[string][]scenario{
	"openstack.check.probed":   {registering, rotating},
	"openstack.issue.minted":   {issuing, renewing, renewingInVain},
	"openstack.revoke.deleted": {revoking, draining, settlingALease},
	"openstack.revoke.token":   {revokingAToken},

	"issue.intent":   {issuing},
	"issue.minted":   {issuing},
	"issue.active":   {issuing},
	"renew.minted":   {renewing, renewingInVain},
	"revoke.gone":    {revokingAToken, draining},
	"rekey.switched": {rekeying},
}

// userDeaths say the same where the leases on a cloud are users.
var userDeaths = map[string][]scenario{
	"openstack.user.created": {issuing},
	"openstack.user.granted": {issuing},
	"openstack.user.renewed": {renewingInVain},
	"openstack.user.deleted": {revoking, draining, settlingALease},

	"issue.intent": {issuing},
	"issue.minted": {issuing},
}

// swept are failpoints that every write passes: TestKilledAtEveryCommit has them.
var swept = []string{"store.before-commit", "store.after-commit"}

// execDeaths are failpoints of "vimbroker exec": TestExecKilled has them.
var execDeaths = []string{"files.written", "files.closing"}

// elsewhere are failpoints that no server of the kit passes, with the package whose own tests kill a process there.
var elsewhere = map[string]string{
	"deliver.after-send":     "broker",
	"deliver.after-cursor":   "broker",
	"barbican.put.made":      "drivers/barbican",
	"barbican.put.closed":    "drivers/barbican",
	"barbican.put.filled":    "drivers/barbican",
	"vault.put.written":      "drivers/vault",
	"vault.delete.metadata":  "drivers/vault",
	"vault.delete.destroyed": "drivers/vault",
	"audit.anchored":         "broker",
	"push.shelved":           "broker",
	"push.kept":              "broker",

	// An operation on a CNF needs a cluster with controllers.
	"operation.queued":       "test/real",
	"operation.begun":        "test/real",
	"operation.planned":      "test/real",
	"operation.leased":       "test/real",
	"operation.processing":   "test/real",
	"operation.wave":         "test/real",
	"operation.stage":        "test/real",
	"operation.leases-ended": "test/real",
	"operation.settled":      "test/real",
	"bundle.instance-noted":  "test/real",
	"bundle.instance-made":   "test/real",
	"bundle.instance-begun":  "test/real",
	"bundle.operation-over":  "test/real",
	"bundle.upgrade-noted":   "test/real",
	"bundle.left":            "test/real",
	"inline.brought":         "test/real",
	"inline.rotated":         "test/real",
	"inline.unneeded":        "test/real",
}

func TestEveryFailpointHasAScenario(t *testing.T) {
	known := slices.Concat([]string{afterCall}, slices.Collect(maps.Keys(deaths)), slices.Collect(maps.Keys(cloudDeaths)), slices.Collect(maps.Keys(userDeaths)), slices.Collect(maps.Keys(onboardDeaths)), slices.Collect(maps.Keys(heatDeaths)), slices.Collect(maps.Keys(elsewhere)), swept, execDeaths)
	for _, death := range slices.Concat(portDeaths, seldomPortDeaths) {
		point, _, _ := strings.Cut(death.point, "#")
		known = append(known, point)
	}
	found := failpoints(t)
	for point, pkg := range elsewhere {
		if found[point] != "" && !testedIn(t, filepath.Join("../..", pkg), point) {
			t.Errorf("no test of %s names failpoint %s", pkg, point)
		}
	}
	for point, at := range found {
		if !slices.Contains(known, point) {
			t.Errorf("failpoint %s (%s) has no scenario: the crash kit must kill a server there", point, at)
		}
	}
	for _, point := range known {
		if found[point] == "" {
			t.Errorf("the crash kit has a scenario for %s, and the source has no such failpoint", point)
		}
	}
}

func TestKilledAtEveryFailpoint(t *testing.T) { beforeACluster.first(t) }

func TestKilledBeforeACloud(t *testing.T) { beforeACloud.first(t) }

func TestKilledBeforeACloudOfUsers(t *testing.T) { beforeACloudOfUsers.first(t) }

// TestFieldKilledInEveryFlow kills a server at failpoints in all flows that pass them.
func TestFieldKilledInEveryFlow(t *testing.T) {
	field.Only(t)
	for _, of := range []tableOfDeaths{beforeACluster, beforeACloud, beforeACloudOfUsers, beforeAFleet, withALink, withAStack} {
		of.play(t, func(point string, all []scenario) []scenario { return all[len(of.early(point, all)):] })
	}
}

// tableOfDeaths are scenarios by failpoints, each with a system of its own.
type tableOfDeaths struct {
	of     map[string][]scenario
	before func(*testing.T) upstream
	// elsewhere has the points at which a flow of another table dies in make test: those of this one are left to the field.
	elsewhere map[string][]scenario
}

var (
	beforeACluster      = tableOfDeaths{deaths, func(t *testing.T) upstream { return fakeCluster(t) }, nil}
	beforeACloud        = tableOfDeaths{cloudDeaths, func(t *testing.T) upstream { return fakeCloud(t) }, nil}
	beforeACloudOfUsers = tableOfDeaths{userDeaths, func(t *testing.T) upstream { return fakeCloudOfUsers(t) }, nil}
	beforeAFleet        = tableOfDeaths{onboardDeaths, func(t *testing.T) upstream { return fakeFleet(t) }, deaths}
	withALink           = tableOfDeaths{linkDeaths, func(t *testing.T) upstream { return fakeNetworks(t, fakeCloud(t)) }, deaths}
	withAStack          = tableOfDeaths{heatDeaths, func(t *testing.T) upstream { return fakeStacks(t) }, nil}
)

// early are the scenarios of a failpoint that "make test-real" plays: the first.
func (d tableOfDeaths) early(point string, all []scenario) []scenario {
	if d.elsewhere[point] != nil {
		return nil
	}
	return all[:1]
}

// first plays the first scenario of each failpoint. TestFieldKilledInEveryFlow plays the others.
func (d tableOfDeaths) first(t *testing.T) {
	t.Helper()
	d.play(t, d.early)
}

func (d tableOfDeaths) play(t *testing.T, which func(string, []scenario) []scenario) {
	t.Helper()
	for point, scenarios := range d.of {
		for _, sc := range which(point, scenarios) {
			t.Run(point+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				sc.killedAt(t, d.before(t), point)
			})
		}
	}
}

// TestKilledAtEveryCommit has the flows of a lease's life. A store whose statements and commits fail one by one, in
// every flow, is what the sweeps of broker and lifecycle meet: see test/faults.
func TestKilledAtEveryCommit(t *testing.T) { diesAtCommits(t, flows[:often]) }

// TestFieldKilledAtEveryCommit has the other flows.
func TestFieldKilledAtEveryCommit(t *testing.T) {
	field.Only(t)
	diesAtCommits(t, flows[often:])
}

func diesAtCommits(t *testing.T, flows []scenario) {
	t.Helper()
	for _, point := range swept {
		for _, sc := range flows {
			t.Run(point+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				sc.sweep(t, point)
			})
		}
	}
}

// sweep kills a server at each commit of the flow, every time with a story of its own. A start commits some thirty times:
// there one story has all deaths, each server being killed one commit later than the one before it.
func (sc scenario) sweep(t *testing.T, point string) {
	t.Helper()
	begin := func(n int) *scene { return sc.begin(t, fakeCluster(t), fmt.Sprintf("%s#%d", point, n)) }
	n, s := 1, begin(1)
	for ; sc.killed(s); n++ {
		if sc.starts {
			s.server = launch(t, s.dir, fmt.Sprintf("%s#%d", point, n+1))
			s.servers = append(s.servers, s.server)
			continue
		}
		if sc.conclude(s); t.Failed() {
			t.Fatalf("the server was killed at commit %d", n)
		}
		s = begin(n + 1)
	}
	if n == 1 {
		t.Fatalf("the flow passes %s not even once", point)
	}
	if s.stop(); sc.starts {
		sc.conclude(s)
	}
}

// killedAt plays the whole scenario, with the server killed at a failpoint.
func (sc scenario) killedAt(t *testing.T, up upstream, point string) {
	t.Helper()
	s := sc.begin(t, up, point)
	if !sc.killed(s) {
		t.Fatalf("the flow has ended, and did not come to %s", point)
	}
	sc.conclude(s)
}

// begin prepares, and arms the failpoint.
func (sc scenario) begin(t *testing.T, up upstream, point string) *scene {
	t.Helper()
	s := newScene(t, up)
	sc.prepare(s)
	if sc.starts {
		s.server = launch(t, s.dir, point)
		s.servers = append(s.servers, s.server)
		return s
	}
	s.remember()
	s.arm(point)
	return s
}

// killed plays the flow, and reports whether it ended in SIGKILL; otherwise the
// server lives on, disarmed.
func (sc scenario) killed(s *scene) bool {
	s.t.Helper()
	if sc.starts {
		if s.awaitSettled() != nil {
			s.wantKilled()
			return true
		}
	}
	if sc.act != nil && cutOff(sc.act(s)) {
		s.wantKilled()
		return true
	}
	s.arm("")
	if err := s.Ready(s.ctx()); cutOff(err) { // behind the answer, or in a pass meanwhile
		s.wantKilled()
		return true
	}
	return false
}

// conclude starts the next server and proves.
func (sc scenario) conclude(s *scene) {
	s.t.Helper()
	s.restart()
	s.proveSettled()
	sc.after(s)
	s.prove()
}

// testedIn reports whether a test of the package in dir has a string of that value.
func testedIn(t *testing.T, dir, point string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), strconv.Quote(point)) {
			return true
		}
	}
	return false
}

// failpoints reads every name that the source passes to failpoint.At, and where.
func failpoints(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if path != "../.." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		} else if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "At" && len(call.Args) == 1 {
				if pkg, ok := f.X.(*ast.Ident); ok && pkg.Name == "failpoint" {
					at := files.Position(call.Pos()).String()
					name, ok := call.Args[0].(*ast.BasicLit)
					if !ok {
						t.Errorf("%s: the name of a failpoint must be a literal, so that the crash kit finds it", at)
						return true
					}
					point, err := strconv.Unquote(name.Value)
					if err != nil {
						t.Fatal(err)
					}
					found[point] = at
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
